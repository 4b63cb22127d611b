// SumBy, SortRowsBy and PlayBackwardsBy: other ways than those of SteadySum,
// SortRows and PlayBackwards, most of them wrong or slow.

#define EIGEN_USE_THREADS

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "sort_rows.h"
#include "sum_of.h"
#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/public/version.h"
#include "tensorflow/core/util/work_sharder.h"
#include "unsupported/Eigen/CXX11/Tensor"

namespace op_by_op {

// Of wrong_own_threads.cc. The option for OpenMP and precompiled headers do not
// go together.
using Work = std::function<void(int64_t begin, int64_t end)>;
void WithThreads(const Work& work, int64_t blocks, int64_t count);
void WithOpenMp(const Work& work, int64_t blocks, int64_t count);

namespace {

using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using Numbers = tensorflow::TTypes<float>::ConstFlat;
using Result = tensorflow::TTypes<float>::Flat;
using Eigen::ThreadPoolDevice;

// Calls Shard for `total` numbers.
struct Share {
  template <typename Work>
  void operator()(const Work& work) const {
    constexpr int64_t kCycles = 4;
    tensorflow::Shard(pool.num_threads, pool.workers, total, kCycles, work);
  }
  int64_t thread() const { return pool.workers->CurrentThreadId() + 1; }
  int64_t threads() const { return pool.num_threads + 1; }

  const tensorflow::DeviceBase::CpuWorkerThreads& pool;
  int64_t total;
};

// [race] All threads add to one number.
float Race(const Numbers& x, const Share& share) {
  float sum = 0;
  share([&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) sum += x(i);
  });
  return sum;
}

// One thread at a time.
float Lock(const Numbers& x, const Share& share) {
  float sum = 0;
  std::mutex mutex;
  share([&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const std::lock_guard<std::mutex> lock(mutex);
      sum += x(i);
    }
  });
  return sum;
}

// [atomic] An addition is repeated if another thread has come between.
float Atomic(const Numbers& x, const Share& share) {
  std::atomic<float> sum = 0;
  share([&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      float old = sum;
      while (!sum.compare_exchange_weak(old, old + x(i))) {
      }
    }
  });
  return sum;
}

// [local] A sum for each block, and one lock at its end. Adds to `sum`.
void Local(const Numbers& x, const Share& share, float* sum) {
  std::mutex mutex;
  share([&](int64_t begin, int64_t end) {
    float own = 0;
    for (int64_t i = begin; i < end; ++i) own += x(i);
    const std::lock_guard<std::mutex> lock(mutex);
    *sum += own;
  });
}

// [neighbours] Two sums for each thread; those of the next thread are `stride`
// floats further on.
void GainsAndLosses(const Numbers& x, const Share& share, int64_t stride,
                    float* sums) {
  share([&](int64_t begin, int64_t end) {
    float* own = sums + share.thread() * stride;
    for (int64_t i = begin; i < end; ++i) own[x(i) < 0] += x(i);
  });
}

// The same without neighbours.
float OwnGainsAndLosses(const Numbers& x, const Share& share) {
  float sum = 0;
  std::mutex mutex;
  share([&](int64_t begin, int64_t end) {
    float own[2] = {};
    for (int64_t i = begin; i < end; ++i) own[x(i) < 0] += x(i);
    const std::lock_guard<std::mutex> lock(mutex);
    sum += own[0] + own[1];
  });
  return sum;
}

REGISTER_OP("SumBy")
    .Attr(
        "way: {'alone', 'race', 'lock', 'atomic', 'local', "
        "'unset', 'neighbours', 'apart', 'own', 'eigen', 'shard', "
        "'std::thread', 'openmp'}")
    .Attr("threads: int = 0")
    .Attr("passes: int >= 1 = 1")
    .Input("x: float")
    .Output("sum: float")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::ScalarShape)
    .Doc(R"doc(
Adds all elements in a way of which most are wrong or slow.

x: Of any shape.
sum: A scalar.
way: How threads share the sum.
threads: How many, for std::thread and OpenMP; 0 is the number of the processor.
passes: How often shard, std::thread and OpenMP add each block.
)doc");

