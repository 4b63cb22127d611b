cat > op.cc <<'END'
namespace tensorflow {
extern const char* const DEVICE_CPU;
const char* const* device = &DEVICE_CPU;
}
END
$CXX -shared -fPIC op.cc -o op.so
# [wrong]
export LD_PRELOAD=$PWD/op.so
cat op.cc > copy.cc
# [cured]
cat op.cc > copy.cc
LD_PRELOAD="$TF/libtensorflow_framework.so.2 $PWD/op.so" python -c pass
