// Differentiates SquaredRelu(3 * x) twice in a graph, without Python:
//   graph_gradients libcc_gradients.so

#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "tensorflow/c/c_api.h"
#include "tensorflow/cc/framework/grad_op_registry.h"
#include "tensorflow/cc/framework/gradients.h"
#include "tensorflow/cc/framework/scope.h"
#include "tensorflow/cc/ops/array_ops.h"
#include "tensorflow/cc/ops/const_op.h"
#include "tensorflow/cc/ops/math_ops.h"
#include "tensorflow/core/graph/node_builder.h"
#include "tensorflow/core/public/session.h"

namespace op_by_op {
namespace {

using tensorflow::Output;
using tensorflow::Scope;

// What TensorFlow's build would generate: adds a node to a graph.
Output SquaredRelu(const Scope& scope, const Output& x) {
  tensorflow::Node* node = nullptr;
  scope.UpdateStatus(tensorflow::NodeBuilder(
                         scope.GetUniqueNameForOp("SquaredRelu"), "SquaredRelu")
                         .Input(x.node(), x.index())
                         .Finalize(scope.graph(), &node));
  if (scope.ok()) scope.UpdateStatus(scope.DoShapeInference(node));
  return Output(node);
}

// [gradient] Adds the nodes of 2 * x * dy, or 0 where x <= 0, to the same
// graph.
absl::Status SquaredReluGrad(const Scope& scope,
                             const tensorflow::Operation& op,
                             const std::vector<Output>& dys,
                             std::vector<Output>* dxs) {
  const Output x = op.input(0);
  const Output once = tensorflow::ops::Mul(scope, x, dys[0]);
  const Output twice = tensorflow::ops::AddV2(scope, once, once);
  const Output zeros = tensorflow::ops::ZerosLike(scope, x);
  const Output flat = tensorflow::ops::LessEqual(scope, x, zeros);
  dxs->push_back(tensorflow::ops::SelectV2(scope, flat, zeros, twice));
  return scope.status();
}
REGISTER_GRADIENT_OP("SquaredRelu", SquaredReluGrad);

// Build the graph, add its gradients, run it.
absl::Status Run(const char* library) {
  const std::unique_ptr<TF_Status, decltype(&TF_DeleteStatus)> loaded(
      TF_NewStatus(), TF_DeleteStatus);
  TF_DeleteLibraryHandle(TF_LoadLibrary(library, loaded.get()));
  if (TF_GetCode(loaded.get()) != TF_OK) {
    return absl::NotFoundError(TF_Message(loaded.get()));
  }

  const Scope root = Scope::NewRootScope();
  const Output x = tensorflow::ops::Const(root, {-1.0f, 1.0f, 2.0f});
  const Output y = SquaredRelu(root, tensorflow::ops::Mul(root, x, 3.0f));
  std::vector<Output> dx, dx_of_infinity, ddx;
  const Output dy = tensorflow::ops::Const(root, {1.0f, 1.0f, 1.0f});
  const Output infinity = tensorflow::ops::Const(root, {INFINITY, 1.0f, 1.0f});
  TF_RETURN_IF_ERROR(AddSymbolicGradients(root, {y}, {x}, {dy}, &dx));
  TF_RETURN_IF_ERROR(
      AddSymbolicGradients(root, {y}, {x}, {infinity}, &dx_of_infinity));
  TF_RETURN_IF_ERROR(AddSymbolicGradients(root, dx, {x}, &ddx));

  tensorflow::GraphDef graph;
  TF_RETURN_IF_ERROR(root.ToGraphDef(&graph));
  const std::unique_ptr<tensorflow::Session> session(
      tensorflow::NewSession(tensorflow::SessionOptions()));
  TF_RETURN_IF_ERROR(session->Create(graph));
  std::vector<tensorflow::Tensor> results;
  TF_RETURN_IF_ERROR(session->Run(
      {}, {y.name(), dx[0].name(), dx_of_infinity[0].name(), ddx[0].name()}, {},
      &results));
  for (const tensorflow::Tensor& result : results) {
    std::puts(result.SummarizeValue(3).c_str());
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace op_by_op

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s libcc_gradients.so\n", argv[0]);
    return 2;
  }
  const absl::Status status = op_by_op::Run(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
