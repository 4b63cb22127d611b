// Two wrong places for the numbers of keys.

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "state.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/platform/refcount.h"
#include "tensorflow/core/platform/tstring.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::tstring;
using tensorflow::core::RefCountPtr;

using StringTable = KeyTable<tstring>;

// [member] Wrong: each node of a graph has a kernel of its own.
class MemberNumberKeysOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const auto keys = context->input(0).flat<tstring>();
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(
                                0, context->input(0).shape(), &output));
    auto numbers = output->flat<int64_t>();
    const std::lock_guard<std::mutex> lock(mutex_);
    for (int64_t i = 0; i < keys.size(); ++i) {
      numbers(i) = numbers_.try_emplace(keys(i), numbers_.size()).first->second;
    }
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int64_t> numbers_ ABSL_GUARDED_BY(mutex_);
};

// Its interface.
REGISTER_OP("MemberNumberKeys")
    .Input("keys: string")
    .Output("numbers: int64")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

REGISTER_KERNEL_BUILDER(Name("MemberNumberKeys").Device(tensorflow::DEVICE_CPU),
                        MemberNumberKeysOp);

// Wrong: there is no resource, and it does not say SetIsStateful.
REGISTER_OP("ForgetfulNumberKeys")
    .Attr("shared_name: string")
    .Input("keys: string")
    .Output("numbers: int64")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape);

// It finds the table by its name.
class ForgetfulNumberKeysOp : public tensorflow::OpKernel {
 public:
  explicit ForgetfulNumberKeysOp(OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("shared_name", &name_));
  }

  void Compute(OpKernelContext* context) override {
    tensorflow::ResourceMgr* manager = context->resource_manager();
    StringTable* table = nullptr;
    OP_REQUIRES_OK(context, manager->LookupOrCreate<StringTable>(
                                manager->default_container(), name_, &table,
                                [](StringTable** created) {
                                  *created = new StringTable;
                                  return absl::OkStatus();
                                }));
    const RefCountPtr<StringTable> held(table);
    const Tensor& keys = context->input(0);
    Tensor* numbers = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, keys.shape(), &numbers));
    table->Number(keys.flat<tstring>(), true, numbers->flat<int64_t>().data());
  }

 private:
  std::string name_;
};

REGISTER_KERNEL_BUILDER(
    Name("ForgetfulNumberKeys").Device(tensorflow::DEVICE_CPU),
    ForgetfulNumberKeysOp);

// Without SetIsStateful, but with a handle.
REGISTER_OP("SilentNumberKeys")
    .Input("table: resource")
    .Input("keys: string")
    .Output("numbers: int64");

}  // namespace
}  // namespace op_by_op
