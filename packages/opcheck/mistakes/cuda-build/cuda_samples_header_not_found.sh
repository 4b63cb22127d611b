# [needs] nvcc
# [wrong]
echo '#include <helper_cuda.h>' > op.cu
# [cured]
cat > op.cu <<'END'
#include <cstdio>
#include <cstdlib>
#define checkCudaErrors(call)                                  \
  do {                                                         \
    cudaError_t error = (call);                                \
    if (error != cudaSuccess) {                                \
      std::fprintf(stderr, "%s\n", cudaGetErrorString(error)); \
      std::exit(1);                                            \
    }                                                          \
  } while (0)
void Synchronize() { checkCudaErrors(cudaDeviceSynchronize()); }
END
# [both]
nvcc -c op.cu -o op.o
