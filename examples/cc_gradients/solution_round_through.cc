// RoundThrough: the solution of the chapter's exercise.

#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

// [kernel] As RoundToStep, with a step of 1 and for float only.
REGISTER_OP("RoundThrough")
    .Input("x: float")
    .Output("rounded: float")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

class RoundThroughOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, input.shape(), &output));

    const auto x = input.flat<float>();
    auto rounded = output->flat<float>();
    for (int64_t i = 0; i < x.size(); ++i) rounded(i) = std::nearbyint(x(i));
  }
};

REGISTER_KERNEL_BUILDER(Name("RoundThrough").Device(tensorflow::DEVICE_CPU),
                        RoundThroughOp);

// [gradient] dx = dy where |x| <= 4, else 0
absl::Status RoundThroughGrad(const tensorflow::AttrSlice& /*attrs*/,
                              tensorflow::FunctionDef* function) {
  constexpr auto kFloat = tensorflow::DT_FLOAT;
  *function = tensorflow::FunctionDefHelper::Create(
      "RoundThroughGrad", {"x: float", "dy: float"}, {"dx: float"}, {},
      {
          {{"size"}, "Abs", {"x"}, {{"T", kFloat}}},
          tensorflow::FunctionDefHelper::Const("limit", 4.0f),
          {{"near"},
           "LessEqual",
           {"size:y:0", "limit:output:0"},
           {{"T", kFloat}}},
          {{"mask"},
           "Cast",
           {"near:z:0"},
           {{"SrcT", tensorflow::DT_BOOL}, {"DstT", kFloat}}},
          {{"passed"}, "MulNoNan", {"dy", "mask:y:0"}, {{"T", kFloat}}},
      },
      {{"dx", "passed:z:0"}});
  return absl::OkStatus();
}
REGISTER_OP_GRADIENT("RoundThrough", RoundThroughGrad);

}  // namespace
}  // namespace op_by_op
