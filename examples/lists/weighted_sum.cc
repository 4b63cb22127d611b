// WeightedSum: any number of tensors of one shape and type, each times its
// weight, added.

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace op_by_op {
namespace {

using ::tensorflow::shape_inference::InferenceContext;
using ::tensorflow::shape_inference::ShapeHandle;

// [interface] N tensors of type T, and a vector of type T.
REGISTER_OP("WeightedSum")
    .Attr("N: int")
    .Attr("T: {half, bfloat16, float, double}")
    .Input("inputs: N * T")
    .Input("weights: T")
    .Output("sum: T")
    // [shape] All inputs have one shape, and there is a weight for each.
    .SetShapeFn([](InferenceContext* context) {
      const int64_t count = context->num_inputs() - 1;
      ShapeHandle shape = context->input(0);
      for (int64_t n = 1; n < count; ++n) {
        TF_RETURN_IF_ERROR(context->Merge(shape, context->input(n), &shape));
      }
      ShapeHandle weights;
      TF_RETURN_IF_ERROR(context->Merge(context->input(count),
                                        context->Vector(count), &weights));
      context->set_output(0, shape);
      return absl::OkStatus();
    })
    // What help() says.
    .Doc(R"doc(
Multiplies each tensor by its weight and adds the products.

inputs: Tensors of one shape.
weights: As many numbers as there are inputs.
sum: A tensor of the shape of the inputs.
)doc");

// 16-bit types are for storing; we add in float.
template <typename T>
using Accumulator =
    std::conditional_t<std::is_same_v<T, double>, double, float>;

// [kernel] Every shape is checked before any element is read.
template <typename T>
class WeightedSumOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    tensorflow::OpInputList inputs;
    OP_REQUIRES_OK(context, context->input_list("inputs", &inputs));
    const tensorflow::Tensor* weights = nullptr;
    OP_REQUIRES_OK(context, context->input("weights", &weights));
    for (int n = 1; n < inputs.size(); ++n) {
      OP_REQUIRES(context, inputs[n].shape() == inputs[0].shape(),
                  absl::InvalidArgumentError(absl::StrCat(
                      "inputs[", n, "] has shape ",
                      inputs[n].shape().DebugString(), ", expected ",
                      inputs[0].shape().DebugString(), " as inputs[0]")));
    }
    OP_REQUIRES(
        context, weights->shape() == tensorflow::TensorShape({inputs.size()}),
        absl::InvalidArgumentError(absl::StrCat(
            "weights has shape ", weights->shape().DebugString(),
            ", expected [", inputs.size(), "], a weight for each input")));
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, inputs[0].shape(), &output));

    // [blocks] Of a block, the sums stay in the cache until all tensors are in.
    T* out = output->flat<T>().data();
    std::array<Accumulator<T>, 1024> sums;
    const int64_t size = output->NumElements();
    for (int64_t begin = 0; begin < size; begin += sums.size()) {
      const int64_t length = std::min<int64_t>(sums.size(), size - begin);
      std::fill_n(sums.data(), length, Accumulator<T>(0));
      for (int n = 0; n < inputs.size(); ++n) {
        const T* in = inputs[n].flat<T>().data() + begin;
        const auto weight = static_cast<Accumulator<T>>(weights->vec<T>()(n));
        for (int64_t i = 0; i < length; ++i) {
          sums[i] += weight * static_cast<Accumulator<T>>(in[i]);
        }
      }
      for (int64_t i = 0; i < length; ++i) {
        out[begin + i] = static_cast<T>(sums[i]);
      }
    }
  }
};

// A line for each type.
#define OP_BY_OP_REGISTER(T)                                  \
  REGISTER_KERNEL_BUILDER(Name("WeightedSum")                 \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<T>("T"),        \
                          WeightedSumOp<T>);
TF_CALL_FLOAT_TYPES(OP_BY_OP_REGISTER)
#undef OP_BY_OP_REGISTER

}  // namespace
}  // namespace op_by_op
