printf 'tensorflow_op.o: op.cu.cc\n\ttouch $@\n' > Makefile
# [wrong]
make
# [cured]
touch op.cu.cc
make
