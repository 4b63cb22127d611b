// Ops whose bug shows in calls around the sample: at the end of an input's
// memory, in memory of another content, for other sizes and attrs, call after
// call.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "common.h"
#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/resource_var.h"

namespace op_by_op {
namespace {

enum class Bug {
  kNone,
  kPastEnd,
  kForwarded,
  kAllNan,
  kThroughDouble,
  kNegativeAxis,
  kRoundsDown,
  kStaticTable,
  kIntIndex,
  kOpenFile,
  kLeak,
  kLeakOfLarge,
  kRandom,
  kNotCancelled,
  kNoLock,
  kInPlace,
};

// Adds a number to each element of a variable.
template <Bug bug>
class AddToVariableOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    tensorflow::core::RefCountPtr<tensorflow::Var> variable;
    OP_REQUIRES_OK(
        context,
        LookupResource(context, tensorflow::HandleFromInput(context, 0),
                       &variable));
    const Tensor& amount = context->input(1);
    OP_REQUIRES_OK(context, HasRank(amount, "amount", 0));
    const tensorflow::mutex_lock lock(*variable->mu());
    Tensor* values = variable->tensor();
    OP_REQUIRES(context, values->dtype() == tensorflow::DT_FLOAT,
                absl::InvalidArgumentError("variable must hold floats"));
    Tensor sums = *values;  // Bug: the memory may be another tensor's, too.
    if constexpr (bug != Bug::kInPlace) {
      OP_REQUIRES_OK(context, context->allocate_temp(tensorflow::DT_FLOAT,
                                                     values->shape(), &sums));
    }
    sums.flat<float>() = values->flat<float>() + amount.scalar<float>()();
    *values = sums;
  }
};

#define ADD_TO_VARIABLE(NAME, BUG)                                   \
  REGISTER_OP(NAME)                                                  \
      .Input("variable: resource")                                   \
      .Input("amount: float")                                        \
      .SetIsStateful()                                               \
      .SetShapeFn([](InferenceContext* c) {                          \
        ShapeHandle unused;                                          \
        return HasRank(c, 1, "amount", 0, &unused);                  \
      });                                                            \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(tensorflow::DEVICE_CPU), \
                          AddToVariableOp<Bug::BUG>)

ADD_TO_VARIABLE("AddToVariable", kNone);
ADD_TO_VARIABLE("BrokenAddToVariableInPlace", kInPlace);

// The sum of each element and the next one.
template <Bug bug>
class NextSumOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& values = context->input(0);
    OP_REQUIRES_OK(context, HasRank(values, "values", 1));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, values.shape(), &output));
    const float* in = values.flat<float>().data();
    const int64_t size = values.NumElements();
    auto out = output->vec<float>();
    for (int64_t i = 0; i < size; ++i) {
      // Bug: there is nothing behind the last element.
      const bool last = bug != Bug::kPastEnd && i + 1 == size;
      out(i) = in[i] + (last ? 0 : in[i + 1]);
    }
    if constexpr (bug == Bug::kOpenFile) {  // Bug: nobody closes it.
      OP_REQUIRES(context, open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0,
                  absl::ResourceExhaustedError("too many open files"));
    }
    // Bug: nobody frees it.
    if (bug == Bug::kLeak || (bug == Bug::kLeakOfLarge && size > 1 << 10)) {
      static std::atomic<std::vector<float>*> scratch;
      scratch = new std::vector<float>(1 << 10, 1.f);
    }
    if constexpr (bug == Bug::kRandom) {  // Bug: the op is not stateful.
      static std::random_device device;
      for (int64_t i = 0; i < size; ++i) out(i) += 1e-3f * (device() % 1000);
    }
  }
};

