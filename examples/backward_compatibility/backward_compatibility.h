// What all ops of this chapter share: the shape function and the kernel.

#ifndef OP_BY_OP_BACKWARD_COMPATIBILITY_H_
#define OP_BY_OP_BACKWARD_COMPATIBILITY_H_

#include <algorithm>
#include <cmath>
#include <functional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace op_by_op {

// [shape] All inputs have one shape, and the output has it too.
inline absl::Status ShapeOfAllInputs(
    tensorflow::shape_inference::InferenceContext* context) {
  tensorflow::shape_inference::ShapeHandle shape = context->input(0);
  for (int i = 1; i < context->num_inputs(); ++i) {
    TF_RETURN_IF_ERROR(context->Merge(shape, context->input(i), &shape));
  }
  context->set_output(0, shape);
  return absl::OkStatus();
}

// [check] In eager execution no shape function has run before the kernel.
inline absl::Status InputsHaveOneShape(tensorflow::OpKernelContext& context) {
  const tensorflow::TensorShape& shape = context.input(0).shape();
  for (int i = 1; i < context.num_inputs(); ++i) {
    if (context.input(i).shape() != shape) {
      return absl::InvalidArgumentError(absl::StrCat(
          "input ", i, " must have the shape of input 0, ", shape.DebugString(),
          ", got ", context.input(i).shape().DebugString()));
    }
  }
  return absl::OkStatus();
}

// [kernel] Adds the inputs up, element by element, and applies a function to
// each sum. The function reads its attrs from the construction.
template <typename T, typename Function>
class SumThenOp : public tensorflow::OpKernel {
 public:
  explicit SumThenOp(tensorflow::OpKernelConstruction* construction)
      : OpKernel(construction), function_(construction) {}

  void Compute(tensorflow::OpKernelContext* context) override {
    OP_REQUIRES_OK(context, InputsHaveOneShape(*context));
    const tensorflow::Tensor& first = context->input(0);
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, first.shape(), &output));

    auto out = output->flat<T>();
    const auto end = out.data() + out.size();
    std::copy_n(first.flat<T>().data(), out.size(), out.data());
    for (int i = 1; i < context->num_inputs(); ++i) {
      std::transform(out.data(), end, context->input(i).flat<T>().data(),
                     out.data(), std::plus<T>());
    }
    std::transform(out.data(), end, out.data(), function_);
  }

 private:
  const Function function_;
};

// [functor] What both versions apply, the same in both.
template <typename T>
struct Positive {
  explicit Positive(tensorflow::OpKernelConstruction*) {}
  T operator()(T x) const { return x < 0 ? 0 : x; }
};

struct Keep {
  explicit Keep(tensorflow::OpKernelConstruction*) {}
  float operator()(float x) const { return x; }
};

struct Half {
  explicit Half(tensorflow::OpKernelConstruction*) {}
  float operator()(float x) const { return x / 2; }
};

struct Square {
  explicit Square(tensorflow::OpKernelConstruction*) {}
  float operator()(float x) const { return x * x; }
};

struct Negate {
  explicit Negate(tensorflow::OpKernelConstruction*) {}
  float operator()(float x) const { return -x; }
};

struct Softsign {
  explicit Softsign(tensorflow::OpKernelConstruction*) {}
  float operator()(float x) const { return x / (1 + std::abs(x)); }
};

struct AtMost {
  explicit AtMost(tensorflow::OpKernelConstruction* construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("limit", &limit));
  }
  float operator()(float x) const { return x > limit ? limit : x; }
  float limit = 0;
};

}  // namespace op_by_op

#endif  // OP_BY_OP_BACKWARD_COMPATIBILITY_H_
