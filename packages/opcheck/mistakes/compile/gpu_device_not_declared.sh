# [wrong]
echo '#include "tensorflow/core/platform/types.h"' > functor.h
# [cured]
echo '#include "unsupported/Eigen/CXX11/Tensor"' > functor.h
# [both]
cat >> functor.h <<'END'
template <typename Device, typename T>
struct YourFunctor {
  void operator()(const Device& device, int size, const T* in, T* out);
};
template <typename T>
struct YourFunctor<Eigen::GpuDevice, T> {
  void operator()(const Eigen::GpuDevice& device, int size, const T* in, T* out);
};
END
echo '#include "functor.h"' > op.cc
$CXX $CFLAGS -I. -w -fsyntax-only op.cc
