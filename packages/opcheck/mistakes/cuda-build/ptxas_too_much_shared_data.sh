# [needs] nvcc
# [wrong]
echo '__global__ void kernel(float* x) {
  __shared__ float tile[20000];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = tile[19999 - threadIdx.x];
}' > op.cu
nvcc -c op.cu -o op.o
# [cured]
echo '__global__ void kernel(float* x) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = tile[19999 - threadIdx.x];
}' > op.cu
nvcc -c op.cu -o op.o
