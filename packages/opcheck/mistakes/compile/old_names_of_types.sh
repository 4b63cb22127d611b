# [wrong]
cat > op.cc <<'END'
#include "tensorflow/core/platform/types.h"
int64 count = 0;
END
# [cured]
cat > op.cc <<'END'
#include "tensorflow/core/platform/types.h"
int64_t count = 0;
END
# [both]
$CXX $PRECOMPILED -w -fsyntax-only op.cc
