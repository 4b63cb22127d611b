// Random points on the unit sphere.
#include <cmath>

#include "../invalid.h"
#include "absl/synchronization/mutex.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/lib/random/philox_random.h"
#include "tensorflow/core/lib/random/random.h"
#include "tensorflow/core/lib/random/random_distributions.h"

namespace tensorflow {
namespace {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UaRandomSphere")
    .Input("shape: Tshape")
    .Output("points: T")
    .Attr("dim: int >= 1")
    .Attr("seed: int = 0")
    .Attr("seed2: int = 0")
    .Attr("T: {float, double} = DT_FLOAT")
    .Attr("Tshape: {int32, int64}")
#ifdef TWIN
    .SetIsStateful()
#endif
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle shape, out;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &shape));
      TF_RETURN_IF_ERROR(c->MakeShapeFromShapeTensor(0, &shape));
      int64_t dim;
      TF_RETURN_IF_ERROR(c->GetAttr("dim", &dim));
      TF_RETURN_IF_ERROR(c->Concatenate(shape, c->Vector(dim), &out));
      c->set_output(0, out);
      return absl::OkStatus();
    })
    .Doc(R"doc(
Points drawn uniformly from the unit sphere. Each execution draws new points.

shape: Vector, the shape of the batch of points.
points: [shape..., dim], each point of length one.
dim: Number of coordinates of a point.
seed: If seed and seed2 are both 0, the seed is random.
seed2: Second part of the seed.
)doc");

template <typename T>
class RandomSphereOp : public OpKernel {
 public:
  explicit RandomSphereOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("dim", &dim_));
    int64_t seed, seed2;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("seed", &seed));
    OP_REQUIRES_OK(ctx, ctx->GetAttr("seed2", &seed2));
    if (seed == 0 && seed2 == 0) {
      seed = static_cast<int64_t>(random::New64());
      seed2 = static_cast<int64_t>(random::New64());
    }
    generator_ = random::PhiloxRandom(seed, seed2);
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& sizes = ctx->input(0);
    OP_REQUIRES(ctx, TensorShapeUtils::IsVector(sizes.shape()),
                Invalid("shape must be a vector, got shape ",
                        sizes.shape().DebugString()));
    TensorShape shape;
    for (int64_t i = 0; i < sizes.NumElements(); ++i) {
      const int64_t size = sizes.dtype() == DT_INT32 ? sizes.vec<int32_t>()(i)
                                                     : sizes.vec<int64_t>()(i);
      OP_REQUIRES(ctx, size >= 0,
                  Invalid("shape must not be negative, got ", size));
      OP_REQUIRES_OK(ctx, shape.AddDimWithStatus(size));
    }
    OP_REQUIRES_OK(ctx, shape.AddDimWithStatus(dim_));
    Tensor* points = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &points));
    auto out = points->flat_inner_dims<T>();
    random::NormalDistribution<random::PhiloxRandom, double> normal;
    constexpr int kGroup = decltype(normal)::kResultElementCount;
    absl::MutexLock lock(&mu_);
    typename decltype(normal)::ResultType group;
    int used = kGroup;
    for (int64_t r = 0; r < out.dimension(0); ++r) {
      double norm = 0;
      while (!(norm > 1e-12)) {
        norm = 0;
        for (int64_t j = 0; j < dim_; ++j) {
          if (used == kGroup) {
            group = normal(&generator_);
            used = 0;
          }
          const double v = group[used++];
          out(r, j) = static_cast<T>(v);
          norm += v * v;
        }
      }
      const T scale = static_cast<T>(1 / std::sqrt(norm));
      for (int64_t j = 0; j < dim_; ++j) out(r, j) *= scale;
    }
  }

 private:
  int64_t dim_;
  absl::Mutex mu_;
  random::PhiloxRandom generator_ TF_GUARDED_BY(mu_);
};

#define REGISTER(T)                                                     \
  REGISTER_KERNEL_BUILDER(                                              \
      Name("UaRandomSphere").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      RandomSphereOp<T>)
REGISTER(float);
REGISTER(double);
#undef REGISTER

}  // namespace
}  // namespace tensorflow