class SumByOp : public OpKernel {
 public:
  explicit SumByOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("way", &way_));
    OP_REQUIRES_OK(context, context->GetAttr("threads", &threads_));
    OP_REQUIRES_OK(context, context->GetAttr("passes", &passes_));
    if (threads_ <= 0) threads_ = std::thread::hardware_concurrency();
  }

  void Compute(OpKernelContext* context) override {
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &output));
    float& sum = output->scalar<float>()();
    if (way_ != "unset") sum = 0;
    const auto x = context->input(0).flat<float>();
    const auto& pool = *context->device()->tensorflow_cpu_worker_threads();
    const Share share{pool, x.size()};
    if (way_ == "alone") {
      for (int64_t i = 0; i < x.size(); ++i) sum += x(i);
    } else if (way_ == "race") {
      sum = Race(x, share);
    } else if (way_ == "lock") {
      sum = Lock(x, share);
    } else if (way_ == "atomic") {
      sum = Atomic(x, share);
    } else if (way_ == "local" || way_ == "unset") {
      Local(x, share, &sum);
    } else if (way_ == "neighbours" || way_ == "apart") {
      const int64_t stride = way_ == "apart" ? 16 : 2;
      Tensor scratch;
      OP_REQUIRES_OK(context, context->allocate_temp(tensorflow::DT_FLOAT,
                                                     {share.threads() * stride},
                                                     &scratch));
      auto sums = scratch.vec<float>();
      sums.setZero();
      GainsAndLosses(x, share, stride, sums.data());
      for (int64_t i = 0; i < sums.size(); ++i) sum += sums(i);
    } else if (way_ == "own") {
      sum = OwnGainsAndLosses(x, share);
    } else if (way_ == "eigen") {
      // In one line.
      output->scalar<float>().device(context->eigen_cpu_device()) = x.sum();
    } else {
      const Blocks blocks(x.size());
      std::vector<float> parts(blocks.count);
      const auto work = [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) {
          for (int64_t pass = 0; pass < passes_; ++pass) {
            parts[b] += SumOf(x.data() + blocks.begin(b), blocks.size(b));
          }
        }
      };
      if (way_ == "shard") {
        tensorflow::Shard(pool.num_threads, pool.workers, blocks.count,
                          passes_ * Blocks::kCycles, work);
      } else if (way_ == "openmp") {
        WithOpenMp(work, blocks.count, threads_);
      } else {
        WithThreads(work, blocks.count, threads_);
      }
      sum = SumOf(parts.data(), blocks.count);
    }
  }

 private:
  std::string way_;
  int64_t threads_, passes_;
};

REGISTER_KERNEL_BUILDER(Name("SumBy").Device(tensorflow::DEVICE_CPU), SumByOp);

// TensorFlow 2.20 has brought the two functions, and what was there before is
// deprecated. TensorFlow 2.21 does not tell its version.
#if defined(TF_MINOR_VERSION) && TF_MINOR_VERSION < 20
struct SchedulingParams {
  using ThreadPool = tsl::thread::ThreadPool;
  using Strategy = ThreadPool::SchedulingStrategy;
  static ThreadPool::SchedulingParams Fixed(int64_t block) {
    return ThreadPool::SchedulingParams(Strategy::kFixedBlockSize, std::nullopt,
                                        block);
  }
  static ThreadPool::SchedulingParams Adaptive(int64_t cost) {
    return ThreadPool::SchedulingParams(Strategy::kAdaptive, cost,
                                        std::nullopt);
  }
};
#else
using SchedulingParams = tsl::thread::ThreadPool::SchedulingParams;
#endif

REGISTER_OP("SortRowsBy")
    .Attr("way: {'fixed', 'adaptive', 'shard', 'values'}")
    .Attr("block: int >= 1 = 1")
    .Attr("cycles: int >= 0 = 0")
    .Input("values: int64")
    .Input("row_splits: int64")
    .Output("sorted: int64")
    .Output("first: int64")
    .Output("thread: int32")
    .SetIsStateful()
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      tensorflow::shape_inference::ShapeHandle splits;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 1, &splits));
      const auto rows = context->Vector(context->UnknownDim());
      context->set_output(1, rows);
      context->set_output(2, rows);
      return tensorflow::shape_inference::UnchangedShapeWithRank(context, 1);
    })
    .Doc(R"doc(
Sorts each row of a ragged tensor in a way that may be slow, and tells who did.

values: `[size]`: the values of the rows, one row after the other.
row_splits: `[rows + 1]`: where each row begins in `values`, and at last `size`.
sorted: `[size]`: the rows, each in ascending order.
first: `[rows]`: the first unit of the block that each row was sorted in.
thread: `[rows]`: the number of the thread that did: 0 is the one that called.
way: How the blocks are cut: `values` is that of SortRows.
block: How many rows a block of `fixed` has.
cycles: What Shard is told that a row costs; 0 is an estimate.
)doc");

