// MaxPool of floats under the name OP_NAME, which bench/max_pool.py compiles
// without the one or the other thing that makes it fast.

#include "../examples/max_pool/max_pool.h"

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"

namespace op_by_op {
namespace {

REGISTER_OP(OP_NAME)
    .Attr("ksize: list(int) >= 4")
    .Attr("strides: list(int) >= 4")
    .Attr("padding: {'SAME', 'VALID'}")
    .Input("input: float")
    .Output("output: float")
    .SetShapeFn(tensorflow::shape_inference::MaxPoolShape);
REGISTER_KERNEL_BUILDER(Name(OP_NAME).Device(tensorflow::DEVICE_CPU),
                        PoolOp<Larger, float>);

}  // namespace
}  // namespace op_by_op
