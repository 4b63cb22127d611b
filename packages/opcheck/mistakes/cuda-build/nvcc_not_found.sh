# [wrong]
env PATH=/nowhere "$BASH" -c "nvcc -c op.cu"