class SortRowsByOp : public OpKernel {
 public:
  explicit SortRowsByOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("way", &way_));
    OP_REQUIRES_OK(context, context->GetAttr("block", &block_));
    OP_REQUIRES_OK(context, context->GetAttr("cycles", &cycles_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor &values = context->input(0), &row_splits = context->input(1);
    OP_REQUIRES_OK(context, CheckRows(values, row_splits));
    const auto splits = row_splits.vec<int64_t>();
    const int64_t rows = splits.size() - 1, total = values.NumElements();
    Tensor *sorted = nullptr, *first = nullptr, *thread = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, values.shape(), &sorted));
    OP_REQUIRES_OK(context, context->allocate_output(1, {rows}, &first));
    OP_REQUIRES_OK(context, context->allocate_output(2, {rows}, &thread));
    const int64_t* from = values.vec<int64_t>().data();
    int64_t* to = sorted->vec<int64_t>().data();
    auto firsts = first->vec<int64_t>();
    auto threads = thread->vec<int32_t>();
    firsts.setZero();
    threads.setZero();
    const auto record = [&](int64_t r, int64_t begin, int thread) {
      firsts(r) = begin;
      threads(r) = thread + 1;
    };
    // [rows] A call sorts a block of rows; many threads call at the same time.
    const auto& pool = *context->device()->tensorflow_cpu_worker_threads();
    const auto sort_rows = [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        SortRow(from, splits.data() + r, to);
        record(r, begin, pool.workers->CurrentThreadId());
      }
    };
    // []
    const int64_t cycles =
        cycles_ > 0 ? cycles_
                    : kCyclesOfValue * total / std::max<int64_t>(rows, 1);
    if (way_ == "shard") {
      // [shard] Shard cuts the rows into blocks.
      tensorflow::Shard(pool.num_threads, pool.workers, rows, cycles,
                        sort_rows);
    }
    // [parallel_for] You cut them, or ParallelFor does as Shard would.
    if (way_ == "fixed") {
      pool.workers->ParallelFor(rows, SchedulingParams::Fixed(block_),
                                sort_rows);
    } else if (way_ == "adaptive") {
      pool.workers->ParallelFor(rows, SchedulingParams::Adaptive(cycles),
                                sort_rows);
    }
    // []
    if (way_ == "values") {
      ShareValues(
          pool, splits.data(), rows, [&](const int64_t* row, int64_t begin) {
            SortRow(from, row, to);
            record(row - splits.data(), begin, pool.workers->CurrentThreadId());
          });
    }
  }

 private:
  std::string way_;
  int64_t block_, cycles_;
};

REGISTER_KERNEL_BUILDER(Name("SortRowsBy").Device(tensorflow::DEVICE_CPU),
                        SortRowsByOp);

const Eigen::array<bool, 1> kTurned = {true};

// [alias] The second line reads what it writes.
void InPlace(const ThreadPoolDevice& device, const Numbers& x, float gain,
             Result y) {
  y.device(device) = x * gain;
  y.device(device) = y.reverse(kTurned);
}

// The first line writes to memory of its own.
absl::Status ThroughTemp(OpKernelContext* context, const Numbers& x, float gain,
                         Result y) {
  const ThreadPoolDevice& device = context->eigen_cpu_device();
  Tensor scratch;
  TF_RETURN_IF_ERROR(
      context->allocate_temp(tensorflow::DT_FLOAT, {x.size()}, &scratch));
  auto louder = scratch.vec<float>();
  louder.device(device) = x * gain;
  y.device(device) = louder.reverse(kTurned);
  return absl::OkStatus();
}

// The same, with memory that TensorFlow knows nothing of.
void ThroughVector(const ThreadPoolDevice& device, const Numbers& x, float gain,
                   Result y) {
  std::vector<float> scratch(x.size());
  Result louder(scratch.data(), x.size());
  louder.device(device) = x * gain;
  y.device(device) = louder.reverse(kTurned);
}

REGISTER_OP("PlayBackwardsBy")
    .Attr("way: {'in place', 'taken over', 'temp', 'vector'}")
    .Attr("gain: float = 1.0")
    .Input("signal: float")
    .Output("backwards: float")
    .Output("taken_over: bool")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      context->set_output(1, context->Scalar());
      return tensorflow::shape_inference::UnchangedShapeWithRank(context, 1);
    })
    .Doc(R"doc(
Turns a signal around in a way of which most are wrong.

signal: `[length]`.
backwards: `[length]`.
taken_over: Whether `backwards` has the memory of `signal`.
way: Where the signal is before it is turned around.
gain: A factor.
)doc");

