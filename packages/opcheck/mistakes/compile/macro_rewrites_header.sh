echo '#include "absl/meta/type_traits.h"' > op.cc
# [wrong]
$CXX $CFLAGS -fsyntax-only op.cc -DT=4
# [cured]
$CXX $CFLAGS -fsyntax-only op.cc -DYOUR_TILE=4
