# [needs] nvcc
echo '__global__ void kernel() {}' > op.cu
# [wrong]
echo 'void f() { kernel(); }' >> op.cu
# [cured]
echo 'void f() { kernel<<<1, 1>>>(); }' >> op.cu
# [both]
nvcc -c op.cu
