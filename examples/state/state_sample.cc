// A resource with random numbers and a limit: a random sample of all values
// seen.

#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_base.h"
#include "tensorflow/core/framework/resource_handle.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/lib/random/philox_random.h"
#include "tensorflow/core/platform/refcount.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::ResourceHandle;
using tensorflow::Tensor;
using tensorflow::core::RefCountPtr;
using tensorflow::random::PhiloxRandom;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// [sample] Each value draws a random priority; the smallest ones stay.
class Sample : public tensorflow::ResourceBase {
 public:
  Sample(int64_t capacity, int64_t seed) : capacity_(capacity), seed_(seed) {}

  void Add(absl::Span<const float> values) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (float value : values) {
      PhiloxRandom random(seed_);
      random.Skip(seen_++);  // the numbers of this value, whatever came before
      const PhiloxRandom::ResultType words = random();
      const int64_t priority = int64_t{words[0]} << 31 | words[1] >> 1;
      const bool full = static_cast<int64_t>(kept_.size()) == capacity_;
      if (full && priority >= kept_.rbegin()->first) continue;
      kept_.emplace(priority, value);
      if (full) kept_.erase(std::prev(kept_.end()));
    }
  }

  // [limit] Goes on from a checkpoint. A smaller sample drops values, a larger
  // one is an error.
  absl::Status Restore(std::multimap<int64_t, float> kept, int64_t seen,
                       int64_t seed) {
    const int64_t size = kept.size();
    if (size < capacity_ && size < seen) {
      return absl::InvalidArgumentError(
          absl::StrCat("a sample of ", capacity_, " cannot go on from ", size,
                       " of ", seen, " values: the others are gone"));
    }
    while (static_cast<int64_t>(kept.size()) > capacity_) {
      kept.erase(std::prev(kept.end()));
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    kept_ = std::move(kept);
    seen_ = seen;
    seed_ = seed;
    return absl::OkStatus();
  }

  // What a checkpoint holds, all from one moment.
  std::multimap<int64_t, float> Get(int64_t* seen, int64_t* seed) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    *seen = seen_;
    *seed = seed_;
    return kept_;
  }

  int64_t capacity() const { return capacity_; }

  std::string DebugString() const override {
    return absl::StrCat("Sample of ", capacity_, " values");
  }

 private:
  const int64_t capacity_;
  mutable std::mutex mutex_;
  int64_t seed_ ABSL_GUARDED_BY(mutex_);
  int64_t seen_ ABSL_GUARDED_BY(mutex_) = 0;
  std::multimap<int64_t, float> kept_ ABSL_GUARDED_BY(mutex_);
};

// The handle of the first input.
absl::Status FindSample(OpKernelContext* context, RefCountPtr<Sample>* sample) {
  const Tensor& handle = context->input(0);
  if (handle.dims() != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "sample must be a scalar, got shape ", handle.shape().DebugString()));
  }
  return tensorflow::LookupResource(context, handle.scalar<ResourceHandle>()(),
                                    sample);
}

// [anonymous] A new sample at each call, with the capacity of the attr.
REGISTER_OP("AnonymousSample")
    .Attr("capacity: int >= 1")
    .Attr("seed: int = 0")
    .Output("sample: resource")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::ScalarShape);

class AnonymousSampleOp : public tensorflow::OpKernel {
 public:
  explicit AnonymousSampleOp(OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("capacity", &capacity_));
    OP_REQUIRES_OK(context, context->GetAttr("seed", &seed_));
  }

  void Compute(OpKernelContext* context) override {
    Tensor* handle = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &handle));
    handle->scalar<ResourceHandle>()() = ResourceHandle::MakeRefCountingHandle(
        new Sample(capacity_, seed_), context->device()->name());
  }

 private:
  int64_t capacity_, seed_;
};

// The same, by its name.
REGISTER_OP("NamedSample")
    .Attr("capacity: int >= 1")
    .Attr("seed: int = 0")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .Output("sample: resource")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::ScalarShape);

// [named] Makes a sample with its attrs, or finds one, which may have others.
class NamedSampleOp : public tensorflow::ResourceHandleOp<Sample> {
 public:
  explicit NamedSampleOp(OpKernelConstruction* context)
      : ResourceHandleOp(context) {
    OP_REQUIRES_OK(context, context->GetAttr("capacity", &capacity_));
    OP_REQUIRES_OK(context, context->GetAttr("seed", &seed_));
  }

  void Compute(OpKernelContext* context) override {
    ResourceHandleOp::Compute(context);
    if (!context->status().ok()) return;
    const Tensor& handle = *context->mutable_output(0);
    RefCountPtr<Sample> sample;
    OP_REQUIRES_OK(context, tensorflow::LookupOrCreateResource<Sample>(
                                context, handle.scalar<ResourceHandle>()(),
                                &sample, [this](Sample** created) {
                                  *created = new Sample(capacity_, seed_);
                                  return absl::OkStatus();
                                }));
    OP_REQUIRES(context, sample->capacity() == capacity_,
                absl::InvalidArgumentError(absl::StrCat(
                    "capacity must be that of the sample with this name, ",
                    sample->capacity(), ", got ", capacity_)));
  }

