// FunctorRmsNorm, in the pattern of TensorFlow's own kernels: the loop.

#ifndef OP_BY_OP_EXAMPLES_GPU_KERNELS_FUNCTOR_RMS_NORM_H_
#define OP_BY_OP_EXAMPLES_GPU_KERNELS_FUNCTOR_RMS_NORM_H_

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor_types.h"

namespace op_by_op {

// [functor] One declaration, and a specialization for each device.
template <typename Device, typename T>
struct RmsNormFunctor {
  void operator()(tensorflow::OpKernelContext* context,
                  typename tensorflow::TTypes<T>::ConstMatrix x, T epsilon,
                  typename tensorflow::TTypes<T>::Matrix y);
};

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_GPU_KERNELS_FUNCTOR_RMS_NORM_H_
