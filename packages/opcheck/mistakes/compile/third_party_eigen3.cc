// [wrong]
#include "third_party/eigen3/unsupported/Eigen/CXX11/Tensor"
// [cured]
#include "unsupported/Eigen/CXX11/Tensor"
