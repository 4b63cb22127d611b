#include <algorithm>
#include <vector>

#include "../invalid.h"
#include "absl/synchronization/mutex.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/lib/random/philox_random.h"
#include "tensorflow/core/lib/random/random.h"

namespace tensorflow {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UbNegativeSample")
    .Input("positives: int64")
    .Output("negatives: int64")
    .Attr("num_items: int >= 1")
    .Attr("num_samples: int >= 0")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
#ifdef TWIN
    .SetIsStateful()
#endif
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle positives;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &positives));
      int64_t num_samples;
      TF_RETURN_IF_ERROR(c->GetAttr("num_samples", &num_samples));
      c->set_output(0, c->Matrix(c->Dim(positives, 0), num_samples));
      return absl::OkStatus();
    })
    .Doc(R"doc(
Draws items a user has not interacted with, uniformly and with replacement.

positives: [batch, p], items of each user; negative entries are padding.
negatives: [batch, num_samples], a fresh draw at each call.
num_items: Items are 0 to num_items - 1.
num_samples: Draws for each user.
seed: With seed2: if either is not 0, the sequence of draws is repeatable.
seed2: See seed.
)doc");

class UbNegativeSampleOp : public OpKernel {
 public:
  explicit UbNegativeSampleOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_items", &num_items_));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_samples", &num_samples_));
    int64_t seed, seed2;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("seed", &seed));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("seed2", &seed2));
    if (seed == 0 && seed2 == 0) {
      seed = random::New64();
      seed2 = random::New64();
    }
    generator_ = random::PhiloxRandom(seed, seed2);
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& positives_t = ctx->input(0);
    OP_REQUIRES(ctx, positives_t.dims() == 2,
                Invalid("positives must have rank 2, got shape ",
                        positives_t.shape().DebugString()));
    const auto positives = positives_t.matrix<int64_t>();
    const int64_t batch = positives.dimension(0);
    TensorShape out_shape;
    OP_REQUIRES_OK(
        ctx, TensorShape::BuildTensorShape({batch, num_samples_}, &out_shape));
    Tensor* out_t = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, out_shape, &out_t));
    auto out = out_t->matrix<int64_t>();

    random::PhiloxRandom generator;
    {
      // One block of four words for each draw.
      absl::MutexLock lock(&mu_);
      generator = generator_;
      generator_.Skip(batch * num_samples_);
    }
    std::vector<int64_t> taken;
    for (int64_t b = 0; b < batch; ++b) {
      taken.clear();
      for (int64_t j = 0; j < positives.dimension(1); ++j) {
        const int64_t item = positives(b, j);
        OP_REQUIRES(ctx, item < num_items_,
                    Invalid("positives must be below num_items = ", num_items_,
                            ", got ", item));
        if (item >= 0) taken.push_back(item);
      }
      std::sort(taken.begin(), taken.end());
      taken.erase(std::unique(taken.begin(), taken.end()), taken.end());
      const uint64_t free = num_items_ - static_cast<int64_t>(taken.size());
      OP_REQUIRES(
          ctx, free > 0 || num_samples_ == 0,
          Invalid("positives of row ", b, " hold all ", num_items_, " items"));
      for (int64_t s = 0; s < num_samples_; ++s) {
        const auto words = generator();
        int64_t item =
            ((static_cast<uint64_t>(words[0]) << 32) | words[1]) % free;
        for (const int64_t t : taken) {
          if (item < t) break;
          ++item;
        }
        out(b, s) = item;
      }
    }
  }

 private:
  int64_t num_items_;
  int64_t num_samples_;
  absl::Mutex mu_;
  random::PhiloxRandom generator_ TF_GUARDED_BY(mu_);
};

REGISTER_KERNEL_BUILDER(Name("UbNegativeSample").Device(DEVICE_CPU),
                        UbNegativeSampleOp);

}  // namespace tensorflow
