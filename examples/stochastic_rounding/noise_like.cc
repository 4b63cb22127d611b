// NoiseLike: random numbers by TensorFlow's own Philox, on all cores.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/lib/random/philox_random.h"
#include "tensorflow/core/lib/random/random_distributions.h"
#include "tensorflow/core/util/work_sharder.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::random::PhiloxRandom;
using tensorflow::random::UniformDistribution;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

constexpr int64_t kGroupCycles = 40;

REGISTER_OP("NoiseLike")
    .Input("x: float")
    .Input("seed: int64")
    .Output("noise: float")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle seed;
      TF_RETURN_IF_ERROR(
          context->Merge(context->input(1), context->Vector(2), &seed));
      context->set_output(0, context->input(0));
      return absl::OkStatus();
    });

// [fill] Groups from begin to end, of four numbers each; of two for double.
using Uniform = UniformDistribution<PhiloxRandom, float>;
constexpr int64_t kGroup = Uniform::kResultElementCount;

void Fill(PhiloxRandom philox, int64_t begin, int64_t end, float* y,
          int64_t size) {
  philox.Skip(begin);
  Uniform uniform;
  for (int64_t group = begin; group < end; ++group) {
    const auto numbers = uniform(&philox);
    const int64_t first = kGroup * group;
    for (int64_t i = first; i < std::min(first + kGroup, size); ++i) {
      y[i] = numbers[i - first];
    }
  }
}

// [noise] The seed is an input: the kernel keeps nothing.
class NoiseLikeOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor &x = context->input(0), &seed = context->input(1);
    OP_REQUIRES(context, seed.dims() == 1 && seed.dim_size(0) == 2,
                absl::InvalidArgumentError(
                    absl::StrCat("seed must have shape [2], got shape ",
                                 seed.shape().DebugString())));
    const PhiloxRandom philox(seed.vec<int64_t>()(0), seed.vec<int64_t>()(1));
    Tensor* noise = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &noise));
    float* y = noise->flat<float>().data();
    const int64_t size = noise->NumElements();
    const auto& workers = *context->device()->tensorflow_cpu_worker_threads();
    tensorflow::Shard(
        workers.num_threads, workers.workers, (size + kGroup - 1) / kGroup,
        kGroupCycles,
        [&](int64_t begin, int64_t end) { Fill(philox, begin, end, y, size); });
  }
};

REGISTER_KERNEL_BUILDER(Name("NoiseLike").Device(tensorflow::DEVICE_CPU),
                        NoiseLikeOp);

}  // namespace
}  // namespace op_by_op
