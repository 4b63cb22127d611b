# [needs] nvcc
echo '__global__ void kernel(int* x) {
  int sum;
  asm("redux.sync.add.s32 %0, %1, 0xffffffff;" : "=r"(sum) : "r"(x[threadIdx.x]));
  if (threadIdx.x == 0) x[0] = sum;
}' > op.cu
# [wrong]
nvcc -arch=sm_75 -c op.cu -o op.o
# [cured]
nvcc -arch=sm_80 -c op.cu -o op.o
