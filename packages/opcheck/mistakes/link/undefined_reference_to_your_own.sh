cat > op.cc <<'END'
namespace tensorflow { class OpKernelContext; }
void launch(float*, long);
struct YourOp { void Compute(tensorflow::OpKernelContext*); };
void YourOp::Compute(tensorflow::OpKernelContext*) { launch(nullptr, 0); }
END
echo 'void launch(float*, long) {}' > launch.cc
# [wrong]
$CXX -shared -fPIC -Wl,-z,defs op.cc -o op.so
# [cured]
$CXX -shared -fPIC -Wl,-z,defs op.cc launch.cc -o op.so
