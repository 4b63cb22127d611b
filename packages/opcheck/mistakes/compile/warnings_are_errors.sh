# [wrong]
OPTIONS="-Wall -Werror"
# [cured]
OPTIONS="-Wall"
# [both]
echo "int Twice(int x) { int unused; return 2 * x; }" > tensorflow_op.cc
$CXX $OPTIONS -c tensorflow_op.cc
