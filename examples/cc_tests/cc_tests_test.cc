// Tests of Softshrink and of its gradient: no Python.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "tensorflow/core/framework/device.h"
#include "tensorflow/core/framework/device_factory.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/framework/node_def_builder.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/public/session.h"
#include "tensorflow/core/public/version.h"

namespace op_by_op {
namespace {

using tensorflow::NodeDef;
using tensorflow::NodeDefBuilder;
using tensorflow::OpKernel;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

// [run] Makes the kernel of a node and runs it once, as an executor would.
absl::StatusOr<Tensor> Compute(const NodeDef& node,
                               std::vector<Tensor> inputs) {
  static const std::unique_ptr<tensorflow::Device> device =
      tensorflow::DeviceFactory::NewDevice("CPU", {},
                                           "/job:localhost/replica:0/task:0");
  absl::Status status;
  const std::unique_ptr<OpKernel> kernel = tensorflow::CreateOpKernel(
      tensorflow::DEVICE_CPU, device.get(), device->GetAllocator({}), node,
      TF_GRAPH_DEF_VERSION, &status);
  TF_RETURN_IF_ERROR(status);

  std::vector<tensorflow::TensorValue> values;
  values.reserve(inputs.size());
  for (Tensor& input : inputs) values.emplace_back(&input);
  std::vector<tensorflow::AllocatorAttributes> attributes(
      kernel->num_outputs());
  OpKernelContext::Params params;
  params.device = device.get();
  params.op_kernel = kernel.get();
  params.inputs = values;
  params.output_attr_array = attributes.data();
  OpKernelContext context(&params);
  device->Compute(kernel.get(), &context);
  TF_RETURN_IF_ERROR(context.status());
  return *context.mutable_output(0);
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

TEST(Softshrink, KeepsNaN) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto y = Compute(Softshrink(0.5), {Vector({nan})});
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_TRUE(std::isnan(Values(*y)[0]));
}

// [error] Of the constructor, which CreateOpKernel returns.
TEST(Softshrink, RefusesANegativeBound) {
  const absl::Status status = Compute(Softshrink(-1), {Vector({1})}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "bound must be 0 or more, got -1",
                      std::string(status.message()));
}

// What a call in Python would not let through.
TEST(Softshrink, OtherTypes) {
  NodeDef node;
  TF_CHECK_OK(NodeDefBuilder("shrink", "OpByOp>Softshrink")
                  .Input("x", 0, tensorflow::DT_INT32)
                  .Finalize(&node));
  EXPECT_PRED_FORMAT2(
      testing::IsSubstring, "Value for attr 'T' of int32 is not in the list",
      std::string(Compute(node, {Tensor(1)}).status().message()));
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

// [differences] Compares with the slope between two points nearby.
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
    EXPECT_NEAR(dx[i], dy[i] * slope, 1e-9) << "at x = " << x[i];
  }
}

}  // namespace
}  // namespace op_by_op