// The difference of each element and the one before.
template <Bug bug>
class DifferenceOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& values = context->input(0);
    OP_REQUIRES_OK(context, HasRank(values, "values", 1));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->forward_input_or_allocate_output(
                                {0}, 0, values.shape(), &output));
    const auto in = values.vec<float>();
    auto out = output->vec<float>();
    if constexpr (bug == Bug::kForwarded) {
      // Bug: the output may have the memory of the input.
      for (int64_t i = 0; i < in.size(); ++i) {
        out(i) = i == 0 ? in(i) : in(i) - in(i - 1);
      }
    } else {
      for (int64_t i = in.size() - 1; i >= 0; --i) {
        out(i) = i == 0 ? in(i) : in(i) - in(i - 1);
      }
    }
  }
};

// The index of the smallest element of each row, -1 if all are NaN.
template <Bug bug>
class RowArgMinOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& values = context->input(0);
    OP_REQUIRES_OK(context, HasRank(values, "values", 2));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, {values.dim_size(0)}, &output));
    const auto in = values.matrix<float>();
    auto out = output->vec<int32_t>();
    for (int64_t i = 0; i < in.dimension(0); ++i) {
      int32_t best = -1;
      for (int64_t j = 0; j < in.dimension(1); ++j) {
        if (std::isnan(in(i, j))) continue;
        if (best < 0 || in(i, j) < in(i, best)) best = j;
      }
      if (bug == Bug::kAllNan && best < 0) continue;  // Bug: not written.
      out(i) = best;
    }
  }
};

// Twice the input.
template <Bug bug>
class TwiceOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& values = context->input(0);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, values.shape(), &output));
    const auto in = values.flat<int64_t>();
    auto out = output->flat<int64_t>();
    for (int64_t i = 0; i < in.size(); ++i) {
      if constexpr (bug == Bug::kThroughDouble) {
        // Bug: a double holds no integer of more than 53 bits.
        const double twice = 2.0 * static_cast<double>(in(i));
        out(i) = std::abs(twice) < 9e18 ? static_cast<int64_t>(twice) : 0;
      } else {
        out(i) = static_cast<int64_t>(2 * static_cast<uint64_t>(in(i)));
      }
    }
  }
};

// The size of a dimension, many times: of the axis, counted from the end where
// it is negative.
template <Bug bug>
class AxisSizeOp : public tensorflow::OpKernel {
 public:
  explicit AxisSizeOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("axis", &axis_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& values = context->input(0);
    const int64_t rank = values.dims();
    int64_t axis = axis_;
    // Bug: one too far.
    if (axis < 0) axis += bug == Bug::kNegativeAxis ? rank - 1 : rank;
    OP_REQUIRES(context, 0 <= axis && axis < rank,
                absl::InvalidArgumentError(absl::StrCat(
                    "axis must be in [", -rank, ", ", rank, "), not ", axis_)));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &output));
    output->scalar<int64_t>()() = values.dim_size(axis);
  }

 private:
  int64_t axis_;
};

// Every step-th element.
template <Bug bug>
class EveryOp : public tensorflow::OpKernel {
 public:
  explicit EveryOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("step", &step_));
    if (!Table().empty()) return;
    Table().push_back(step_);  // Bug, where the table is used: the first's.
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& values = context->input(0);
    OP_REQUIRES_OK(context, HasRank(values, "values", 1));
    const int64_t size = values.NumElements();
    const int64_t step = bug == Bug::kStaticTable ? Table()[0] : step_;
    const int64_t count = size / step_ + (size % step_ != 0);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {count}, &output));
    const auto in = values.vec<float>();
    auto out = output->vec<float>();
    for (int64_t i = 0; i < count; ++i) {
      int64_t place = i * step;
      if (bug == Bug::kIntIndex) place = static_cast<int>(place);
      out(i) = in(std::min(place, size - 1));
    }
  }

 private:
  static std::vector<int64_t>& Table() {
    static auto* table = new std::vector<int64_t>;
    return *table;
  }
  int64_t step_;
};

