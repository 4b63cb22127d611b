cat > op.cc <<'END'
#include <string>
namespace tensorflow {
struct OpDefBuilder {  // as TensorFlow's header declares it
  OpDefBuilder& Output(std::string spec);
};
void declare(OpDefBuilder& op) { op.Output("y: float"); }
}
END
# [wrong]
$CXX -shared -fPIC $CFLAGS op.cc -o op.so $LFLAGS -D_GLIBCXX_USE_CXX11_ABI=0
# [cured]
$CXX -shared -fPIC $CFLAGS op.cc -o op.so $LFLAGS
