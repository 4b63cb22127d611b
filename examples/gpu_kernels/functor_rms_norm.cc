// FunctorRmsNorm, in the pattern of TensorFlow's own kernels: the op.

#if GOOGLE_CUDA
#define EIGEN_USE_GPU
#endif
#define EIGEN_USE_THREADS

#include "functor_rms_norm.h"

#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "unsupported/Eigen/CXX11/Tensor"

namespace op_by_op {

using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using CPUDevice = Eigen::ThreadPoolDevice;
using GPUDevice = Eigen::GpuDevice;

// Context: an InferenceContext or an OpKernelConstruction.
template <typename Context>
absl::Status GetEpsilon(Context* context, float* epsilon) {
  TF_RETURN_IF_ERROR(context->GetAttr("epsilon", epsilon));
  if (std::isfinite(*epsilon) && *epsilon >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("epsilon must be finite and at least 0, got ", *epsilon));
}

REGISTER_OP("FunctorRmsNorm")
    .Attr("T: {float, double}")
    .Attr("epsilon: float = 1e-6")
    .Input("x: T")
    .Output("y: T")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      float epsilon;
      TF_RETURN_IF_ERROR(GetEpsilon(context, &epsilon));
      return tensorflow::shape_inference::UnchangedShapeWithRankAtLeast(context,
                                                                        1);
    })
    .Doc(R"doc(
Divides each row by its root mean square.

x: `[..., columns]`.
y: Like x.
)doc");

// The specialization for the CPU.
template <typename T>
struct RmsNormFunctor<CPUDevice, T> {
  void operator()(OpKernelContext*,
                  typename tensorflow::TTypes<T>::ConstMatrix x, T epsilon,
                  typename tensorflow::TTypes<T>::Matrix y) {
    for (int64_t row = 0; row < x.dimension(0); ++row) {
      double squares = 0;  // T would lose digits in a long row
      for (int64_t c = 0; c < x.dimension(1); ++c)
        squares += x(row, c) * x(row, c);
      const T scale =
          1 / std::sqrt(static_cast<T>(squares) / x.dimension(1) + epsilon);
      for (int64_t c = 0; c < x.dimension(1); ++c)
        y(row, c) = x(row, c) * scale;
    }
  }
};

// [kernel] One class for both devices.
template <typename Device, typename T>
class FunctorRmsNormOp : public tensorflow::OpKernel {
 public:
  explicit FunctorRmsNormOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, GetEpsilon(context, &epsilon_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES(context, x.dims() > 0,
                absl::InvalidArgumentError("x must have rank 1 or more"));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    RmsNormFunctor<Device, T>()(context, x.flat_inner_dims<T>(), epsilon_,
                                y->flat_inner_dims<T>());
  }

 private:
  float epsilon_;
};

// [register] The GPU's where the library is built with CUDA.
#define REGISTER_FUNCTOR_RMS_NORM(T)                          \
  REGISTER_KERNEL_BUILDER(Name("FunctorRmsNorm")              \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<T>("T"),        \
                          FunctorRmsNormOp<CPUDevice, T>)
REGISTER_FUNCTOR_RMS_NORM(float);
REGISTER_FUNCTOR_RMS_NORM(double);

#if GOOGLE_CUDA
extern template struct RmsNormFunctor<GPUDevice, float>;
extern template struct RmsNormFunctor<GPUDevice, double>;
#define REGISTER_FUNCTOR_RMS_NORM_ON_GPU(T)                   \
  REGISTER_KERNEL_BUILDER(Name("FunctorRmsNorm")              \
                              .Device(tensorflow::DEVICE_GPU) \
                              .TypeConstraint<T>("T"),        \
                          FunctorRmsNormOp<GPUDevice, T>)
REGISTER_FUNCTOR_RMS_NORM_ON_GPU(float);
REGISTER_FUNCTOR_RMS_NORM_ON_GPU(double);
#endif

}  // namespace op_by_op
