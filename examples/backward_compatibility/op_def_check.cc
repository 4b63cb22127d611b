// CheckOpDef: are graphs that were made with an older definition of an op safe
// with the one that is registered now?

#include <array>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_def.pb.h"
#include "tensorflow/core/framework/op_def_util.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

// OpDefs as serialized protocol buffers in, complaints out.
REGISTER_OP("CheckOpDef")
    .Input("old: string")
    .Input("between: string")
    .Output("compatible: string")
    .Output("defaults: string")
    .Output("added_defaults: string")
    .SetIsStateful()
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      tensorflow::shape_inference::ShapeHandle unused;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 0, &unused));
      TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 0, &unused));
      for (int i = 0; i < 3; ++i) context->set_output(i, context->Scalar());
      return absl::OkStatus();
    })
    .Doc(R"doc(
Compares older definitions of an op with the one that is registered.

old: A serialized OpDef.
between: A definition of the same op in a version after `old`; or `old` again.
compatible: What OpDefCompatible complains of; empty if nothing.
defaults: What OpDefAttrDefaultsUnchanged complains of; empty if nothing.
added_defaults: What OpDefAddedDefaultsUnchanged complains of; empty if nothing.
)doc");

// What TensorFlow's three checks say.
std::array<absl::Status, 3> Checks(const tensorflow::OpDef& old,
                                   const tensorflow::OpDef& between,
                                   const tensorflow::OpDef& now);

class CheckOpDefOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    tensorflow::OpDef old, between;
    OP_REQUIRES_OK(context, Parse(context, "old", old));
    OP_REQUIRES_OK(context, Parse(context, "between", between));
    OP_REQUIRES(context, old.name() == between.name(),
                absl::InvalidArgumentError(
                    absl::StrCat("old and between must define one op, got ",
                                 old.name(), " and ", between.name())));
    const tensorflow::OpDef* now = nullptr;
    OP_REQUIRES_OK(context, tensorflow::OpRegistry::Global()->LookUpOpDef(
                                old.name(), &now));

    int index = 0;
    for (const absl::Status& status : Checks(old, between, *now)) {
      tensorflow::Tensor* complaint = nullptr;
      OP_REQUIRES_OK(context, context->allocate_output(index, {}, &complaint));
      complaint->scalar<tensorflow::tstring>()() =
          std::string(status.message());
      ++index;
    }
  }

 private:
  static absl::Status Parse(tensorflow::OpKernelContext* context,
                            absl::string_view name, tensorflow::OpDef& op_def) {
    const tensorflow::Tensor* tensor = nullptr;
    TF_RETURN_IF_ERROR(context->input(name, &tensor));
    if (tensor->dims() != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " must be a scalar, got shape ",
                       tensor->shape().DebugString()));
    }
    if (!op_def.ParseFromString(tensor->scalar<tensorflow::tstring>()())) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " must be a serialized OpDef"));
    }
    return tensorflow::ValidateOpDef(op_def);
  }
};

REGISTER_KERNEL_BUILDER(Name("CheckOpDef").Device(tensorflow::DEVICE_CPU),
                        CheckOpDefOp);

// [checks] The message of each status is the complaint.
std::array<absl::Status, 3> Checks(const tensorflow::OpDef& old,
                                   const tensorflow::OpDef& between,
                                   const tensorflow::OpDef& now) {
  return {tensorflow::OpDefCompatible(old, now),
          tensorflow::OpDefAttrDefaultsUnchanged(old, now),
          tensorflow::OpDefAddedDefaultsUnchanged(old, between, now)};
}

}  // namespace
}  // namespace op_by_op