// How many primes are not greater than each value, from a table that grows.
template <Bug bug>
class PrimeCountOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& values = context->input(0);
    const auto in = values.flat<int32_t>();
    for (int64_t i = 0; i < in.size(); ++i) {
      OP_REQUIRES(context, 0 <= in(i) && in(i) < kMost,
                  absl::InvalidArgumentError(absl::StrCat(
                      "values must be in [0, ", kMost, "), not ", in(i))));
    }
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, values.shape(), &output));
    auto out = output->flat<int32_t>();
    // Bug: two calls may add to the table at once.
    std::unique_lock lock(mutex_, std::defer_lock);
    if (bug != Bug::kNoLock) lock.lock();
    for (int64_t i = 0; i < in.size(); ++i) {
      while (counts_.size() <= static_cast<size_t>(in(i))) {
        const int32_t count = counts_.back() + IsPrime(counts_.size());
        // The others come between, on a busy machine too.
        if (bug == Bug::kNoLock) std::this_thread::yield();
        counts_.push_back(count);
      }
      out(i) = counts_[in(i)];
    }
  }

 private:
  static constexpr int32_t kMost = 100000;

  static bool IsPrime(int64_t n) {
    int64_t i = 2;
    while (i * i <= n && n % i != 0) ++i;
    return n > 1 && i * i > n;
  }

  std::mutex mutex_;
  std::vector<int32_t> counts_ = {0};
};

// The input, after a while.
template <Bug bug>
class DelayedOp : public tensorflow::AsyncOpKernel {
 public:
  explicit DelayedOp(tensorflow::OpKernelConstruction* context)
      : AsyncOpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("milliseconds", &milliseconds_));
  }

  void ComputeAsync(tensorflow::OpKernelContext* context,
                    DoneCallback done) override {
    auto wait = std::make_shared<Wait>();
    auto* manager = context->cancellation_manager();
    // Bug: nobody tells it that the step has been cancelled.
    if (bug == Bug::kNotCancelled) manager = nullptr;
    tensorflow::CancellationToken token = 0;
    if (manager != nullptr) {
      token = manager->get_cancellation_token();
      OP_REQUIRES_ASYNC(
          context,
          manager->RegisterCallback(token,
                                    [wait] {
                                      std::lock_guard lock(wait->mutex);
                                      wait->cancelled = true;
                                      wait->changed.notify_one();
                                    }),
          absl::CancelledError("cancelled"), done);
    }
    const std::chrono::milliseconds longest(milliseconds_);
    std::thread([context, done = std::move(done), longest, manager, token,
                 wait] {
      bool cancelled;
      {
        std::unique_lock lock(wait->mutex);
        cancelled = wait->changed.wait_for(lock, longest,
                                           [&] { return wait->cancelled; });
      }
      if (manager != nullptr) manager->DeregisterCallback(token);
      if (cancelled) {
        context->SetStatus(absl::CancelledError("cancelled"));
      } else {
        context->set_output(0, context->input(0));
      }
      done();
    }).detach();
  }

 private:
  struct Wait {
    std::mutex mutex;
    std::condition_variable changed;
    bool cancelled = false;
  };
  int64_t milliseconds_;
};

template <Bug bug>
absl::Status EveryShape(InferenceContext* c) {
  ShapeHandle values;
  int64_t step;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "values", 1, &values));
  TF_RETURN_IF_ERROR(c->GetAttr("step", &step));
  DimensionHandle size = c->Dim(values, 0);
  if (!c->ValueKnown(size)) {
    c->set_output(0, c->Vector(InferenceContext::kUnknownDim));
    return absl::OkStatus();
  }
  // Bug: the kernel rounds up.
  const int64_t n = c->Value(size);
  const bool more = bug != Bug::kRoundsDown && n % step != 0;
  c->set_output(0, c->Vector(n / step + more));
  return absl::OkStatus();
}

absl::Status RowsShape(InferenceContext* c) {
  ShapeHandle values;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "values", 2, &values));
  c->set_output(0, c->Vector(c->Dim(values, 0)));
  return absl::OkStatus();
}

absl::Status VectorShape(InferenceContext* c) {
  ShapeHandle values;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "values", 1, &values));
  c->set_output(0, values);
  return absl::OkStatus();
}

