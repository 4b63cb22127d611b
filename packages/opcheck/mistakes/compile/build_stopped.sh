echo 'int f() { return 0; }' > op.cc
cat > Makefile <<'END'
tensorflow_op.o: op.cc
	@$(CXX) -c op.cc -o $@ 2>> compiler.log
END
# [wrong]
echo 'int f() { return x; }' > op.cc
# [both]
make tensorflow_op.o
