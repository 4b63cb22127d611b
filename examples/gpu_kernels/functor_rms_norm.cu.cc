// FunctorRmsNorm on the GPU: nvcc reads TensorFlow's headers.

#if GOOGLE_CUDA
#define EIGEN_USE_GPU

#include "functor_rms_norm.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/util/gpu_kernel_helper.h"

namespace op_by_op {

using GPUDevice = Eigen::GpuDevice;

// [loop] GPU_1D_KERNEL_LOOP is a grid-stride loop, with an int.
template <typename T>
__global__ void RmsNormRows(int rows, int columns, const T* x, T epsilon,
                            T* y) {
  GPU_1D_KERNEL_LOOP(row, rows) {
    double squares = 0;
    for (int c = 0; c < columns; ++c) {
      squares += x[row * columns + c] * x[row * columns + c];
    }
    const T scale = rsqrt(static_cast<T>(squares) / columns + epsilon);
    for (int c = 0; c < columns; ++c) {
      y[row * columns + c] = x[row * columns + c] * scale;
    }
  }
}

// [launch] At most one block for each multiprocessor.
template <typename T>
struct RmsNormFunctor<GPUDevice, T> {
  void operator()(tensorflow::OpKernelContext* context,
                  typename tensorflow::TTypes<T>::ConstMatrix x, T epsilon,
                  typename tensorflow::TTypes<T>::Matrix y) {
    if (x.size() == 0) return;
    // The kernel's index is an int, and so is a step past the last row.
    constexpr int64_t kMost = int64_t{1} << 30;
    OP_REQUIRES(context, x.size() <= kMost,
                absl::InvalidArgumentError(
                    absl::StrCat("x must have at most ", kMost,
                                 " elements on a GPU, got ", x.size())));
    const auto& device = context->eigen_device<GPUDevice>();
    const int rows = x.dimension(0);
    const auto config = tensorflow::GetGpuLaunchConfig(rows, device);
    OP_REQUIRES_OK(context, tensorflow::GpuLaunchKernel(
                                RmsNormRows<T>, config.block_count,
                                config.thread_per_block, 0, device.stream(),
                                rows, static_cast<int>(x.dimension(1)),
                                x.data(), epsilon, y.data()));
  }
};

// [instances] Here the compiler makes the code that the op is linked with.
template struct RmsNormFunctor<GPUDevice, float>;
template struct RmsNormFunctor<GPUDevice, double>;

}  // namespace op_by_op

#endif  // GOOGLE_CUDA
