mkdir -p eigen3/Eigen eigen3/unsupported/Eigen/CXX11
cat > eigen3/Eigen/Core <<'END'
#pragma once
namespace Eigen {
template <typename T> struct NumTraits;
template <typename T> struct GenericNumTraits {};
struct half;
}
END
cp eigen3/Eigen/Core eigen3/unsupported/Eigen/CXX11/Tensor
echo '#include "tensorflow/core/framework/numeric_types.h"' > op.cc
# [wrong]
$CXX -Ieigen3 $CFLAGS -fsyntax-only op.cc
# [cured]
$CXX $CFLAGS -Ieigen3 -fsyntax-only op.cc
