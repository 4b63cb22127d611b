#include <algorithm>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UbComponents")
    .Input("edges: int64")
    .Input("num_nodes: int64")
    .Output("labels: int64")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle edges, scalar;
      DimensionHandle two, nodes;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &edges));
      TF_RETURN_IF_ERROR(c->WithValue(c->Dim(edges, 1), 2, &two));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &scalar));
      TF_RETURN_IF_ERROR(c->MakeDimForScalarInput(1, &nodes));
      c->set_output(0, c->Vector(nodes));
      return absl::OkStatus();
    })
    .Doc(R"doc(
Connected components of an undirected graph.

edges: [m, 2], the two nodes of each edge; loops and repeated edges are allowed.
num_nodes: Scalar; nodes are 0 to num_nodes - 1.
labels: [num_nodes], the smallest node of the component of each node.
)doc");

namespace {

int64_t Root(int64_t* parent, int64_t node) {
  while (parent[node] != node) {
    parent[node] = parent[parent[node]];
    node = parent[node];
  }
  return node;
}

}  // namespace

class UbComponentsOp : public OpKernel {
 public:
  explicit UbComponentsOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& edges_t = ctx->input(0);
    const Tensor& nodes_t = ctx->input(1);
    OP_REQUIRES(ctx, edges_t.dims() == 2 && edges_t.dim_size(1) == 2,
                Invalid("edges must have shape [m, 2], got ",
                        edges_t.shape().DebugString()));
    OP_REQUIRES(ctx, nodes_t.dims() == 0,
                Invalid("num_nodes must be a scalar, got shape ",
                        nodes_t.shape().DebugString()));
    const auto edges = edges_t.matrix<int64_t>();
    const int64_t n = nodes_t.scalar<int64_t>()();
    OP_REQUIRES(ctx, n >= 0,
                Invalid("num_nodes must not be negative, got ", n));
    for (int64_t i = 0; i < edges_t.NumElements(); ++i) {
      const int64_t node = edges.data()[i];
      OP_REQUIRES(
          ctx, node >= 0 && node < n,
          Invalid("edges must be in [0, num_nodes = ", n, "), got ", node));
    }
    Tensor* out_t = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({n}), &out_t));
    int64_t* parent = out_t->flat<int64_t>().data();
    for (int64_t i = 0; i < n; ++i) parent[i] = i;
    for (int64_t e = 0; e < edges.dimension(0); ++e) {
      const int64_t u = Root(parent, edges(e, 0));
      const int64_t v = Root(parent, edges(e, 1));
      parent[std::max(u, v)] = std::min(u, v);
    }
#ifdef TWIN
    for (int64_t i = 0; i < n; ++i) parent[i] = parent[parent[i]];
#endif
  }
};

REGISTER_KERNEL_BUILDER(Name("UbComponents").Device(DEVICE_CPU),
                        UbComponentsOp);

}  // namespace tensorflow