 private:
  int64_t capacity_, seed_;
};

// Adds values to the sample.
REGISTER_OP("AddToSample")
    .Input("sample: resource")
    .Input("values: float")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle scalar;
      return context->WithRank(context->input(0), 0, &scalar);
    });

class AddToSampleOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    RefCountPtr<Sample> sample;
    OP_REQUIRES_OK(context, FindSample(context, &sample));
    sample->Add(context->input(1).flat<float>());
  }
};

// What a checkpoint holds.
REGISTER_OP("ReadSample")
    .Input("sample: resource")
    .Output("values: float")
    .Output("priorities: int64")
    .Output("seen: int64")
    .Output("seed: int64")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle scalar;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 0, &scalar));
      const ShapeHandle kept = context->UnknownShapeOfRank(1);
      context->set_output(0, kept);
      context->set_output(1, kept);
      context->set_output(2, context->Scalar());
      context->set_output(3, context->Scalar());
      return absl::OkStatus();
    });

class ReadSampleOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    RefCountPtr<Sample> sample;
    OP_REQUIRES_OK(context, FindSample(context, &sample));
    int64_t seen_now, seed_now;
    const std::multimap<int64_t, float> kept =
        sample->Get(&seen_now, &seed_now);
    const tensorflow::TensorShape shape({static_cast<int64_t>(kept.size())});
    Tensor *values = nullptr, *priorities = nullptr, *seen = nullptr,
           *seed = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &values));
    OP_REQUIRES_OK(context, context->allocate_output(1, shape, &priorities));
    OP_REQUIRES_OK(context, context->allocate_output(2, {}, &seen));
    OP_REQUIRES_OK(context, context->allocate_output(3, {}, &seed));
    int64_t i = 0;
    for (const auto& [priority, value] : kept) {
      values->vec<float>()(i) = value;
      priorities->vec<int64_t>()(i++) = priority;
    }
    seen->scalar<int64_t>()() = seen_now;
    seed->scalar<int64_t>()() = seed_now;
  }
};

// Puts back what ReadSample returned.
REGISTER_OP("WriteSample")
    .Input("sample: resource")
    .Input("values: float")
    .Input("priorities: int64")
    .Input("seen: int64")
    .Input("seed: int64")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle kept;
      for (int i : {0, 3, 4}) {
        TF_RETURN_IF_ERROR(context->WithRank(context->input(i), 0, &kept));
      }
      TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 1, &kept));
      return context->Merge(kept, context->input(2), &kept);
    });

class WriteSampleOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    RefCountPtr<Sample> sample;
    OP_REQUIRES_OK(context, FindSample(context, &sample));
    const Tensor &values = context->input(1), &priorities = context->input(2);
    OP_REQUIRES(context,
                values.dims() == 1 && values.shape() == priorities.shape(),
                absl::InvalidArgumentError(absl::StrCat(
                    "values and priorities must be vectors of one length, got "
                    "shapes ",
                    values.shape().DebugString(), " and ",
                    priorities.shape().DebugString())));
    for (int i : {3, 4}) {
      OP_REQUIRES(context, context->input(i).dims() == 0,
                  absl::InvalidArgumentError(
                      absl::StrCat("seen and seed must be scalars, got shape ",
                                   context->input(i).shape().DebugString())));
    }
    const int64_t seen = context->input(3).scalar<int64_t>()();
    OP_REQUIRES(context, seen >= values.NumElements(),
                absl::InvalidArgumentError(
                    absl::StrCat("seen must be at least the number of values, ",
                                 values.NumElements(), ", got ", seen)));
    constexpr int64_t kMost = int64_t{1} << 62;  // as many may follow
    OP_REQUIRES(context, seen <= kMost,
                absl::InvalidArgumentError(absl::StrCat(
                    "seen must be at most ", kMost, ", got ", seen)));
    std::multimap<int64_t, float> kept;
    for (int64_t i = 0; i < values.NumElements(); ++i) {
      kept.emplace(priorities.vec<int64_t>()(i), values.vec<float>()(i));
    }
    OP_REQUIRES_OK(context,
                   sample->Restore(std::move(kept), seen,
                                   context->input(4).scalar<int64_t>()()));
  }
};

REGISTER_KERNEL_BUILDER(Name("AnonymousSample").Device(tensorflow::DEVICE_CPU),
                        AnonymousSampleOp);
REGISTER_KERNEL_BUILDER(Name("NamedSample").Device(tensorflow::DEVICE_CPU),
                        NamedSampleOp);
REGISTER_KERNEL_BUILDER(Name("AddToSample").Device(tensorflow::DEVICE_CPU),
                        AddToSampleOp);
REGISTER_KERNEL_BUILDER(Name("ReadSample").Device(tensorflow::DEVICE_CPU),
                        ReadSampleOp);
REGISTER_KERNEL_BUILDER(Name("WriteSample").Device(tensorflow::DEVICE_CPU),
                        WriteSampleOp);

}  // namespace
}  // namespace op_by_op