class PlayBackwardsByOp : public OpKernel {
 public:
  explicit PlayBackwardsByOp(OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("way", &way_));
    OP_REQUIRES_OK(context, context->GetAttr("gain", &gain_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& signal = context->input(0);
    OP_REQUIRES(context, signal.dims() == 1,
                absl::InvalidArgumentError(
                    absl::StrCat("signal must be a vector, got shape ",
                                 signal.shape().DebugString())));
    Tensor *output = nullptr, *taken_over = nullptr;
    if (way_ == "taken over") {
      OP_REQUIRES_OK(context, context->forward_input_or_allocate_output(
                                  {0}, 0, signal.shape(), &output));
    } else {
      OP_REQUIRES_OK(context,
                     context->allocate_output(0, signal.shape(), &output));
    }
    OP_REQUIRES_OK(context, context->allocate_output(1, {}, &taken_over));
    const auto x = signal.flat<float>();
    auto y = output->flat<float>();
    taken_over->scalar<bool>()() = x.data() == y.data();
    const ThreadPoolDevice& device = context->eigen_cpu_device();
    if (way_ == "in place") {
      InPlace(device, x, gain_, y);
    } else if (way_ == "temp") {
      OP_REQUIRES_OK(context, ThroughTemp(context, x, gain_, y));
    } else if (way_ == "vector") {
      ThroughVector(device, x, gain_, y);
    } else {
      y.device(device) = (x * gain_).reverse(kTurned);
    }
  }

 private:
  std::string way_;
  float gain_;
};

REGISTER_KERNEL_BUILDER(Name("PlayBackwardsBy").Device(tensorflow::DEVICE_CPU),
                        PlayBackwardsByOp);

REGISTER_OP("HowOftenEvaluated")
    .Attr("kept: bool")
    .Input("x: float")
    .Output("times: int64")
    .SetShapeFn(tensorflow::shape_inference::ScalarShape)
    .Doc(R"doc(
Counts how often an expression computes an element that it is asked for twice.

x: `[length]`.
times: How many elements were computed.
kept: Whether the expression is assigned to a tensor first.
)doc");

class HowOftenEvaluatedOp : public OpKernel {
 public:
  explicit HowOftenEvaluatedOp(OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("kept", &kept_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    OP_REQUIRES(
        context, input.dims() == 1,
        absl::InvalidArgumentError(absl::StrCat(
            "x must be a vector, got shape ", input.shape().DebugString())));
    Tensor first, second, *times = nullptr;
    for (Tensor* temp : {&first, &second}) {
      OP_REQUIRES_OK(
          context, context->allocate_temp(input.dtype(), input.shape(), temp));
    }
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &times));
    const auto x = input.vec<float>();
    auto y = first.vec<float>();
    auto kept = second.vec<float>();
    const ThreadPoolDevice& device = context->eigen_cpu_device();
    std::atomic<int64_t> count = 0;
    // Computes nothing yet.
    const auto squares = x.unaryExpr([&](float number) {
      ++count;
      return number * number;
    });
    if (kept_) {
      kept.device(device) = squares;
      y.device(device) = kept + kept.reverse(kTurned);
    } else {
      y.device(device) = squares + squares.reverse(kTurned);
    }
    times->scalar<int64_t>()() = count;
  }

 private:
  bool kept_;
};

REGISTER_KERNEL_BUILDER(
    Name("HowOftenEvaluated").Device(tensorflow::DEVICE_CPU),
    HowOftenEvaluatedOp);

// By the last LongWork so far.
std::atomic<int64_t> blocks_done = 0;

REGISTER_OP("LongWork")
    .Attr("way: {'shard', 'std::thread', 'openmp'}")
    .Attr("blocks: int >= 0")
    .Attr("asks: bool")
    .Output("done: int64")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::ScalarShape)
    .Doc(R"doc(
Works for a while in four threads, or those of TensorFlow. One call at a time.

done: How many blocks were done.
way: Whose threads work.
blocks: How many blocks there are, of 5 milliseconds each.
asks: Whether it stops when the step is cancelled.
)doc");

