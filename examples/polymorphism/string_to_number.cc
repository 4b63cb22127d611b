// OpByOp>StringToNumber: text becomes numbers of the type that an attr names.

#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"

namespace op_by_op {
namespace {

// [interface] No input tells out_type, so the caller does.
REGISTER_OP("OpByOp>StringToNumber")
    .Attr("out_type: {float, double, int32, int64} = DT_FLOAT")
    .Input("text: string")
    .Output("number: out_type")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape)
    .Doc(R"doc(
Parses each string as a number.

text: A tensor of any shape; white space around a number is allowed.
number: A tensor of the same shape.
out_type: The type of the numbers.
)doc");

// [parse] Whether all of the text is one number that T can hold.
template <typename T>
bool Parse(absl::string_view text, T* number) {
  if constexpr (std::is_integral_v<T>) {
    return absl::SimpleAtoi(text, number);
  } else if (text.find_first_of("xX(") != text.npos) {
    return false;  // what follows reads 0x10 and nan(1) too
  } else if constexpr (std::is_same_v<T, float>) {
    return absl::SimpleAtof(text, number);
  } else {
    return absl::SimpleAtod(text, number);
  }
}

// [kernel] The input is always tstring; T is the type of the output.
template <typename T>
class StringToNumberOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& text = context->input(0);
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, text.shape(), &output));

    const auto in = text.flat<tensorflow::tstring>();
    auto out = output->flat<T>();
    for (int64_t i = 0; i < in.size(); ++i) {
      OP_REQUIRES(context, Parse<T>(in(i), &out(i)),
                  absl::InvalidArgumentError(absl::StrCat(
                      "text: element ", i, " is \"",
                      absl::CHexEscape(absl::string_view(in(i)).substr(0, 40)),
                      "\", expected a number of type ",
                      tensorflow::DataTypeString(output->dtype()))));
    }
  }
};

#define OP_BY_OP_REGISTER(T)                                  \
  REGISTER_KERNEL_BUILDER(Name("OpByOp>StringToNumber")       \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<T>("out_type"), \
                          StringToNumberOp<T>);
TF_CALL_float(OP_BY_OP_REGISTER) TF_CALL_double(OP_BY_OP_REGISTER)
    TF_CALL_int32(OP_BY_OP_REGISTER) TF_CALL_int64(OP_BY_OP_REGISTER)
#undef OP_BY_OP_REGISTER

}  // namespace
}  // namespace op_by_op
