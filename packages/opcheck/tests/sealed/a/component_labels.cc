// Connected components of an undirected graph.
#include <algorithm>
#include <numeric>
#include <vector>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UaComponentLabels")
    .Input("edges: int64")
    .Output("labels: int64")
    .Output("num_components: int64")
    .Attr("num_nodes: int >= 0")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle edges;
      DimensionHandle unused;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &edges));
      TF_RETURN_IF_ERROR(c->WithValue(c->Dim(edges, 1), 2, &unused));
      int64_t num_nodes;
      TF_RETURN_IF_ERROR(c->GetAttr("num_nodes", &num_nodes));
      c->set_output(0, c->Vector(num_nodes));
      c->set_output(1, c->Scalar());
      return absl::OkStatus();
    })
    .Doc(R"doc(
Labels every node of an undirected graph with the smallest node of its connected component.

edges: [num_edges, 2], the nodes that each edge joins, in [0, num_nodes). Loops and repeated edges are allowed.
labels: [num_nodes].
num_components: Scalar.
num_nodes: Number of nodes.
)doc");

class ComponentLabelsOp : public OpKernel {
 public:
  explicit ComponentLabelsOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_nodes", &num_nodes_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& edges = ctx->input(0);
    OP_REQUIRES(ctx, edges.dims() == 2 && edges.dim_size(1) == 2,
                Invalid("edges must have shape [num_edges, 2], got ",
                        edges.shape().DebugString()));
    auto edge = edges.matrix<int64_t>();
    Tensor *labels = nullptr, *num_components = nullptr;
    OP_REQUIRES_OK(ctx,
                   ctx->allocate_output(0, TensorShape({num_nodes_}), &labels));
    OP_REQUIRES_OK(ctx,
                   ctx->allocate_output(1, TensorShape({}), &num_components));
    std::vector<int64_t> parent(num_nodes_);
    std::iota(parent.begin(), parent.end(), 0);
    const auto find = [&parent](int64_t v) {
      while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
      }
      return v;
    };
    int64_t count = num_nodes_;
    for (int64_t e = 0; e < edge.dimension(0); ++e) {
      const int64_t u = edge(e, 0), v = edge(e, 1);
      OP_REQUIRES(ctx, u >= 0 && u < num_nodes_ && v >= 0 && v < num_nodes_,
                  Invalid("edges must hold nodes in [0, ", num_nodes_,
                          "), got [", u, ", ", v, "]"));
      const int64_t a = find(u), b = find(v);
      if (a == b) continue;
      parent[std::max(a, b)] = std::min(a, b);
      --count;
    }
    auto label = labels->vec<int64_t>();
#ifdef TWIN
    for (int64_t v = 0; v < num_nodes_; ++v) label(v) = find(v);
#else
    std::copy(parent.begin(), parent.end(), label.data());
#endif
    num_components->scalar<int64_t>()() = count;
  }

 private:
  int64_t num_nodes_;
};

REGISTER_KERNEL_BUILDER(Name("UaComponentLabels").Device(DEVICE_CPU),
                        ComponentLabelsOp);

}  // namespace
}  // namespace tensorflow