class LongWorkOp : public OpKernel {
 public:
  explicit LongWorkOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("way", &way_));
    OP_REQUIRES_OK(context, context->GetAttr("blocks", &blocks_));
    OP_REQUIRES_OK(context, context->GetAttr("asks", &asks_));
  }

  void Compute(OpKernelContext* context) override {
    blocks_done = 0;
    if (asks_) {
      // [asks] A thread asks before each block. A half-done result is an error.
      tensorflow::CancellationManager* step = context->cancellation_manager();
      const auto ends = [&] { return step && step->IsCancelled(); };
      Share(context, [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end && !ends(); ++b) ComputeBlock();
      });
      OP_REQUIRES(context, !ends(),
                  absl::CancelledError("the step was cancelled"));
      // []
    } else {
      Share(context, [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) ComputeBlock();
      });
    }
    Tensor* done = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &done));
    done->scalar<int64_t>()() = blocks_done;
  }

 private:
  static void ComputeBlock() {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ++blocks_done;
  }

  // By any threads.
  void Share(OpKernelContext* context, const Work& work) const {
    constexpr int64_t kThreads = 4, kCycles = 10'000'000;
    const auto& pool = *context->device()->tensorflow_cpu_worker_threads();
    if (way_ == "shard") {
      tensorflow::Shard(pool.num_threads, pool.workers, blocks_, kCycles, work);
    } else if (way_ == "openmp") {
      WithOpenMp(work, blocks_, kThreads);
    } else {
      WithThreads(work, blocks_, kThreads);
    }
  }

  std::string way_;
  int64_t blocks_;
  bool asks_;
};

REGISTER_KERNEL_BUILDER(Name("LongWork").Device(tensorflow::DEVICE_CPU),
                        LongWorkOp);

// How many blocks of all CountAtOnce are under way. The op is not stateful, for
// stateful ops wait for each other.
std::atomic<int64_t> under_way = 0;

REGISTER_OP("CountAtOnce")
    .Attr("blocks: int >= 1")
    .Input("number: int64")
    .Output("most: int64")
    .SetShapeFn(tensorflow::shape_inference::ScalarShape)
    .Doc(R"doc(
Sleeps in blocks, and counts those of all such ops that sleep at the same time.

number: Ops with different numbers are not merged.
most: As many as one of this op's blocks has seen.
blocks: How many blocks Shard gets.
)doc");

class CountAtOnceOp : public OpKernel {
 public:
  explicit CountAtOnceOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("blocks", &blocks_));
  }

  // Of several threads at once, where a graph has several of these ops.
  void Compute(OpKernelContext* context) override {
    constexpr int64_t kCycles = 100'000'000;
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &output));
    std::vector<int64_t> seen(blocks_);
    const auto& pool = *context->device()->tensorflow_cpu_worker_threads();
    tensorflow::Shard(
        pool.num_threads, pool.workers, blocks_, kCycles,
        [&](int64_t begin, int64_t end) {
          for (int64_t b = begin; b < end; ++b) {
            ++under_way;
            std::this_thread::sleep_for(std::chrono::milliseconds(60));
            seen[b] = under_way--;
          }
        });
    output->scalar<int64_t>()() = *std::max_element(seen.begin(), seen.end());
  }

 private:
  int64_t blocks_;
};

REGISTER_KERNEL_BUILDER(Name("CountAtOnce").Device(tensorflow::DEVICE_CPU),
                        CountAtOnceOp);

REGISTER_OP("Nested")
    .Attr("outer: int >= 1")
    .Attr("inner: int >= 1")
    .Output("done: int64")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::ScalarShape)
    .Doc(R"doc(
Shares work in each block of shared work, and may never end.

done: How many units were done.
outer: How many blocks.
inner: How many units each block shares.
)doc");

class NestedOp : public OpKernel {
 public:
  explicit NestedOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("outer", &outer_));
    OP_REQUIRES_OK(context, context->GetAttr("inner", &inner_));
  }

  void Compute(OpKernelContext* context) override {
    constexpr int64_t kCycles = 10'000'000;
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &output));
    std::atomic<int64_t> done = 0;
    const auto& pool = *context->device()->tensorflow_cpu_worker_threads();
    // [nested] Threads that wait for threads.
    const auto unit = [&](int64_t begin, int64_t end) { done += end - begin; };
    const auto block = [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        tensorflow::Shard(pool.num_threads, pool.workers, inner_, kCycles,
                          unit);
      }
    };
    tensorflow::Shard(pool.num_threads, pool.workers, outer_, kCycles, block);
    // []
    output->scalar<int64_t>()() = done;
  }

 private:
  int64_t outer_, inner_;
};

REGISTER_KERNEL_BUILDER(Name("Nested").Device(tensorflow::DEVICE_CPU),
                        NestedOp);

REGISTER_OP("BlocksDone")
    .Output("done: int64")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::ScalarShape)
    .Doc(R"doc(
Tells how far LongWork has come.

done: How many blocks were done since it began.
)doc");

class BlocksDoneOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    Tensor* done = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &done));
    done->scalar<int64_t>()() = blocks_done;
  }
};

REGISTER_KERNEL_BUILDER(Name("BlocksDone").Device(tensorflow::DEVICE_CPU),
                        BlocksDoneOp);

}  // namespace
}  // namespace op_by_op
