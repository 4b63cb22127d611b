# The first header is the one that says so. Before TensorFlow 2.21 the second fails.
printf '#include "%s"\n' absl/base/policy_checks.h ml_dtypes/include/float8.h > op.cc
CFLAGS+=" -Wfatal-errors"
# [wrong]
$CXX $CFLAGS -std=c++14 -fsyntax-only op.cc
# [cured]
$CXX $CFLAGS -fsyntax-only op.cc
