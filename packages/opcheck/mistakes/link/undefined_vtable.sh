cat > op.cc <<'END'
struct Functor {
  virtual void Compute();
  virtual void Reset() {}
};
Functor functor;
END
# [wrong]
$CXX -shared -fPIC -Wl,-z,defs op.cc -o op.so
# [cured]
echo 'void Functor::Compute() {}' >> op.cc
$CXX -shared -fPIC -Wl,-z,defs op.cc -o op.so
