cat > op.cc <<'END'
#include "unsupported/Eigen/CXX11/Tensor"
void add_one(Eigen::Tensor<float, 1>& y, Eigen::ThreadPoolDevice& device) {
  y.device(device) = y + 1.0f;
}
END
# [wrong]
$CXX $CFLAGS -fsyntax-only op.cc
# [cured]
$CXX $CFLAGS -fsyntax-only op.cc -DEIGEN_USE_THREADS
