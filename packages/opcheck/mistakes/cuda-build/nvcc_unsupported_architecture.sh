# [needs] nvcc
echo '__global__ void kernel() {}' > op.cu
# [wrong]
nvcc -arch=sm_35 -c op.cu -o op.o
# [cured]
nvcc --list-gpu-arch
nvcc -arch=sm_90 -c op.cu -o op.o
