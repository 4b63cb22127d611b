# [needs] nvcc
echo '__global__ void kernel() {}' > op.cu
# [wrong]
nvcc -c -o op.cu.o op.cu -Xcompiler -fPIC -O2 helper.cu
# [cured]
nvcc -c -o op.cu.o op.cu -Xcompiler -fPIC -O2
