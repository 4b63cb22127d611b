cat > main.cc <<'END'
struct Base {
  Base() { Call(); }
  virtual void Compute() = 0;
  void Call() { Compute(); }
};
struct YourOp : Base { void Compute() override {} };
END
# [wrong]
echo 'int main() { YourOp op; }' >> main.cc
# [cured]
sed -i '/Base() {/d' main.cc
echo 'int main() { YourOp op; op.Call(); }' >> main.cc
# [both]
$CXX main.cc -o main
./main
