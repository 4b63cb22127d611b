// Tests of Softshrink and of its gradient: no Python.

#include <algorithm>
#include <cfenv>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "tensorflow/core/framework/allocator.h"
#include "tensorflow/core/framework/device.h"
#include "tensorflow/core/framework/device_base.h"
#include "tensorflow/core/framework/device_factory.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/framework/node_def_builder.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/public/session.h"
#include "tensorflow/core/public/version.h"
#include "tsl/platform/denormal.h"
#include "tsl/platform/setround.h"

namespace op_by_op {
namespace {

using tensorflow::NodeDef;
using tensorflow::NodeDefBuilder;
using tensorflow::OpKernel;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

// [run] Makes the kernel of a node.
tensorflow::Device* Cpu() {
  static const std::unique_ptr<tensorflow::Device> device =
      tensorflow::DeviceFactory::NewDevice("CPU", {},
                                           "/job:localhost/replica:0/task:0");
  return device.get();
}

absl::StatusOr<std::unique_ptr<OpKernel>> MakeKernel(const NodeDef& node) {
  absl::Status status;
  std::unique_ptr<OpKernel> kernel = tensorflow::CreateOpKernel(
      tensorflow::DEVICE_CPU, Cpu(), Cpu()->GetAllocator({}), node,
      TF_GRAPH_DEF_VERSION, &status);
  TF_RETURN_IF_ERROR(status);
  return kernel;
}

// [once] Runs it once, with subnormal numbers and rounding as in TensorFlow.
absl::StatusOr<Tensor> RunKernel(OpKernel* kernel, std::vector<Tensor> inputs,
                                 tensorflow::DeviceBase* device = Cpu()) {
  std::vector<tensorflow::TensorValue> values;
  values.reserve(inputs.size());
  for (Tensor& input : inputs) values.emplace_back(&input);
  std::vector<tensorflow::AllocatorAttributes> attributes(
      kernel->num_outputs());
  OpKernelContext::Params params;
  params.device = device;
  params.op_kernel = kernel;
  params.inputs = values;
  params.output_attr_array = attributes.data();
  OpKernelContext context(&params);
  const tsl::port::ScopedFlushDenormal flush;
  const tsl::port::ScopedSetRound round(FE_TONEAREST);
  kernel->Compute(&context);
  TF_RETURN_IF_ERROR(context.status());
  return *context.mutable_output(0);
}

absl::StatusOr<Tensor> Compute(const NodeDef& node,
                               std::vector<Tensor> inputs) {
  absl::StatusOr<std::unique_ptr<OpKernel>> kernel = MakeKernel(node);
  TF_RETURN_IF_ERROR(kernel.status());
  return RunKernel(kernel->get(), std::move(inputs));
}

// [node] A node of the op, and a vector.
NodeDef Softshrink(float bound) {
  NodeDef node;
  TF_CHECK_OK(NodeDefBuilder("shrink", "OpByOp>Softshrink")
                  .Input("x", 0, tensorflow::DT_DOUBLE)
                  .Attr("bound", bound)
                  .Finalize(&node));
  return node;
}

Tensor Vector(const std::vector<double>& values) {
  Tensor tensor(tensorflow::DT_DOUBLE, {static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.flat<double>().data());
  return tensor;
}

std::vector<double> Values(const Tensor& tensor) {
  const auto flat = tensor.flat<double>();
  return {flat.data(), flat.data() + flat.size()};
}

// [values] Both sides of each bound.
TEST(Softshrink, MovesTowardsZero) {
  const auto y = Compute(Softshrink(0.5), {Vector({-2, -0.5, 0, 0.75, 3})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Values(*y), std::vector<double>({-1.5, 0, 0, 0.25, 2.5}));
}

// [memory] A CPU that asks `has_memory` whenever a kernel allocates.
class CpuWithMemory : public tensorflow::DeviceBase,
                      public tensorflow::AllocatorWrapper {
 public:
  explicit CpuWithMemory(std::function<bool()> has_memory)
      : DeviceBase(tensorflow::Env::Default()),
        AllocatorWrapper(tensorflow::cpu_allocator()),
        has_memory_(std::move(has_memory)) {}

  tensorflow::Allocator* GetAllocator(
      tensorflow::AllocatorAttributes /*attributes*/) override {
    return this;
  }
  void* AllocateRaw(size_t alignment, size_t size) override {
    return has_memory_() ? wrapped()->AllocateRaw(alignment, size) : nullptr;
  }
  void* AllocateRaw(
      size_t alignment, size_t size,
      const tensorflow::AllocationAttributes& /*attributes*/) override {
    return AllocateRaw(alignment, size);
  }
  const std::string& name() const override { return Cpu()->name(); }
  const CpuWorkerThreads* tensorflow_cpu_worker_threads() const override {
    return Cpu()->tensorflow_cpu_worker_threads();
  }

 private:
  const std::function<bool()> has_memory_;
};

// [no_memory] The kernel returns the allocator's error.
TEST(Softshrink, ReportsThatThereIsNoMemory) {
  CpuWithMemory device([] { return false; });
  const auto kernel = MakeKernel(Softshrink(0.5));
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const auto y = RunKernel(kernel->get(), {Vector({1})}, &device);
  EXPECT_TRUE(absl::IsResourceExhausted(y.status())) << y.status();
}

// [two_threads] A call in another thread begins and ends while the first one
// waits for memory.
TEST(Softshrink, KeepsTwoCallsApart) {
  const auto kernel = MakeKernel(Softshrink(0.5));
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  absl::StatusOr<Tensor> second;
  CpuWithMemory device([&] {
    std::thread([&] {
      second = RunKernel(kernel->get(), {Vector({3, 4})});
    }).join();
    return true;
  });
  const auto first = RunKernel(kernel->get(), {Vector({1, 2})}, &device);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(Values(*first), std::vector<double>({0.5, 1.5}));
  EXPECT_EQ(Values(*second), std::vector<double>({2.5, 3.5}));
}

// [error] Of the constructor, which CreateOpKernel returns.
TEST(Softshrink, RefusesANegativeBound) {
  const absl::Status status = Compute(Softshrink(-1), {Vector({1})}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "bound must be 0 or more, got -1",
                      std::string(status.message()));
}

// [death] Python would not let this through.
TEST(Softshrink, DiesOfAnotherType) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_DEATH(Compute(Softshrink(0.5), {Tensor(1.0f)}).IgnoreError(),
               "double expected, got float");
}

// [gradient] Puts the function that was registered into a graph and runs it.
Tensor Gradient(const NodeDef& node, const Tensor& x, const Tensor& dy) {
  tensorflow::gradient::Creator creator;
  TF_CHECK_OK(tensorflow::gradient::GetOpGradientCreator(node.op(), &creator));
  tensorflow::GraphDef graph;
  tensorflow::FunctionDef* function = graph.mutable_library()->add_function();
  TF_CHECK_OK(creator(tensorflow::AttrSlice(node), function));

  for (const char* name : {"x", "dy"}) {
    TF_CHECK_OK(NodeDefBuilder(name, "Placeholder")
                    .Attr("dtype", x.dtype())
                    .Finalize(graph.add_node()));
  }
  NodeDef* call = graph.add_node();
  call->set_name("dx");
  call->set_op(function->signature().name());
  call->add_input("x");
  call->add_input("dy");
  *call->mutable_attr() = node.attr();

  const std::unique_ptr<tensorflow::Session> session(
      tensorflow::NewSession(tensorflow::SessionOptions()));
  TF_CHECK_OK(session->Create(graph));
  std::vector<Tensor> outputs;
  TF_CHECK_OK(session->Run({{"x", x}, {"dy", dy}}, {"dx"}, {}, &outputs));
  return outputs[0];
}

// [differences] Compares with the slope between two points on one line.
TEST(SoftshrinkGrad, EqualsDifferences) {
  const NodeDef node = Softshrink(0.5);
  const std::vector<double> x = {-2, -0.25, 0.125, 0.75, 3};
  const double step = 1.0 / 1024;
  std::vector<double> above = x, below = x;
  for (double& each : above) each += step;
  for (double& each : below) each -= step;
  const auto upper = Compute(node, {Vector(above)});
  const auto lower = Compute(node, {Vector(below)});
  ASSERT_TRUE(upper.ok() && lower.ok());

  const std::vector<double> dy = {1, 2, 3, 4, 5};
  const std::vector<double> dx = Values(Gradient(node, Vector(x), Vector(dy)));
  for (size_t i = 0; i < x.size(); ++i) {
    const double slope = (Values(*upper)[i] - Values(*lower)[i]) / (2 * step);
    EXPECT_EQ(dx[i], dy[i] * slope) << "at x = " << x[i];
  }
}

// [kinks] MulNoNan gives 0 where Mul would give NaN.
TEST(SoftshrinkGrad, IsZeroUpToTheBound) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Tensor dx = Gradient(Softshrink(0.5), Vector({-0.5, 0.25, 0.5}),
                             Vector({1, kInfinity, 1}));
  EXPECT_EQ(Values(dx), std::vector<double>({0, 0, 0}));
}

// [solution] Of the exercise: no numbers, and a bound of 0.
TEST(Softshrink, TakesAnEmptyVector) {
  const auto y = Compute(Softshrink(0.5), {Vector({})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Values(*y), std::vector<double>());
}

TEST(Softshrink, ChangesOnlySubnormalNumbersIfTheBoundIsZero) {
  const auto y = Compute(Softshrink(0), {Vector({-3, 2.3e-308, 2.2e-308})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(Values(*y), std::vector<double>({-3, 2.3e-308, 0}));
}

}  // namespace
}  // namespace op_by_op
