// StochasticRound: to 16 bits, up or down by chance, so that the mean is right.

#include "absl/status/status.h"
#include "stochastic_rounding_op.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// [stateful] With a generator of its own.
REGISTER_OP("StochasticRound")
    .Attr("T: {float, double}")
    .Attr("dtype: {bfloat16, half} = DT_BFLOAT16")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .Input("x: T")
    .Output("rounded: dtype")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape)
    .Doc(R"doc(
Rounds each number to one of its two neighbours, the nearer one more often.

x: Any shape.
rounded: Of the same shape. Its expected value is x, to 2^-32 of a unit
  in the last place, if x is within the range of dtype.
seed: With seed2, where the random numbers begin; by chance if both are 0.
seed2: See seed.
)doc");

// [stateless] With a seed for each call.
REGISTER_OP("StatelessStochasticRound")
    .Attr("T: {float, double}")
    .Attr("dtype: {bfloat16, half} = DT_BFLOAT16")
    .Attr("Tseed: {int32, int64} = DT_INT64")
    .Input("x: T")
    .Input("seed: Tseed")
    .Output("rounded: dtype")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle seed;
      DimensionHandle two;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 1, &seed));
      TF_RETURN_IF_ERROR(context->WithValue(context->Dim(seed, 0), 2, &two));
      context->set_output(0, context->input(0));
      return absl::OkStatus();
    })
    .Doc(R"doc(
Rounds as StochasticRound does, with random numbers that follow from a seed.

x: Any shape.
seed: `[2]`. The same seed gives the same numbers.
rounded: Of the shape of x. Its expected value is that of StochasticRound.
)doc");

// One line for each pair of types.
#define REGISTER_STOCHASTIC_ROUND(T, Small)                    \
  REGISTER_KERNEL_BUILDER(Name("StochasticRound")              \
                              .Device(tensorflow::DEVICE_CPU)  \
                              .TypeConstraint<T>("T")          \
                              .TypeConstraint<Small>("dtype"), \
                          StochasticRoundOp<Cpu, T, Small>);   \
  REGISTER_KERNEL_BUILDER(Name("StatelessStochasticRound")     \
                              .Device(tensorflow::DEVICE_CPU)  \
                              .TypeConstraint<T>("T")          \
                              .TypeConstraint<Small>("dtype"), \
                          StatelessStochasticRoundOp<Cpu, T, Small>)
REGISTER_STOCHASTIC_ROUND(float, tensorflow::bfloat16);
REGISTER_STOCHASTIC_ROUND(float, Eigen::half);
REGISTER_STOCHASTIC_ROUND(double, tensorflow::bfloat16);
REGISTER_STOCHASTIC_ROUND(double, Eigen::half);

}  // namespace
}  // namespace op_by_op
