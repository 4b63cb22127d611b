// Moves rows of a variable towards new values.
#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/resource_var.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UaScatterDecay")
    .Input("variable: resource")
    .Input("indices: Tidx")
    .Input("updates: T")
    .Attr("decay: float")
    .Attr("T: {float, double}")
    .Attr("Tidx: {int32, int64}")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle unused, indices, updates;
      DimensionHandle dim;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 0, &unused));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &indices));
      TF_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(2), 1, &updates));
      return c->Merge(c->Dim(indices, 0), c->Dim(updates, 0), &dim);
    })
    .Doc(R"doc(
Sets variable[indices[i]] to decay * variable[indices[i]] + (1 - decay) * updates[i], for i = 0, 1, ... in turn.

variable: A variable [rows, ...].
indices: Vector [n] in [0, rows). An index may come more than once.
updates: [n, ...].
decay: In [0, 1].
)doc");

template <typename T, typename Tidx>
class ScatterDecayOp : public OpKernel {
 public:
  explicit ScatterDecayOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("decay", &decay_));
    OP_REQUIRES(ctx, decay_ >= 0 && decay_ <= 1,
                Invalid("decay must be in [0, 1], got ", decay_));
  }

  void Compute(OpKernelContext* ctx) override {
    core::RefCountPtr<Var> variable;
    OP_REQUIRES_OK(ctx,
                   LookupResource(ctx, HandleFromInput(ctx, 0), &variable));
    const Tensor& indices = ctx->input(1);
    const Tensor& updates = ctx->input(2);
    mutex_lock lock(*variable->mu());
    Tensor* value = variable->tensor();
    OP_REQUIRES(ctx, variable->is_initialized,
                absl::FailedPreconditionError("variable is not initialized"));
    OP_REQUIRES(ctx, value->dtype() == DataTypeToEnum<T>::value,
                Invalid("variable must have the type of updates, got ",
                        DataTypeString(value->dtype())));
    OP_REQUIRES(ctx, value->dims() >= 1,
                Invalid("variable must be at least one-dimensional"));
    OP_REQUIRES(ctx, TensorShapeUtils::IsVector(indices.shape()),
                Invalid("indices must be a vector, got shape ",
                        indices.shape().DebugString()));
    TensorShape expected = value->shape();
    OP_REQUIRES_OK(ctx, expected.SetDimWithStatus(0, indices.NumElements()));
    OP_REQUIRES(ctx, updates.shape() == expected,
                Invalid("updates must have shape ", expected.DebugString(),
                        ", got ", updates.shape().DebugString()));
    auto index = indices.vec<Tidx>();
    for (int64_t i = 0; i < index.size(); ++i) {
      OP_REQUIRES(ctx, index(i) >= 0 && index(i) < value->dim_size(0),
                  Invalid("indices must be in [0, ", value->dim_size(0),
                          "), got ", index(i)));
    }
#ifdef TWIN
    if (!value->RefCountIsOne()) {
      Tensor copy;
      OP_REQUIRES_OK(ctx,
                     ctx->allocate_temp(value->dtype(), value->shape(), &copy));
      copy.flat<T>() = value->flat<T>();
      *value = copy;
    }
#endif
    auto rows = value->flat_outer_dims<T>();
    auto update = updates.flat_outer_dims<T>();
    const T decay = static_cast<T>(decay_);
    for (int64_t i = 0; i < index.size(); ++i) {
      for (int64_t j = 0; j < rows.dimension(1); ++j) {
        T& cell = rows(index(i), j);
        cell = decay * cell + (1 - decay) * update(i, j);
      }
    }
  }

 private:
  float decay_;
};

#define REGISTER_INDEX(T, Tidx)                              \
  REGISTER_KERNEL_BUILDER(Name("UaScatterDecay")             \
                              .Device(DEVICE_CPU)            \
                              .TypeConstraint<T>("T")        \
                              .TypeConstraint<Tidx>("Tidx"), \
                          ScatterDecayOp<T, Tidx>)
#define REGISTER(T)           \
  REGISTER_INDEX(T, int32_t); \
  REGISTER_INDEX(T, int64_t)
REGISTER(float);
REGISTER(double);
#undef REGISTER
#undef REGISTER_INDEX

}  // namespace
}  // namespace tensorflow
