// WeightedSum: any number of tensors of one shape and type, each times its
// weight, added.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/util/work_sharder.h"

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

// On Linux, two copies of a function: one for processors with AVX2,
// one for all others. Neither fuses a product and a sum, so both give the same
// bits.
#if defined(__x86_64__) && defined(__linux__)
#define OP_BY_OP_CLONES __attribute__((target_clones("default", "avx2")))
#else
#define OP_BY_OP_CLONES
#endif

// [add] Adds the products of kCount tensors, one after the other.
template <int kCount, typename T>
OP_BY_OP_CLONES void Add(const T* const* inputs, const Accumulator<T>* weights,
                         int64_t begin, int64_t length,
                         Accumulator<T>* __restrict sums) {
  for (int64_t i = 0; i < length; ++i) {
    Accumulator<T> sum = sums[i];
    for (int k = 0; k < kCount; ++k) {
      sum += weights[k] * static_cast<Accumulator<T>>(inputs[k][begin + i]);
    }
    sums[i] = sum;
  }
}

// [blocks] The sums of a block stay in the cache until all tensors are added.
constexpr int64_t kBlock = 8192;
constexpr int64_t kBlockOfFew = 1024;  // for at most 8 tensors

template <typename T>
void AddBlock(const std::vector<const T*>& inputs,
              const std::vector<Accumulator<T>>& weights, int64_t begin,
              int64_t length, T* out) {
  alignas(64) std::array<Accumulator<T>, kBlock> sums;
  std::fill_n(sums.data(), length, Accumulator<T>(0));
  size_t n = 0;
  const auto add = [&](auto count) {  // while so many are left
    for (; n + count <= inputs.size(); n += count) {
      Add<count>(&inputs[n], &weights[n], begin, length, sums.data());
    }
  };
  add(std::integral_constant<int, 8>());
  add(std::integral_constant<int, 4>());
  add(std::integral_constant<int, 2>());
  add(std::integral_constant<int, 1>());
  std::transform(sums.data(), sums.data() + length, out + begin,
                 [](Accumulator<T> sum) { return static_cast<T>(sum); });
}

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

    // [shard] Threads share the blocks.
    std::vector<const T*> data;
    std::vector<Accumulator<T>> factors;
    const auto vector = weights->vec<T>();
    for (int n = 0; n < inputs.size(); ++n) {
      data.push_back(inputs[n].flat<T>().data());
      factors.push_back(static_cast<Accumulator<T>>(vector(n)));
    }
    T* out = output->flat<T>().data();
    const int64_t size = output->NumElements();
    const int64_t block = inputs.size() > 8 ? kBlock : kBlockOfFew;
    const int64_t blocks = (size + block - 1) / block;
    const auto& workers = *context->device()->tensorflow_cpu_worker_threads();
    tensorflow::Shard(workers.num_threads, workers.workers, blocks,
                      /*cost_per_unit=*/block * inputs.size() / 4,
                      [&](int64_t first, int64_t last) {
                        for (int64_t i = first; i < last; ++i) {
                          const int64_t begin = i * block;
                          AddBlock(data, factors, begin,
                                   std::min(block, size - begin), out);
                        }
                      });
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
