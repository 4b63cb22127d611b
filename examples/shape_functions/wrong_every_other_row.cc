// EveryOtherRow with a shape function that tells a lie.

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"

namespace op_by_op {
namespace {

using tensorflow::shape_inference::UnchangedShape;

// [lie] Wrong: the output has about half of the rows.
REGISTER_OP("LyingEveryOtherRow")
    .Input("rows: float")
    .Output("every_other: float")
    .SetShapeFn(UnchangedShape);

}  // namespace
}  // namespace op_by_op
