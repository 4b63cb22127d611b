// Ops that keep a table of keys: make one, number keys with it, save it.

#include "state.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_handle.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/platform/refcount.h"
#include "tensorflow/core/platform/tstring.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::ResourceHandle;
using tensorflow::Tensor;
using tensorflow::core::RefCountPtr;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ScalarShape;
using tensorflow::shape_inference::ShapeHandle;

// [anonymous] A new table at each call; its handle is a scalar.
REGISTER_OP("AnonymousKeyTable")
    .Attr("T: {string, int64}")
    .Output("table: resource")
    .SetIsStateful()
    .SetShapeFn(ScalarShape)
    .Doc(R"doc(
Makes a table that numbers keys, and goes with its last handle.

T: The dtype of the keys.
)doc");

template <typename T>
class AnonymousKeyTableOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    Tensor* table = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &table));
    table->scalar<ResourceHandle>()() = ResourceHandle::MakeRefCountingHandle(
        new KeyTable<T>, context->device()->name());
  }
};

// [number] The table, and keys of its type.
REGISTER_OP("NumberKeys")
    .Attr("T: {string, int64}")
    .Attr("add: bool = true")
    .Input("table: resource")
    .Input("keys: T")
    .Output("numbers: int64")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle table;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 0, &table));
      context->set_output(0, context->input(1));
      return absl::OkStatus();
    });

// [kernel] Numbers the keys in the table of the first input.
template <typename T>
class NumberKeysOp : public tensorflow::OpKernel {
 public:
  explicit NumberKeysOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("add", &add_));
  }

  void Compute(OpKernelContext* context) override {
    RefCountPtr<KeyTable<T>> table;
    OP_REQUIRES_OK(context, FindTable(context, &table));
    const Tensor& keys = context->input(1);
    Tensor* numbers = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, keys.shape(), &numbers));
    table->Number(keys.flat<T>(), add_, numbers->flat<int64_t>().data());
  }

 private:
  bool add_;
};

// [named] A table that anyone can find by its name.
REGISTER_OP("NamedKeyTable")
    .Attr("T: {string, int64}")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Output("table: resource")
    .SetIsStateful()
    .SetShapeFn(ScalarShape);

template <typename T>
class NamedKeyTableOp : public tensorflow::ResourceHandleOp<KeyTable<T>> {
 public:
  using tensorflow::ResourceHandleOp<KeyTable<T>>::ResourceHandleOp;

  void Compute(OpKernelContext* context) override {
    tensorflow::ResourceHandleOp<KeyTable<T>>::Compute(context);
    if (!context->status().ok()) return;
    const Tensor& handle = *context->mutable_output(0);
    RefCountPtr<KeyTable<T>> table;
    OP_REQUIRES_OK(context, tensorflow::LookupOrCreateResource<KeyTable<T>>(
                                context, handle.scalar<ResourceHandle>()(),
                                &table, [](KeyTable<T>** created) {
                                  *created = new KeyTable<T>;
                                  return absl::OkStatus();
                                }));
  }
};

// All keys in the order of their numbers, and the way back.
REGISTER_OP("ReadKeys")
    .Attr("T: {string, int64}")
    .Input("table: resource")
    .Output("keys: T")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle table;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 0, &table));
      context->set_output(0, context->UnknownShapeOfRank(1));
      return absl::OkStatus();
    });

REGISTER_OP("WriteKeys")
    .Attr("T: {string, int64}")
    .Input("table: resource")
    .Input("keys: T")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle table, keys;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 0, &table));
      return context->WithRank(context->input(1), 1, &keys);
    });

// [save] Copies all keys from the table to a tensor, and back.
template <typename T>
class ReadKeysOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    RefCountPtr<KeyTable<T>> table;
    OP_REQUIRES_OK(context, FindTable(context, &table));
    std::vector<T> found = table->Keys();
    Tensor* keys = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(
                       0, {static_cast<int64_t>(found.size())}, &keys));
    std::move(found.begin(), found.end(), keys->flat<T>().data());
  }
};

template <typename T>
class WriteKeysOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    RefCountPtr<KeyTable<T>> table;
    OP_REQUIRES_OK(context, FindTable(context, &table));
    const Tensor& keys = context->input(1);
    OP_REQUIRES(
        context, keys.dims() == 1,
        absl::InvalidArgumentError(absl::StrCat(
            "keys must be a vector, got shape ", keys.shape().DebugString())));
    OP_REQUIRES_OK(context, table->SetKeys(keys.flat<T>()));
  }
};

// Each op for both types of keys.
#define OP_BY_OP_REGISTER(op, kernel)                                       \
  REGISTER_KERNEL_BUILDER(Name(op)                                          \
                              .Device(tensorflow::DEVICE_CPU)               \
                              .TypeConstraint<tensorflow::tstring>("T"),    \
                          kernel<tensorflow::tstring>);                     \
  REGISTER_KERNEL_BUILDER(                                                  \
      Name(op).Device(tensorflow::DEVICE_CPU).TypeConstraint<int64_t>("T"), \
      kernel<int64_t>)

OP_BY_OP_REGISTER("AnonymousKeyTable", AnonymousKeyTableOp);
OP_BY_OP_REGISTER("NamedKeyTable", NamedKeyTableOp);
OP_BY_OP_REGISTER("NumberKeys", NumberKeysOp);
OP_BY_OP_REGISTER("ReadKeys", ReadKeysOp);
OP_BY_OP_REGISTER("WriteKeys", WriteKeysOp);
#undef OP_BY_OP_REGISTER

}  // namespace
}  // namespace op_by_op
