// TableSize: the solution of the chapter's exercise.

#include <cstdint>

#include "absl/status/status.h"
#include "state.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/platform/refcount.h"
#include "tensorflow/core/platform/tstring.h"

namespace op_by_op {
namespace {

using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// [interface] The handle alone would make it stateful, too.
REGISTER_OP("TableSize")
    .Attr("T: {string, int64}")
    .Input("table: resource")
    .Output("size: int64")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle table;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 0, &table));
      context->set_output(0, context->Scalar());
      return absl::OkStatus();
    });

// [kernel] The type of the keys is that of the table.
template <typename T>
class TableSizeOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    tensorflow::core::RefCountPtr<KeyTable<T>> table;
    OP_REQUIRES_OK(context, FindTable(context, &table));
    tensorflow::Tensor* size = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &size));
    size->scalar<int64_t>()() = table->Size();
  }
};

REGISTER_KERNEL_BUILDER(Name("TableSize")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<tensorflow::tstring>("T"),
                        TableSizeOp<tensorflow::tstring>);
REGISTER_KERNEL_BUILDER(Name("TableSize")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<int64_t>("T"),
                        TableSizeOp<int64_t>);

}  // namespace
}  // namespace op_by_op
