// EigenTable and InEigen: lines of NumPy and the same in Eigen, to be compared.

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "unsupported/Eigen/CXX11/Tensor"

namespace op_by_op {
namespace {

using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using Matrix = tensorflow::TTypes<float>::ConstMatrix;
using Vector = tensorflow::TTypes<float>::ConstVec;
using Eigen::Index;

// [names] What is short in the table.
template <int kCount>
using Sizes = Eigen::array<Index, kCount>;
template <int kAxis>
using Axis = Eigen::IndexList<Eigen::type2index<kAxis>>;
template <int kCount>
using Flags = Eigen::array<bool, kCount>;
using Pair = Eigen::IndexPair<int>;
using Around = std::pair<int, int>;

// Assigns an expression to the output, which gets its shape.
template <typename Expression>
void Evaluate(OpKernelContext* context, const Expression& expression) {
  using Device = Eigen::DefaultDevice;
  constexpr int kRank = Eigen::internal::traits<Expression>::NumDimensions;
  const Device device;
  const auto floats = expression.template cast<float>();
  const Eigen::TensorEvaluator<const decltype(floats), Device> evaluator(
      floats, device);
  tensorflow::TensorShape shape;
  for (int d = 0; d < kRank; ++d) shape.AddDim(evaluator.dimensions()[d]);
  Tensor* output = nullptr;
  OP_REQUIRES_OK(context, context->allocate_output(0, shape, &output));
  output->tensor<float, kRank>().device(device) = floats;
}

struct Row {
  std::string group, numpy, eigen;
  std::function<void(OpKernelContext*, Matrix, Matrix, Vector)> run;
};

// The text of an expression, and what computes it.
#define ROW(GROUP, NUMPY, ...)                                            \
  Row {                                                                   \
    GROUP, NUMPY, #__VA_ARGS__,                                           \
        [](OpKernelContext* context, [[maybe_unused]] Matrix x,           \
           [[maybe_unused]] Matrix y,                                     \
           [[maybe_unused]] Vector v) { Evaluate(context, __VA_ARGS__); } \
  }

const std::vector<Row>& Rows() {
  // clang-format off
  static const auto* const rows = new std::vector<Row>{
      ROW("Element by element", "x + y", x + y),
      ROW("Element by element", "2 * x - 1", 2.0f * x - 1.0f),
      ROW("Element by element", "np.exp(x)", x.exp()),
      ROW("Element by element", "np.square(x)", x.square()),
      ROW("Element by element", "x**3", x.pow(3.0f)),
      ROW("Element by element", "np.maximum(x, y)", x.cwiseMax(y)),
      ROW("Element by element", "np.maximum(x, 0)", x.cwiseMax(0.0f)),
      ROW("Element by element", "np.where(x < y, x, -y)", (x < y).select(x, -y)),
      ROW("Element by element", "np.where(x < 0, 0, y)", (x < 0.0f).select(y.constant(0), y)),
      ROW("Element by element", "x.astype(np.int32)", x.cast<int32_t>()),
      ROW("Element by element", "np.floor(x / 2) * 2", x.unaryExpr([](float a) { return std::floor(a / 2) * 2; })),
      ROW("Reduce", "x.sum()", x.sum()),
      ROW("Reduce", "x.sum(axis=1)", x.sum(Axis<1>())),
      ROW("Reduce", "x.mean(axis=0)", x.sum(Axis<0>()) / static_cast<float>(x.dimension(0))),
      ROW("Reduce", "x.max(axis=1)", x.maximum(Axis<1>())),
      ROW("Reduce", "x.argmax(axis=1)", x.argmax(1)),
      ROW("Reduce", "(x > 4).any(axis=1)", (x > 4.0f).any(Axis<1>())),
      ROW("Reduce", "np.cumsum(x, axis=1)", x.cumsum(1)),
      ROW("Cut and move", "x[1]", x.chip<0>(1)),
      ROW("Cut and move", "x[:, 1]", x.chip<1>(1)),
      ROW("Cut and move", "x[0:2, 1:3]", x.slice(Sizes<2>{0, 1}, Sizes<2>{2, 2})),
      ROW("Cut and move", "x[:, ::2]", x.stride(Sizes<2>{1, 2})),
      ROW("Cut and move", "x[::-1]", x.reverse(Flags<2>{true, false})),
      ROW("Cut and move", "x.reshape(3, 2)", x.reshape(Sizes<2>{3, 2})),
      ROW("Cut and move", "x.T", x.shuffle(Sizes<2>{1, 0})),
      ROW("Cut and move", "np.concatenate([x, y])", x.concatenate(y, 0)),
      ROW("Cut and move", "np.pad(x, [(0, 0), (1, 2)])", x.pad(Eigen::array<Around, 2>{Around(0, 0), Around(1, 2)})),
      ROW("Repeat", "np.tile(x, (2, 1))", x.broadcast(Sizes<2>{2, 1})),
      ROW("Repeat", "x + v", x + v.reshape(Sizes<2>{1, 3}).broadcast(Sizes<2>{2, 1})),
      ROW("Repeat", "x - x[:, :1]", x - x.slice(Sizes<2>{0, 0}, Sizes<2>{2, 1}).broadcast(Sizes<2>{1, 3})),
      ROW("Multiply", "x @ y.T", x.contract(y, Eigen::array<Pair, 1>{Pair(1, 1)})),
      ROW("Multiply", "x @ v", x.contract(v, Eigen::array<Pair, 1>{Pair(1, 0)})),
      ROW("Fill", "np.full_like(x, 7)", x.constant(7.0f)),
      ROW("Fill", "10 * np.arange(2)[:, None] + np.arange(3)", x.generate([](const Sizes<2>& at) { return 10.0f * at[0] + at[1]; })),
  };
  // clang-format on
  return *rows;
}

REGISTER_OP("EigenTable")
    .Output("rows: string")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      context->set_output(0, context->Matrix(context->UnknownDim(), 3));
      return absl::OkStatus();
    })
    .Doc(
        "Of each row of the table: its group, and the line in both languages.");

class EigenTableOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const int64_t count = Rows().size();
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {count, 3}, &output));
    auto texts = output->matrix<tensorflow::tstring>();
    for (int64_t i = 0; i < count; ++i) {
      texts(i, 0) = Rows()[i].group;
      texts(i, 1) = Rows()[i].numpy;
      texts(i, 2) = Rows()[i].eigen;
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("EigenTable").Device(tensorflow::DEVICE_CPU),
                        EigenTableOp);

REGISTER_OP("InEigen")
    .Attr("row: int >= 0")
    .Input("x: float")
    .Input("y: float")
    .Input("v: float")
    .Output("result: float")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      context->set_output(0, context->UnknownShape());
      return absl::OkStatus();
    })
    .Doc(R"doc(
Computes a row of the table.

x: `[2, 3]`.
y: `[2, 3]`.
v: `[3]`.
result: What the expression gives, as floats.
row: Which row, counted from 0.
)doc");

class InEigenOp : public tensorflow::OpKernel {
 public:
  explicit InEigenOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("row", &row_));
    const int64_t count = Rows().size();
    OP_REQUIRES(context, row_ < count,
                absl::InvalidArgumentError(
                    absl::StrCat("row must be below ", count, ", got ", row_)));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor &x = context->input(0), &y = context->input(1),
                 &v = context->input(2);
    const tensorflow::TensorShape matrix({2, 3}), vector({3});
    OP_REQUIRES(
        context,
        x.shape() == matrix && y.shape() == matrix && v.shape() == vector,
        absl::InvalidArgumentError(absl::StrCat(
            "x, y and v must have the shapes [2,3], [2,3] and [3], got ",
            x.shape().DebugString(), ", ", y.shape().DebugString(), " and ",
            v.shape().DebugString())));
    Rows()[row_].run(context, x.matrix<float>(), y.matrix<float>(),
                     v.vec<float>());
  }

 private:
  int64_t row_;
};

REGISTER_KERNEL_BUILDER(Name("InEigen").Device(tensorflow::DEVICE_CPU),
                        InEigenOp);

}  // namespace
}  // namespace op_by_op
