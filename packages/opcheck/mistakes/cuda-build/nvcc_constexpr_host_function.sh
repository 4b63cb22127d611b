# [needs] nvcc
cat > op.cu <<'END'
#include <algorithm>
__global__ void kernel(float* x) { x[0] = std::max(x[0], 0.0f); }
END
# [wrong]
nvcc -c op.cu -o op.o
# [cured]
nvcc --expt-relaxed-constexpr -c op.cu -o op.o
