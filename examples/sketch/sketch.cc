// Ops that make a sketch of keys and estimate how many different ones it saw.

#include "sketch.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "absl/numeric/bits.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor_util.h"
#include "tensorflow/core/framework/variant.h"
#include "tensorflow/core/framework/variant_op_registry.h"

namespace op_by_op {

using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::TensorShape;
using tensorflow::Variant;

// For the shape function and for the kernel.
template <typename Context>
absl::Status GetPrecision(Context* context, int* precision) {
  TF_RETURN_IF_ERROR(context->GetAttr("precision", precision));
  if (4 <= *precision && *precision <= 16) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("precision must be from 4 to 16, got ", *precision));
}

// [interface] A sketch is a scalar of type variant.
REGISTER_OP("SketchHashes")
    .Attr("precision: int = 12")
    .Input("hashes: uint64")
    .Output("sketch: variant")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      int precision;
      TF_RETURN_IF_ERROR(GetPrecision(context, &precision));
      return tensorflow::shape_inference::ScalarShape(context);
    });

REGISTER_OP("CountSketch")
    .Input("sketch: variant")
    .Output("count: double")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

// [kernel] Makes the registers, and a tensor with the sketch in it.
class SketchHashesOp : public tensorflow::OpKernel {
 public:
  explicit SketchHashesOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, GetPrecision(context, &precision_));
  }

  void Compute(OpKernelContext* context) override {
    Sketch sketch;
    OP_REQUIRES_OK(context,
                   context->allocate_temp(tensorflow::DT_UINT8,
                                          TensorShape({1 << precision_}),
                                          &sketch.registers));
    auto registers = sketch.registers.vec<uint8_t>();
    registers.setZero();
    // A one behind the last bit ends a rest of zeros.
    const uint64_t end = uint64_t{1} << (precision_ - 1);
    const auto hashes = context->input(0).flat<uint64_t>();
    for (int64_t i = 0; i < hashes.size(); ++i) {
      const uint64_t place = hashes(i) >> (64 - precision_);
      const uint64_t rest = hashes(i) << precision_ | end;
      const uint8_t zeros = absl::countl_zero(rest);
      registers(place) = std::max<uint8_t>(registers(place), zeros + 1);
    }
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &output));
    output->scalar<Variant>()() = std::move(sketch);
  }

 private:
  int precision_;
};

// Estimates of Ertl, https://arxiv.org/abs/1702.01284, section 4.
double EmptyShare(double x) {
  if (x == 1) return INFINITY;
  double sum = x, before = 0;
  for (double power = 1; sum != before; power *= 2) {
    before = sum;
    x *= x;
    sum += x * power;
  }
  return sum;
}

double Estimate(const Sketch& sketch) {
  const auto registers = sketch.registers.vec<uint8_t>();
  const double size = registers.size();
  double empty = 0, sum = 0;
  for (int64_t i = 0; i < registers.size(); ++i) {
    if (registers(i) == 0) {
      ++empty;
    } else {
      sum += std::ldexp(1.0, -registers(i));
    }
  }
  return size * size /
         (2 * std::log(2.0) * (sum + size * EmptyShare(empty / size)));
}

// [count] A variant may hold anything, so ask before you use it.
class CountSketchOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& sketches = context->input(0);
    Tensor* counts = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, sketches.shape(), &counts));
    for (int64_t i = 0; i < sketches.NumElements(); ++i) {
      const Variant& variant = sketches.flat<Variant>()(i);
      const Sketch* sketch = variant.get<Sketch>();
      OP_REQUIRES(context, sketch != nullptr,
                  absl::InvalidArgumentError(absl::StrCat(
                      "sketch must hold what SketchHashes makes, got ",
                      variant.DebugString())));
      counts->flat<double>()(i) = Estimate(*sketch);
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("SketchHashes").Device(tensorflow::DEVICE_CPU),
                        SketchHashesOp);
REGISTER_KERNEL_BUILDER(Name("CountSketch").Device(tensorflow::DEVICE_CPU),
                        CountSketchOp);

