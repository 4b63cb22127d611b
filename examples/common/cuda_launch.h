// How kernels are launched: by nvcc on a GPU, by any other compiler on the
// host.

#ifndef OP_BY_OP_EXAMPLES_COMMON_CUDA_LAUNCH_H_
#define OP_BY_OP_EXAMPLES_COMMON_CUDA_LAUNCH_H_

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#else
#include "cuda_on_host.h"
#endif

#include <cstdint>

namespace op_by_op {

// Null, or the error's text.
inline const char* Text(cudaError_t error) {
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

// Returns null, or the text of an error, before the work is done.
template <typename... Parameters, typename... Arguments>
const char* Launch(void (*kernel)(Parameters...), int64_t blocks, int threads,
                   int shared_bytes, void* stream, Arguments... arguments) {
  if (blocks > INT32_MAX) return Text(cudaErrorInvalidConfiguration);
  cudaGetLastError();  // forgets that an earlier launch was refused
  // clang-format off
  kernel<<<static_cast<unsigned>(blocks), threads, shared_bytes,
           static_cast<cudaStream_t>(stream)>>>(arguments...);
  // clang-format on
  return Text(cudaGetLastError());
}

// Waits for all that was put on the stream before.
inline const char* CopyToHost(void* stream, const void* on_device,
                              void* on_host, int64_t bytes) {
  const auto cuda_stream = static_cast<cudaStream_t>(stream);
  const cudaError_t error = cudaMemcpyAsync(
      on_host, on_device, bytes, cudaMemcpyDeviceToHost, cuda_stream);
  return Text(error == cudaSuccess ? cudaStreamSynchronize(cuda_stream)
                                   : error);
}

#ifdef __CUDACC__
// The memory of shared_bytes that the threads of a block have together.
__device__ inline void* SharedMemory() {
  extern __shared__ double shared_memory[];
  return shared_memory;
}
#endif

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_COMMON_CUDA_LAUNCH_H_
