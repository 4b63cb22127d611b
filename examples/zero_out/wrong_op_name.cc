// Wrong: the name is not CamelCase. This compiles.
#include "tensorflow/core/framework/op.h"

REGISTER_OP("zero_out").Input("to_zero: int32").Output("zeroed: int32");
