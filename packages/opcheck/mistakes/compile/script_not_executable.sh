echo "echo built" > build_tensorflow_op.sh
# [wrong]
./build_tensorflow_op.sh
# [cured]
bash build_tensorflow_op.sh
