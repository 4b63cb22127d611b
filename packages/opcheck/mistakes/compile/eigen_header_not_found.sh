echo '#include "unsupported/Eigen/CXX11/Tensor"' > op.cc
# [wrong]
$CXX -std=c++17 -fsyntax-only op.cc
# [cured]
$CXX $CFLAGS -fsyntax-only op.cc
