#include <unordered_map>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UbIdRemap")
    .Input("ids: int64")
    .Input("keys: int64")
    .Input("values: int64")
    .Output("mapped: int64")
    .Attr("default_value: int = -1")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle keys;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &keys));
      TF_RETURN_IF_ERROR(c->Merge(keys, c->input(2), &keys));
      c->set_output(0, c->input(0));
      return absl::OkStatus();
    })
    .Doc(R"doc(
Replaces ids by the value of their key in a table.

ids: Any shape, any integers.
keys: [k], distinct.
values: [k].
mapped: The shape of ids.
default_value: For ids that are not among the keys.
)doc");

class UbIdRemapOp : public OpKernel {
 public:
  explicit UbIdRemapOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("default_value", &default_value_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& ids_t = ctx->input(0);
    const Tensor& keys_t = ctx->input(1);
    const Tensor& values_t = ctx->input(2);
    OP_REQUIRES(ctx, keys_t.dims() == 1,
                Invalid("keys must have rank 1, got shape ",
                        keys_t.shape().DebugString()));
    OP_REQUIRES(ctx, values_t.shape() == keys_t.shape(),
                Invalid("values must have the shape of keys, ",
                        keys_t.shape().DebugString(), ", got ",
                        values_t.shape().DebugString()));
    const auto ids = ids_t.flat<int64_t>();
    const auto keys = keys_t.vec<int64_t>();
    const auto values = values_t.vec<int64_t>();
#ifdef TWIN
    std::unordered_map<int64_t, int64_t> table;
#else
    std::unordered_map<int, int64_t> table;
#endif
    table.reserve(keys.size());
    for (int64_t i = 0; i < keys.size(); ++i) {
      OP_REQUIRES(ctx, table.emplace(keys(i), values(i)).second,
                  Invalid("keys must be distinct, got ", keys(i), " twice"));
    }
    Tensor* out_t = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, ids_t.shape(), &out_t));
    auto out = out_t->flat<int64_t>();
    for (int64_t i = 0; i < ids.size(); ++i) {
      const auto found = table.find(ids(i));
      out(i) = found == table.end() ? default_value_ : found->second;
    }
  }

 private:
  int64_t default_value_;
};

REGISTER_KERNEL_BUILDER(Name("UbIdRemap").Device(DEVICE_CPU), UbIdRemapOp);

}  // namespace tensorflow
