// [interface] Wrong: the name of an op is CamelCase. This compiles; loading it is what fails.
#include "tensorflow/core/framework/op.h"

REGISTER_OP("zero_out").Input("to_zero: int32").Output("zeroed: int32");
