// Two ops that look into the registries of gradients in C++: GradientRegistries
// lists them, and GradientFunction returns one gradient as it is described.

#include <cstdint>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/cc/framework/grad_op_registry.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace op_by_op {
namespace {

using tensorflow::OpRegistry;
using tensorflow::Tensor;
using tensorflow::shape_inference::InferenceContext;

// How a registry answers: a gradient, "registered as without one", or nothing.
const char* Answer(const absl::Status& status, bool has_gradient) {
  if (!status.ok()) return "";
  return has_gradient ? "gradient" : "none";
}

// Stateful, so that TensorFlow does not keep the first answer: the next library
// that is loaded changes it.
REGISTER_OP("GradientRegistries")
    .Output("table: string")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* context) {
      context->set_output(0, context->Matrix(context->UnknownDim(), 3));
      return absl::OkStatus();
    })
    .Doc(
        "Lists for each op what the registries of C++ hold: op, for functions, "
        "for graphs.");

class GradientRegistriesOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    std::set<std::string> ops;
    tensorflow::OpList registered;
    OpRegistry::Global()->Export(/*include_internal=*/false, &registered);
    for (const auto& op : registered.op()) ops.insert(op.name());
    Tensor* output = nullptr;
    const int64_t height = ops.size();
    OP_REQUIRES_OK(context, context->allocate_output(0, {height, 3}, &output));
    auto table = output->matrix<tensorflow::tstring>();
    int64_t row = 0;
    for (const std::string& op : ops) {
      tensorflow::gradient::Creator creator;
      tensorflow::ops::GradFunc function = nullptr;
      const absl::Status in_functions =
          tensorflow::gradient::GetOpGradientCreator(op, &creator);
      const absl::Status in_graphs =
          tensorflow::ops::GradOpRegistry::Global()->Lookup(op, &function);
      table(row, 0) = op;
      table(row, 1) = Answer(in_functions, creator != nullptr);
      table(row, 2) = Answer(in_graphs, function != nullptr);
      ++row;
    }
  }
};

REGISTER_KERNEL_BUILDER(
    Name("GradientRegistries").Device(tensorflow::DEVICE_CPU),
    GradientRegistriesOp);

REGISTER_OP("GradientFunction")
    .Input("node: string")
    .Output("function: string")
    .SetShapeFn([](InferenceContext* context) {
      tensorflow::shape_inference::ShapeHandle node;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 0, &node));
      context->set_output(0, node);
      return absl::OkStatus();
    })
    .Doc("Describes the gradient of a node (a NodeDef) as a FunctionDef.");

class GradientFunctionOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    OP_REQUIRES(context, input.dims() == 0,
                absl::InvalidArgumentError(absl::StrCat(
                    "node must be one serialized NodeDef, got shape ",
                    input.shape().DebugString())));
    const tensorflow::tstring& bytes = input.scalar<tensorflow::tstring>()();
    tensorflow::NodeDef node;
    OP_REQUIRES(context, node.ParseFromString(bytes),
                absl::InvalidArgumentError(
                    absl::StrCat("node must be one serialized NodeDef, got ",
                                 bytes.size(), " bytes that do not parse")));
    tensorflow::gradient::Creator creator;
    OP_REQUIRES_OK(context, tensorflow::gradient::GetOpGradientCreator(
                                node.op(), &creator));
    OP_REQUIRES(context, creator != nullptr,
                absl::NotFoundError(absl::StrCat(
                    node.op(), " is registered as without a gradient")));
    tensorflow::FunctionDef function;
    OP_REQUIRES_OK(context, creator(tensorflow::AttrSlice(node), &function));
    // As when it is put into a graph: this looks up the names in it.
    tensorflow::InstantiationResult instance;
    OP_REQUIRES_OK(
        context, tensorflow::InstantiateFunction(
                     function, tensorflow::AttrSlice(node),
                     [](const std::string& op, const tensorflow::OpDef** def) {
                       return OpRegistry::Global()->LookUpOpDef(op, def);
                     },
                     &instance));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &output));
    output->scalar<tensorflow::tstring>()() = function.SerializeAsString();
  }
};

REGISTER_KERNEL_BUILDER(Name("GradientFunction").Device(tensorflow::DEVICE_CPU),
                        GradientFunctionOp);

}  // namespace
}  // namespace op_by_op
