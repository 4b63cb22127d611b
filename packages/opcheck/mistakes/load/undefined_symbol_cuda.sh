# [needs] nvcc, cpu
echo '__global__ void kernel() {}' > op.cu
# [wrong]
nvcc -shared -Xcompiler -fPIC -cudart none op.cu -o op.so
# [cured]
nvcc -shared -Xcompiler -fPIC -cudart static op.cu -o op.so
