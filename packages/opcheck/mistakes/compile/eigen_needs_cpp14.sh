echo '#include "Eigen/Core"' > op.cc
# [wrong]
$CXX $CFLAGS -std=c++11 -fsyntax-only op.cc
# [cured]
$CXX $CFLAGS -fsyntax-only op.cc
