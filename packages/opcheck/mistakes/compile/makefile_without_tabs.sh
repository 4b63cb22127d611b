# [wrong]
printf 'op.so:\n    touch op.so\n' > tensorflow.mk
# [cured]
printf 'op.so:\n\ttouch op.so\n' > tensorflow.mk
# [both]
make -f tensorflow.mk
