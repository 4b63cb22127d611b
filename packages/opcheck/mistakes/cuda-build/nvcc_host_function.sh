# [needs] nvcc
# [wrong]
echo 'float f(float x) { return 2 * x; }' > op.cu
# [cured]
echo '__host__ __device__ float f(float x) { return 2 * x; }' > op.cu
# [both]
echo '__global__ void kernel(float* x) { *x = f(*x); }' >> op.cu
nvcc -c op.cu
