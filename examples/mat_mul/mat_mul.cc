// OpByOp>MatMul: the product of two matrices by Eigen's contraction.

#define EIGEN_USE_THREADS

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "unsupported/Eigen/CXX11/Tensor"

namespace op_by_op {

// [interface] Each matrix may be read as its transpose.
REGISTER_OP("OpByOp>MatMul")
    .Attr("T: {half, bfloat16, float, double}")
    .Attr("transpose_a: bool = false")
    .Attr("transpose_b: bool = false")
    .Input("a: T")
    .Input("b: T")
    .Output("c: T")
    .SetShapeFn(tensorflow::shape_inference::MatMulShape)
    .Doc(
        "Computes the product of two matrices, each of which may be "
        "transposed.");

namespace {

using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::TensorShape;
using tensorflow::TensorShapeUtils;

// A copy of 16-bit numbers as floats.
template <typename T>
absl::Status Widen(OpKernelContext* context, const Tensor& narrow,
                   Tensor* wide) {
  TF_RETURN_IF_ERROR(
      context->allocate_temp(tensorflow::DT_FLOAT, narrow.shape(), wide));
  wide->flat<float>().device(context->eigen_cpu_device()) =
      narrow.flat<T>().template cast<float>();
  return absl::OkStatus();
}

// The attrs are read once, when the kernel is made.
template <typename T>
class MatMulOp : public tensorflow::OpKernel {
 public:
  explicit MatMulOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("transpose_a", &transpose_a_));
    OP_REQUIRES_OK(context, context->GetAttr("transpose_b", &transpose_b_));
  }

  // Eager execution calls no shape function.
  void Compute(OpKernelContext* context) override {
    const Tensor& a = context->input(0);
    const Tensor& b = context->input(1);
    OP_REQUIRES(
        context, TensorShapeUtils::IsMatrix(a.shape()),
        absl::InvalidArgumentError(absl::StrCat(
            "a must be a matrix, got shape ", a.shape().DebugString())));
    OP_REQUIRES(
        context, TensorShapeUtils::IsMatrix(b.shape()),
        absl::InvalidArgumentError(absl::StrCat(
            "b must be a matrix, got shape ", b.shape().DebugString())));
    // The sizes, as the attrs say.
    const int64_t inner = a.dim_size(transpose_a_ ? 0 : 1);
    const int64_t inner_of_b = b.dim_size(transpose_b_ ? 1 : 0);
    OP_REQUIRES(
        context, inner == inner_of_b,
        absl::InvalidArgumentError(absl::StrCat(
            "a", transpose_a_ ? ", transposed," : "", " has ", inner,
            " columns, and b", transpose_b_ ? ", transposed," : "", " has ",
            inner_of_b, " rows; they must be equal. The shapes are ",
            a.shape().DebugString(), " and ", b.shape().DebugString())));

    // [compute] Numbers of 16 bits are multiplied and added as floats.
    TensorShape shape;
    const absl::Status built = TensorShape::BuildTensorShape(
        {a.dim_size(transpose_a_ ? 1 : 0), b.dim_size(transpose_b_ ? 0 : 1)},
        &shape);
    OP_REQUIRES(context, built.ok(),
                absl::InvalidArgumentError(absl::StrCat(
                    "the product of a and b is too large: ", built.message())));
    Tensor* c = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &c));
    if (shape.num_elements() == 0) return;
    if (inner == 0) {
      c->flat<T>().setZero();
    } else if constexpr (sizeof(T) == 2) {
      Tensor wide_a, wide_b, wide_c;
      OP_REQUIRES_OK(context, Widen<T>(context, a, &wide_a));
      OP_REQUIRES_OK(context, Widen<T>(context, b, &wide_b));
      OP_REQUIRES_OK(context, context->allocate_temp(tensorflow::DT_FLOAT,
                                                     shape, &wide_c));
      Multiply<float>(context, wide_a, wide_b, &wide_c);
      c->flat<T>().device(context->eigen_cpu_device()) =
          wide_c.flat<float>().template cast<T>();
    } else {
      Multiply<T>(context, a, b, c);
    }
  }

 private:
  // [contract] The pair says along which dimension of each the sums go.
  template <typename Wide>
  void Multiply(OpKernelContext* context, const Tensor& a, const Tensor& b,
                Tensor* c) const {
    using Pair = Eigen::IndexPair<Eigen::Index>;
    const Eigen::array<Pair, 1> inner = {
        Pair(transpose_a_ ? 0 : 1, transpose_b_ ? 1 : 0)};
    c->matrix<Wide>().device(context->eigen_cpu_device()) =
        a.matrix<Wide>().contract(b.matrix<Wide>(), inner);
  }

  bool transpose_a_, transpose_b_;
};

// A kernel for each type.
#define REGISTER_MAT_MUL(T)                                   \
  REGISTER_KERNEL_BUILDER(Name("OpByOp>MatMul")               \
                              .Device(tensorflow::DEVICE_CPU) \
                              .TypeConstraint<T>("T"),        \
                          MatMulOp<T>)
REGISTER_MAT_MUL(Eigen::half);
REGISTER_MAT_MUL(Eigen::bfloat16);
REGISTER_MAT_MUL(float);
REGISTER_MAT_MUL(double);

// [product] A node of the gradient: one more product.
tensorflow::FunctionDefHelper::Node Product(const std::string& name,
                                            const std::string& left,
                                            bool transpose_left,
                                            const std::string& right,
                                            bool transpose_right) {
  return {{name},
          "OpByOp>MatMul",
          {left, right},
          {{"T", "$T"},
           {"transpose_a", transpose_left},
           {"transpose_b", transpose_right}}};
}

// [gradient] Two products, chosen by the attrs.
absl::Status MatMulGrad(const tensorflow::AttrSlice& attrs,
                        tensorflow::FunctionDef* function) {
  bool a_t, b_t;
  TF_RETURN_IF_ERROR(GetNodeAttr(attrs, "transpose_a", &a_t));
  TF_RETURN_IF_ERROR(GetNodeAttr(attrs, "transpose_b", &b_t));
  *function = tensorflow::FunctionDefHelper::Create(
      "MatMulGrad", {"a: T", "b: T", "dc: T"}, {"da: T", "db: T"},
      {"T: {half, bfloat16, float, double}"},
      {a_t ? Product("to_a", "b", b_t, "dc", true)
           : Product("to_a", "dc", false, "b", !b_t),
       b_t ? Product("to_b", "dc", true, "a", a_t)
           : Product("to_b", "a", !a_t, "dc", false)},
      {{"da", "to_a:c:0"}, {"db", "to_b:c:0"}});
  return absl::OkStatus();
}
REGISTER_OP_GRADIENT("OpByOp>MatMul", MatMulGrad);

}  // namespace
}  // namespace op_by_op
