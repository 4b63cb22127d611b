# [needs] nvcc
echo '__global__ void kernel() {}' > op.cu
# [wrong]
nvcc -c op.cu -o op.o -Xcompiler -D__GNUC__=99  # as a newer g++ would say
# [cured]
nvcc -c op.cu -o op.o
