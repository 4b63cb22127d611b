// LogCosh: the logarithm of the hyperbolic cosine of each element.

#define EIGEN_USE_THREADS

#include "log_cosh.h"

#include <type_traits>

#include "absl/status/status.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/numeric_op.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/types.h"
#include "unsupported/Eigen/CXX11/Tensor"

namespace op_by_op {

// [interface] One input, one output of the same shape and type.
REGISTER_OP("LogCosh")
    .Attr("T: {half, bfloat16, float, double}")
    .Input("x: T")
    .Output("y: T")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape)
    .Doc(
        "Computes log(cosh(x)) for each element, with a relative error below "
        "1e-6 in float, and without overflow.");

namespace {

// [kernel] 16 bits are widened, so that only the result is rounded.
template <typename T>
class LogCoshOp : public tensorflow::UnaryElementWiseOp<T, LogCoshOp<T>> {
 public:
  using tensorflow::UnaryElementWiseOp<T, LogCoshOp<T>>::UnaryElementWiseOp;

  void Operate(tensorflow::OpKernelContext* context,
               const tensorflow::Tensor& input, tensorflow::Tensor* output) {
    using Wide = std::conditional_t<sizeof(T) == 2, float, T>;
    const auto x = input.flat<T>().template cast<Wide>();
    output->flat<T>().device(context->eigen_cpu_device()) =
        x.unaryExpr(LogCosh<Wide>()).template cast<T>();
  }
};

// A kernel for each type.
#define REGISTER_LOG_COSH(T)                                                 \
  REGISTER_KERNEL_BUILDER(                                                   \
      Name("LogCosh").Device(tensorflow::DEVICE_CPU).TypeConstraint<T>("T"), \
      LogCoshOp<T>)
REGISTER_LOG_COSH(Eigen::half);
REGISTER_LOG_COSH(Eigen::bfloat16);
REGISTER_LOG_COSH(float);
REGISTER_LOG_COSH(double);

// The same one by one, to compare.
REGISTER_OP("LogCoshPlain")
    .Input("x: float")
    .Output("y: float")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape)
    .Doc("Computes log(cosh(x)) for each element, one after the other.");

class LogCoshPlainOp
    : public tensorflow::UnaryElementWiseOp<float, LogCoshPlainOp> {
 public:
  using tensorflow::UnaryElementWiseOp<float,
                                       LogCoshPlainOp>::UnaryElementWiseOp;

  void Operate(tensorflow::OpKernelContext* context,
               const tensorflow::Tensor& input, tensorflow::Tensor* output) {
    output->flat<float>().device(context->eigen_cpu_device()) =
        input.flat<float>().unaryExpr(LogCoshOfOne());
  }
};
REGISTER_KERNEL_BUILDER(Name("LogCoshPlain").Device(tensorflow::DEVICE_CPU),
                        LogCoshPlainOp);

// [gradient] dx = tanh(x) * dy
absl::Status LogCoshGrad(const tensorflow::AttrSlice& /*attrs*/,
                         tensorflow::FunctionDef* function) {
  *function = tensorflow::FunctionDefHelper::Create(
      "LogCoshGrad", {"x: T", "dy: T"}, {"dx: T"},
      {"T: {half, bfloat16, float, double}"},
      {
          {{"slope"}, "Tanh", {"x"}, {{"T", "$T"}}},
          {{"scaled"}, "Mul", {"slope:y:0", "dy"}, {{"T", "$T"}}},
      },
      {{"dx", "scaled:z:0"}});
  return absl::OkStatus();
}
REGISTER_OP_GRADIENT("LogCosh", LogCoshGrad);

}  // namespace
}  // namespace op_by_op
