echo 'int f() { return 0; }' > op.cc
cat > Makefile <<'END'
op.o: op.cc
	@$(CXX) -c op.cc -o op.o 2>> compiler.log
END
# [wrong]
echo 'int f() { return x; }' > op.cc
# [both]
make op.o