#define OP(NAME, CLASS, IN, OUT, SHAPE, BUG)                         \
  REGISTER_OP(NAME)                                                  \
      .Input("values: " IN)                                          \
      .Output("results: " OUT)                                       \
      .SetShapeFn(SHAPE)                                             \
      .Doc("values: What it is of.");                                \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(tensorflow::DEVICE_CPU), \
                          CLASS<Bug::BUG>)
#define OP_WITH(NAME, CLASS, ATTR, DOC, OUT, SHAPE, BUG)             \
  REGISTER_OP(NAME)                                                  \
      .Attr(ATTR)                                                    \
      .Input("values: float")                                        \
      .Output("results: " OUT)                                       \
      .SetShapeFn(SHAPE)                                             \
      .Doc(DOC);                                                     \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(tensorflow::DEVICE_CPU), \
                          CLASS<Bug::BUG>)

OP("NextSum", NextSumOp, "float", "float", VectorShape, kNone);
OP("BrokenNextSumPastEnd", NextSumOp, "float", "float", VectorShape, kPastEnd);
OP("BrokenNextSumOpenFile", NextSumOp, "float", "float", VectorShape,
   kOpenFile);
OP("BrokenNextSumLeak", NextSumOp, "float", "float", VectorShape, kLeak);
OP("BrokenNextSumLeakOfLarge", NextSumOp, "float", "float", VectorShape,
   kLeakOfLarge);
OP("BrokenNextSumRandom", NextSumOp, "float", "float", VectorShape, kRandom);
OP("Difference", DifferenceOp, "float", "float", VectorShape, kNone);
OP("BrokenDifferenceForwarded", DifferenceOp, "float", "float", VectorShape,
   kForwarded);
OP("RowArgMin", RowArgMinOp, "float", "int32", RowsShape, kNone);
OP("BrokenRowArgMinAllNan", RowArgMinOp, "float", "int32", RowsShape, kAllNan);
OP("Twice", TwiceOp, "int64", "int64",
   tensorflow::shape_inference::UnchangedShape, kNone);
OP("BrokenTwiceThroughDouble", TwiceOp, "int64", "int64",
   tensorflow::shape_inference::UnchangedShape, kThroughDouble);
OP_WITH("AxisSize", AxisSizeOp, "axis: int", "axis: Of the size.", "int64",
        tensorflow::shape_inference::ScalarShape, kNone);
OP_WITH("BrokenAxisSizeNegative", AxisSizeOp, "axis: int", "axis: Of the size.",
        "int64", tensorflow::shape_inference::ScalarShape, kNegativeAxis);
OP_WITH("EachNth", EveryOp, "step: int >= 1", "step: How far.", "float",
        EveryShape<Bug::kNone>, kNone);
OP_WITH("BrokenEachNthRoundsDown", EveryOp, "step: int >= 1", "step: How far.",
        "float", EveryShape<Bug::kRoundsDown>, kRoundsDown);
OP_WITH("BrokenEachNthStaticTable", EveryOp, "step: int >= 1", "step: How far.",
        "float", EveryShape<Bug::kStaticTable>, kStaticTable);
OP_WITH("BrokenEachNthIntIndex", EveryOp, "step: int >= 1", "step: How far.",
        "float", EveryShape<Bug::kIntIndex>, kIntIndex);
OP("PrimeCount", PrimeCountOp, "int32", "int32",
   tensorflow::shape_inference::UnchangedShape, kNone);
OP("BrokenPrimeCountNoLock", PrimeCountOp, "int32", "int32",
   tensorflow::shape_inference::UnchangedShape, kNoLock);
OP_WITH("Delayed", DelayedOp, "milliseconds: int >= 0",
        "milliseconds: How long.", "float",
        tensorflow::shape_inference::UnchangedShape, kNone);
OP_WITH("BrokenDelayedNotCancelled", DelayedOp, "milliseconds: int >= 0",
        "milliseconds: How long.", "float",
        tensorflow::shape_inference::UnchangedShape, kNotCancelled);

}  // namespace
}  // namespace op_by_op
