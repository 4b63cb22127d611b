// [interface] Wrong: `lambda` is a word of the Python language. This compiles.
#include "tensorflow/core/framework/op.h"

REGISTER_OP("KeywordName")
    .Attr("lambda: float = 0.5")
    .Input("to_shrink: float")
    .Output("shrunk: float");
