echo '#include "absl/base/policy_checks.h"' > op.cc
# [wrong]
$CXX $CFLAGS -std=c++14 -fsyntax-only op.cc
# [cured]
$CXX $CFLAGS -fsyntax-only op.cc
