# [needs] nvcc
echo '__global__ void kernel() {}' > op.cu
# [wrong]
nvcc -fPIC -c op.cu -o op.o
# [cured]
nvcc -Xcompiler -fPIC -c op.cu -o op.o
