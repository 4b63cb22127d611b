// Whether a table still exists, for those who hold no handle of it.

#include <cstdint>
#include <mutex>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "state.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_base.h"
#include "tensorflow/core/platform/refcount.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::shape_inference::ScalarShape;

// Weak pointers to tables, which keep none of them alive.
class Watch {
 public:
  int64_t Add(tensorflow::ResourceBase* table) {
    const std::lock_guard<std::mutex> lock(mutex_);
    tables_.emplace_back(table);
    return tables_.size() - 1;
  }

  absl::Status IsAlive(int64_t number, bool* alive) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (number < 0 || number >= static_cast<int64_t>(tables_.size())) {
      return absl::InvalidArgumentError(
          absl::StrCat("number must be of a table, got ", number));
    }
    *alive = tables_[number].GetNewRef() != nullptr;
    return absl::OkStatus();
  }

 private:
  std::mutex mutex_;
  std::vector<tensorflow::core::WeakPtr<tensorflow::ResourceBase>> tables_
      ABSL_GUARDED_BY(mutex_);
};

Watch& TheWatch() {
  static auto* const watch = new Watch;
  return *watch;
}

REGISTER_OP("WatchTable")
    .Attr("T: {string, int64}")
    .Input("table: resource")
    .Output("number: int64")
    .SetIsStateful()
    .SetShapeFn(ScalarShape);

template <typename T>
class WatchTableOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    tensorflow::core::RefCountPtr<KeyTable<T>> table;
    OP_REQUIRES_OK(context, FindTable(context, &table));
    Tensor* number = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &number));
    number->scalar<int64_t>()() = TheWatch().Add(table.get());
  }
};

REGISTER_OP("TableIsAlive")
    .Input("number: int64")
    .Output("alive: bool")
    .SetIsStateful()
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      tensorflow::shape_inference::ShapeHandle number;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 0, &number));
      context->set_output(0, number);
      return absl::OkStatus();
    });

class TableIsAliveOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& number = context->input(0);
    OP_REQUIRES(context, number.dims() == 0,
                absl::InvalidArgumentError(
                    absl::StrCat("number must be a scalar, got shape ",
                                 number.shape().DebugString())));
    Tensor* alive = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &alive));
    OP_REQUIRES_OK(context, TheWatch().IsAlive(number.scalar<int64_t>()(),
                                               &alive->scalar<bool>()()));
  }
};

REGISTER_KERNEL_BUILDER(Name("WatchTable")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<tensorflow::tstring>("T"),
                        WatchTableOp<tensorflow::tstring>);
REGISTER_KERNEL_BUILDER(Name("WatchTable")
                            .Device(tensorflow::DEVICE_CPU)
                            .TypeConstraint<int64_t>("T"),
                        WatchTableOp<int64_t>);
REGISTER_KERNEL_BUILDER(Name("TableIsAlive").Device(tensorflow::DEVICE_CPU),
                        TableIsAliveOp);

}  // namespace
}  // namespace op_by_op
