// MuLaw with an interface that is not known before the library is loaded:
// `changes.py` writes it into the environment, "Attr mu: float = 255.0" in a
// line of its own.

#include <cstdlib>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "backward_compatibility.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_def_builder.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

absl::Status MatrixShape(InferenceContext* context) {
  ShapeHandle matrix;
  TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 2, &matrix));
  context->set_output(0, matrix);
  return absl::OkStatus();
}

absl::Status Register(tensorflow::OpRegistrationData* data) {
  tensorflow::OpDefBuilder builder("");
  for (const absl::string_view line :
       absl::StrSplit(Environment("MU_LAW_INTERFACE"), '\n')) {
    const std::pair<std::string, std::string> call =
        absl::StrSplit(line, absl::MaxSplits(' ', 1));
    const auto& [method, argument] = call;
    if (method == "REGISTER_OP") builder = tensorflow::OpDefBuilder(argument);
    if (method == "Attr") builder.Attr(argument);
    if (method == "Input") builder.Input(argument);
    if (method == "Output") builder.Output(argument);
    if (method == "Deprecated") {
      const std::pair<std::string, std::string> said =
          absl::StrSplit(argument, absl::MaxSplits(", \"", 1));
      builder.Deprecated(std::stoi(said.first), said.second);
    }
    if (method == "SetShapeFn") {
      builder.SetShapeFn(argument == "MatrixShape"
                             ? MatrixShape
                             : tensorflow::shape_inference::UnchangedShape);
    }
  }
  return builder.Finalize(data);
}

// The sum of all inputs, changed by the formula, in each of the outputs.
class ChangedOp : public tensorflow::OpKernel {
 public:
  explicit ChangedOp(OpKernelConstruction* context) : OpKernel(context) {
    std::string mode;
    OP_REQUIRES_OK(context, context->GetAttr("mode", &mode));
    law_.decode = mode == "decode";
    ReadIfDeclared(context, "mu", law_.mu);
    ReadIfDeclared(context, "gain", gain_);
    OP_REQUIRES_OK(context, CheckMu(law_.mu));
    if (Environment("MU_LAW_KERNEL") == "other") gain_ *= 0.5f;
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    tensorflow::Tensor sum;
    const tensorflow::TensorShape& shape = context->input(0).shape();
    OP_REQUIRES_OK(context,
                   context->allocate_temp(tensorflow::DT_FLOAT, shape, &sum));
    auto total = sum.flat<float>();
    total.setZero();
    for (int i = 0; i < context->num_inputs(); ++i) {
      OP_REQUIRES(context,
                  context->input_dtype(i) == tensorflow::DT_FLOAT &&
                      context->input(i).shape() == shape,
                  absl::UnimplementedError(absl::StrCat(
                      "input ", i, " must be float, of the shape of input 0")));
      total += context->input(i).flat<float>();
    }
    total = total.unaryExpr([this](float x) { return law_(gain_ * x); });
    for (int i = 0; i < context->num_outputs(); ++i) {
      context->set_output(i, sum);
    }
  }

 private:
  // A node of an older version may have attrs that the interface has lost.
  static void ReadIfDeclared(OpKernelConstruction* context,
                             const std::string& name, float& value) {
    if (absl::StrContains(Environment("MU_LAW_INTERFACE"),
                          absl::StrCat("Attr ", name, ":"))) {
      OP_REQUIRES_OK(context, context->GetAttr(name, &value));
    }
  }

  MuLaw law_;
  float gain_ = 1;
};

const bool registered = [] {
  if (Environment("MU_LAW_INTERFACE").empty()) return false;
  tensorflow::OpRegistry::Global()->Register(Register);
  return true;
}();

const bool has_kernel = Environment("MU_LAW_KERNEL") != "none";
REGISTER_KERNEL_BUILDER(Name(has_kernel ? "MuLaw" : "NoOp")
                            .Device(tensorflow::DEVICE_CPU)
                            .Label(has_kernel ? "" : "of no node"),
                        ChangedOp);

}  // namespace
}  // namespace op_by_op
