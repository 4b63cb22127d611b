# [needs] cpu
# [wrong]
echo '#include "cuda_runtime.h"' > op.cc
# [cured]
cat > op.cc <<'END'
#ifdef GOOGLE_CUDA
#include "cuda_runtime.h"
#endif
END
# [both]
$CXX -fsyntax-only op.cc