// [merge] What TensorFlow's AddN and ZerosLike do with sketches.
absl::Status Merge(OpKernelContext* context, const Sketch& a, const Sketch& b,
                   Sketch* sum) {
  if (a.registers.shape() != b.registers.shape()) {
    return absl::InvalidArgumentError(
        absl::StrCat("sketches must have the same precision, got ",
                     a.DebugString(), " and ", b.DebugString()));
  }
  TF_RETURN_IF_ERROR(context->allocate_temp(
      tensorflow::DT_UINT8, a.registers.shape(), &sum->registers));
  sum->registers.vec<uint8_t>() =
      a.registers.vec<uint8_t>().cwiseMax(b.registers.vec<uint8_t>());
  return absl::OkStatus();
}

absl::Status Empty(OpKernelContext* context, const Sketch& like,
                   Sketch* empty) {
  TF_RETURN_IF_ERROR(context->allocate_temp(
      tensorflow::DT_UINT8, like.registers.shape(), &empty->registers));
  empty->registers.vec<uint8_t>().setZero();
  return absl::OkStatus();
}

using tensorflow::TypeIndex;  // for the macros
REGISTER_UNARY_VARIANT_BINARY_OP_FUNCTION(tensorflow::ADD_VARIANT_BINARY_OP,
                                          tensorflow::DEVICE_CPU, Sketch,
                                          Merge);
REGISTER_UNARY_VARIANT_UNARY_OP_FUNCTION(
    tensorflow::ZEROS_LIKE_VARIANT_UNARY_OP, tensorflow::DEVICE_CPU, Sketch,
    Empty);

// [decode] Which class reads the bytes of that name.
REGISTER_UNARY_VARIANT_DECODE_FUNCTION(Sketch, "op_by_op::Sketch");

// [copy] To a GPU, back, and between two.
absl::Status Copy(
    const Sketch& from, Sketch* to,
    const tensorflow::UnaryVariantOpRegistry::AsyncTensorDeviceCopyFn& copy) {
  return copy(from.registers, &to->registers);
}

}  // namespace op_by_op

namespace tensorflow {  // where the macro looks for its own names

// [devices] One line for each pair of devices.
INTERNAL_REGISTER_UNARY_VARIANT_DEVICE_COPY_FUNCTION(
    op_by_op::Sketch, VariantDeviceCopyDirection::HOST_TO_DEVICE,
    op_by_op::Copy);
INTERNAL_REGISTER_UNARY_VARIANT_DEVICE_COPY_FUNCTION(
    op_by_op::Sketch, VariantDeviceCopyDirection::DEVICE_TO_HOST,
    op_by_op::Copy);
INTERNAL_REGISTER_UNARY_VARIANT_DEVICE_COPY_FUNCTION(
    op_by_op::Sketch, VariantDeviceCopyDirection::DEVICE_TO_DEVICE,
    op_by_op::Copy);

}  // namespace tensorflow

// For Python's ctypes: a copy as TensorFlow makes it, here to other memory
// of the host.
extern "C" __attribute__((visibility("default"))) int CopyLikeADevice(
    int direction) {
  op_by_op::Sketch sketch;
  sketch.registers = tensorflow::Tensor(tensorflow::DT_UINT8, {16});
  auto registers = sketch.registers.vec<uint8_t>();
  for (int i = 0; i < 16; ++i) registers(i) = i;
  tensorflow::Variant copied;
  const absl::Status status = tensorflow::VariantDeviceCopy(
      static_cast<tensorflow::VariantDeviceCopyDirection>(direction), sketch,
      &copied, [](const tensorflow::Tensor& from, tensorflow::Tensor* to) {
        *to = tensorflow::tensor::DeepCopy(from);
        return absl::OkStatus();
      });
  const auto* copy = copied.get<op_by_op::Sketch>();
  if (!status.ok() || copy == nullptr) return 0;
  return copy->registers.tensor_data() == sketch.registers.tensor_data() &&
         copy->registers.data() != sketch.registers.data();
}
