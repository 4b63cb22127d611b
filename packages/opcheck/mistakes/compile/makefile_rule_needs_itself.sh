# [wrong]
printf 'tensorflow_op.so: op.o\n\ttouch $@\nop.o: tensorflow_op.so\n\ttouch $@\n' > Makefile
# [cured]
printf 'tensorflow_op.so: op.o\n\ttouch $@\nop.o:\n\ttouch $@\n' > Makefile
# [both]
make
