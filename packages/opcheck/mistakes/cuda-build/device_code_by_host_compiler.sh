# [needs] nvcc
echo '__global__ void kernel(int* x) { x[threadIdx.x] = blockIdx.x; }' > op.cu
# [wrong]
$CXX -xc++ -c op.cu
# [cured]
nvcc -c op.cu
