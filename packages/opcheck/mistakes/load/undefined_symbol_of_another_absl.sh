cat > old_absl.h <<'END'
namespace absl {
inline namespace lts_20240116 {
class Status;
}
}
END
cat > op.cc <<'END'
#include ABSL
namespace tensorflow {
struct OpKernelContext {
  void CtxFailure(const absl::Status&);
};
void fail(OpKernelContext* ctx, const absl::Status& status) {
  ctx->CtxFailure(status);
}
}
END
# [wrong]
$CXX -shared -fPIC $CFLAGS op.cc -o op.so $LFLAGS -DABSL='"old_absl.h"'
# [cured]
$CXX -shared -fPIC $CFLAGS op.cc -o op.so $LFLAGS -DABSL='"absl/status/status.h"'
