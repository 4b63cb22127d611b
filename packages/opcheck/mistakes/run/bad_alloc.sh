# [wrong]
cat > op.cc <<'END'
int main(int argc, char**) {
  int size = argc - 2;  // -1
  new char[static_cast<unsigned long>(size) >> 2];
}
END
# [cured]
cat > op.cc <<'END'
int main(int argc, char**) {
  int size = argc - 2;
  if (size < 0) return 0;  // in a kernel, OP_REQUIRES
  new char[static_cast<unsigned long>(size)];
}
END
# [both]
$CXX -w -O0 op.cc -o op
./op
