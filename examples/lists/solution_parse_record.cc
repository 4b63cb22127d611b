// ParseRecord: the solution of the chapter's exercise.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace op_by_op {
namespace {

// [interface] No input tells out_types, so the caller does.
REGISTER_OP("ParseRecord")
    .Attr("out_types: list({float, int64, string}) >= 1")
    .Input("record: string")
    .Output("fields: out_types")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      tensorflow::shape_inference::ShapeHandle scalar;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 0, &scalar));
      for (int n = 0; n < context->num_outputs(); ++n) {
        context->set_output(n, scalar);
      }
      return absl::OkStatus();
    });

// [parse] Whether the field is a value of the tensor's type.
bool Parse(absl::string_view field, tensorflow::Tensor* output) {
  switch (output->dtype()) {
    case tensorflow::DT_FLOAT:  // SimpleAtof reads 0x10 and nan(1) too
      return field.find_first_of("xX(") == field.npos &&
             absl::SimpleAtof(field, &output->scalar<float>()());
    case tensorflow::DT_INT64:
      return absl::SimpleAtoi(field, &output->scalar<int64_t>()());
    default:
      output->scalar<tensorflow::tstring>()().assign(field.data(),
                                                     field.size());
      return true;
  }
}

// [kernel] As many fields as types; the kernel checks what it relies on.
class ParseRecordOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& record = context->input(0);
    OP_REQUIRES(context, record.dims() == 0,
                absl::InvalidArgumentError(absl::StrCat(
                    "record has shape ", record.shape().DebugString(),
                    ", expected a scalar")));
    const absl::string_view text = record.scalar<tensorflow::tstring>()();
    const std::vector<absl::string_view> fields = absl::StrSplit(text, ',');
    tensorflow::OpOutputList outputs;
    OP_REQUIRES_OK(context, context->output_list("fields", &outputs));
    const int64_t wanted = outputs.size();
    const int64_t found = fields.size();
    OP_REQUIRES(context, found == wanted,
                absl::InvalidArgumentError(absl::StrCat(
                    "record has ", found, " fields, expected ", wanted)));
    for (int64_t n = 0; n < wanted; ++n) {
      tensorflow::Tensor* output = nullptr;
      OP_REQUIRES_OK(context, outputs.allocate(n, {}, &output));
      OP_REQUIRES(
          context, Parse(fields[n], output),
          absl::InvalidArgumentError(absl::StrCat(
              "record: field ", n, " is \"",
              absl::CHexEscape(fields[n].substr(0, 40)), "\", expected ",
              tensorflow::DataTypeString(output->dtype()))));
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("ParseRecord").Device(tensorflow::DEVICE_CPU),
                        ParseRecordOp);

}  // namespace
}  // namespace op_by_op
