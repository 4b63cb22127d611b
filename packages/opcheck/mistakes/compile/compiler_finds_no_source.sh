mkdir tensorflow_op
echo "int f() { return 1; }" > tensorflow_op/op.cc
# [wrong]
$CXX -c tensorflow_ops/op.cc
# [cured]
$CXX -c tensorflow_op/op.cc
