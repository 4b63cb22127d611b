# [needs] nvcc
echo '__device__ int next(int);
__global__ void kernel(int* x) { x[0] = next(x[0]); }' > op.cu
# [wrong]
nvcc -c op.cu -o op.o
# [cured]
nvcc -rdc=true -c op.cu -o op.o
