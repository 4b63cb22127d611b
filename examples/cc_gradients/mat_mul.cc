// OpByOp>MatMul: a matrix product whose gradient is made of matrix products.

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace op_by_op {
namespace {

using tensorflow::FunctionDefHelper;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// [interface] TensorFlow has a MatMul already, hence the prefix.
REGISTER_OP("OpByOp>MatMul")
    .Attr("transpose_a: bool = false")
    .Attr("transpose_b: bool = false")
    .Attr("T: {float, double}")
    .Input("a: T")
    .Input("b: T")
    .Output("product: T")
    // [shape] A transposed matrix swaps its dimensions 0 and 1.
    .SetShapeFn([](InferenceContext* context) {
      bool transpose_a, transpose_b;
      TF_RETURN_IF_ERROR(context->GetAttr("transpose_a", &transpose_a));
      TF_RETURN_IF_ERROR(context->GetAttr("transpose_b", &transpose_b));
      ShapeHandle a, b;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 2, &a));
      TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 2, &b));
      tensorflow::shape_inference::DimensionHandle inner;
      TF_RETURN_IF_ERROR(context->Merge(context->Dim(a, transpose_a ? 0 : 1),
                                        context->Dim(b, transpose_b ? 1 : 0),
                                        &inner));
      context->set_output(
          0, context->Matrix(context->Dim(a, transpose_a ? 1 : 0),
                             context->Dim(b, transpose_b ? 0 : 1)));
      return absl::OkStatus();
    })
    .Doc("Multiplies two matrices, each of them transposed before if asked.");

// [kernel] contract sums over one dimension of a and one of b.
template <typename T>
class MatMulOp : public tensorflow::OpKernel {
 public:
  explicit MatMulOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("transpose_a", &transpose_a_));
    OP_REQUIRES_OK(context, context->GetAttr("transpose_b", &transpose_b_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& a = context->input(0);
    const tensorflow::Tensor& b = context->input(1);
    OP_REQUIRES(
        context, a.dims() == 2 && b.dims() == 2,
        absl::InvalidArgumentError(absl::StrCat(
            "a and b must be matrices, got shapes ", a.shape().DebugString(),
            " and ", b.shape().DebugString())));
    const int inner_a = transpose_a_ ? 0 : 1;
    const int inner_b = transpose_b_ ? 1 : 0;
    OP_REQUIRES(context, a.dim_size(inner_a) == b.dim_size(inner_b),
                absl::InvalidArgumentError(absl::StrCat(
                    "dimension ", inner_a, " of a must equal dimension ",
                    inner_b, " of b, got shapes ", a.shape().DebugString(),
                    " and ", b.shape().DebugString())));
    tensorflow::Tensor* product = nullptr;
    OP_REQUIRES_OK(
        context,
        context->allocate_output(
            0, {a.dim_size(1 - inner_a), b.dim_size(1 - inner_b)}, &product));
    if (product->NumElements() == 0) return;
    if (a.NumElements() == 0) {
      product->flat<T>().setZero();  // sums of nothing
      return;
    }
    const Eigen::array<Eigen::IndexPair<int>, 1> inner = {
        Eigen::IndexPair<int>(inner_a, inner_b)};
    product->matrix<T>() = a.matrix<T>().contract(b.matrix<T>(), inner);
  }

 private:
  bool transpose_a_, transpose_b_;
};

REGISTER_KERNEL_BUILDER(Name("OpByOp>MatMul")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<float>("T"),
                        MatMulOp<float>);
REGISTER_KERNEL_BUILDER(Name("OpByOp>MatMul")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<double>("T"),
                        MatMulOp<double>);

// [gradient] Which product it is depends on the attrs, so C++ decides.
FunctionDefHelper::Node Product(std::string name, std::string left,
                                bool transpose_left, std::string right,
                                bool transpose_right) {
  return {{std::move(name)},
          "OpByOp>MatMul",
          {std::move(left), std::move(right)},
          {{"T", "$T"},
           {"transpose_a", transpose_left},
           {"transpose_b", transpose_right}}};
}

absl::Status MatMulGrad(const tensorflow::AttrSlice& attrs,
                        tensorflow::FunctionDef* function) {
  bool t_a, t_b;
  TF_RETURN_IF_ERROR(tensorflow::GetNodeAttr(attrs, "transpose_a", &t_a));
  TF_RETURN_IF_ERROR(tensorflow::GetNodeAttr(attrs, "transpose_b", &t_b));
  *function = FunctionDefHelper::Create(
      "OpByOpMatMulGrad", {"a: T", "b: T", "dy: T"}, {"da: T", "db: T"},
      {"T: {float, double}"},
      {
          t_a ? Product("for_a", "b", t_b, "dy", true)
              : Product("for_a", "dy", false, "b", !t_b),
          t_b ? Product("for_b", "dy", true, "a", t_a)
              : Product("for_b", "a", !t_a, "dy", false),
      },
      {{"da", "for_a:product:0"}, {"db", "for_b:product:0"}});
  return absl::OkStatus();
}
REGISTER_OP_GRADIENT("OpByOp>MatMul", MatMulGrad);

}  // namespace
}  // namespace op_by_op
