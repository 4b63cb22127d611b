// Ops whose bug is in what they do with memory: state that outlives a call or
// that threads share, an input written to, an output not written.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <type_traits>
#include <vector>

#include "common.h"
#include "tensorflow/core/util/work_sharder.h"

namespace op_by_op {
namespace {

enum class Bug {
  kNone,
  kEmptyBins,
  kInPlace,
  kStatic,
  kMember,
  kPerThread,
  kAtomic,
  kKeepsTotal,
  kOtherOnGpu
};

template <typename T, Bug bug>
class BinMaxOp : public tensorflow::OpKernel {
 public:
  explicit BinMaxOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("num_bins", &num_bins_));
    OP_REQUIRES(
        context, num_bins_ <= kMaxBins,
        absl::InvalidArgumentError(absl::StrCat(
            "num_bins must be at most ", kMaxBins, ", not ", num_bins_)));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& values = context->input(0);
    const Tensor& bins = context->input(1);
    OP_REQUIRES_OK(context, HasRank(values, "values", 1));
    OP_REQUIRES(context, bins.shape() == values.shape(),
                absl::InvalidArgumentError(
                    absl::StrCat("bins must have the shape of values, ",
                                 values.shape().DebugString(), ", not ",
                                 bins.shape().DebugString())));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {num_bins_}, &output));

    const auto value = values.vec<T>();
    const auto bin = bins.vec<int32_t>();
    auto max = output->vec<T>();
    std::vector<bool> seen(num_bins_, false);
    for (int64_t i = 0; i < value.size(); ++i) {
      const int32_t b = bin(i);
      OP_REQUIRES(context, b >= 0 && b < num_bins_,
                  absl::InvalidArgumentError(
                      absl::StrCat("bins must be in [0, ", num_bins_,
                                   "), but bins[", i, "] is ", b)));
      if (!seen[b] || value(i) > max(b) || std::isnan(value(i))) {
        max(b) = value(i);
      }
      seen[b] = true;
    }
    if constexpr (bug != Bug::kEmptyBins) {  // Bug: nothing writes to these.
      for (int64_t b = 0; b < num_bins_; ++b) {
        if (!seen[b]) max(b) = T{0};
      }
    }
  }

 private:
  static constexpr int64_t kMaxBins = 1 << 20;
  int64_t num_bins_;
};

absl::Status BinMaxShape(InferenceContext* c) {
  ShapeHandle values, bins;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "values", 1, &values));
  TF_RETURN_IF_ERROR(HasRank(c, 1, "bins", 1, &bins));
  if (!c->Merge(values, bins, &values).ok()) {
    return absl::InvalidArgumentError("bins must have the shape of values");
  }
  int64_t num_bins;
  TF_RETURN_IF_ERROR(c->GetAttr("num_bins", &num_bins));
  c->set_output(0, c->Vector(num_bins));
  return absl::OkStatus();
}

constexpr char kBinMaxDoc[] = R"doc(
The greatest value of each bin.
values: `[n]`.
bins: `[n]`, the bin of each value, in `[0, num_bins)`.
max: `[num_bins]`; NaN for a bin with a NaN, 0 for one without values.
num_bins: How many bins there are, at most `2**20`.
T: The type of the values.
)doc";

#define BIN_MAX(NAME, BUG)                                 \
  REGISTER_OP(NAME)                                        \
      .Attr("T: {float, double}")                          \
      .Attr("num_bins: int >= 1")                          \
      .Input("values: T")                                  \
      .Input("bins: int32")                                \
      .Output("max: T")                                    \
      .SetShapeFn(BinMaxShape)                             \
      .Doc(kBinMaxDoc);                                    \
  OP_BY_OP_KERNEL(NAME, float, BinMaxOp<float, Bug::BUG>); \
  OP_BY_OP_KERNEL(NAME, double, BinMaxOp<double, Bug::BUG>)

BIN_MAX("BinMax", kNone);
BIN_MAX("BrokenBinMaxEmptyBins", kEmptyBins);

template <Bug bug>
class SortEachRowOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& values = context->input(0);
    OP_REQUIRES_OK(context, HasRank(values, "values", 2));
    Tensor sorted;
    if constexpr (bug == Bug::kInPlace) {
      sorted = values;  // Bug: shares the memory of the input.
    } else {
      OP_REQUIRES_OK(context, context->allocate_temp(values.dtype(),
                                                     values.shape(), &sorted));
      sorted.flat<float>() = values.flat<float>();
    }
    auto out = sorted.matrix<float>();
    for (int64_t i = 0; i < out.dimension(0); ++i) {
      std::sort(&out(i, 0), &out(i, 0) + out.dimension(1),
                [](float a, float b) {  // NaN comes last
                  return std::isnan(b) ? !std::isnan(a) : a < b;
                });
    }
    context->set_output(0, sorted);
  }
};

constexpr char kSortEachRowDoc[] = R"doc(
Sorts each row of a matrix.
values: `[rows, columns]`.
sorted: `[rows, columns]`, each row in ascending order, NaN last.
)doc";

#define SORT_ROWS(NAME, BUG)                                         \
  REGISTER_OP(NAME)                                                  \
      .Input("values: float")                                        \
      .Output("sorted: float")                                       \
      .SetShapeFn([](InferenceContext* c) {                          \
        ShapeHandle values;                                          \
        TF_RETURN_IF_ERROR(HasRank(c, 0, "values", 2, &values));     \
        c->set_output(0, values);                                    \
        return absl::OkStatus();                                     \
      })                                                             \
      .Doc(kSortEachRowDoc);                                         \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(tensorflow::DEVICE_CPU), \
                          SortEachRowOp<Bug::BUG>)

SORT_ROWS("SortEachRow", kNone);
SORT_ROWS("BrokenSortEachRowInPlace", kInPlace);

template <typename T, Bug bug>
class RowSoftmaxOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& logits = context->input(0);
    OP_REQUIRES_OK(context, HasRank(logits, "logits", 2));
    OP_REQUIRES(context, logits.dim_size(1) <= kColumns,
                absl::InvalidArgumentError(
                    absl::StrCat("logits must have at most ", kColumns,
                                 " columns, not ", logits.dim_size(1))));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, logits.shape(), &output));

    // Bug: all calls of all threads share the static one, those of one node
    // the member.
    static T in_static[kColumns];
    T local[kColumns];
    T* exps = local;
    if constexpr (bug == Bug::kStatic) exps = in_static;
    if constexpr (bug == Bug::kMember) exps = member_;

    const auto in = logits.matrix<T>();
    auto out = output->matrix<T>();
    const int64_t columns = in.dimension(1);
    for (int64_t i = 0; i < in.dimension(0); ++i) {
      T max = -std::numeric_limits<T>::infinity(), sum{0};
      for (int64_t j = 0; j < columns; ++j) max = std::max(max, in(i, j));
      for (int64_t j = 0; j < columns; ++j) {
        exps[j] = std::exp(in(i, j) - max);
        sum += exps[j];
      }
      for (int64_t j = 0; j < columns; ++j) out(i, j) = exps[j] / sum;
    }
  }

 private:
  static constexpr int kColumns = 1024;
  T member_[kColumns];
};

constexpr char kRowSoftmaxDoc[] = R"doc(
The softmax of each row of a matrix.
logits: `[rows, columns]`, at most 1024 columns.
softmax: `[rows, columns]`; each row adds up to 1.
T: The type of both.
)doc";

#define ROW_SOFTMAX(NAME, BUG)                                   \
  REGISTER_OP(NAME)                                              \
      .Attr("T: {float, double}")                                \
      .Input("logits: T")                                        \
      .Output("softmax: T")                                      \
      .SetShapeFn([](InferenceContext* c) {                      \
        ShapeHandle logits;                                      \
        TF_RETURN_IF_ERROR(HasRank(c, 0, "logits", 2, &logits)); \
        c->set_output(0, logits);                                \
        return absl::OkStatus();                                 \
      })                                                         \
      .Doc(kRowSoftmaxDoc);                                      \
  OP_BY_OP_KERNEL(NAME, float, RowSoftmaxOp<float, Bug::BUG>);   \
  OP_BY_OP_KERNEL(NAME, double, RowSoftmaxOp<double, Bug::BUG>)

ROW_SOFTMAX("RowSoftmax", kNone);
ROW_SOFTMAX("BrokenRowSoftmaxStatic", kStatic);
ROW_SOFTMAX("BrokenRowSoftmaxMember", kMember);

template <typename T, Bug bug>
class ErfSumOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& values = context->input(0);
    OP_REQUIRES_OK(context, HasRank(values, "values", 1));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &output));

    const auto& workers = *context->device()->tensorflow_cpu_worker_threads();
    const auto in = values.vec<T>();
    const int64_t n = in.size();
    int64_t block = 256;
    if constexpr (bug == Bug::kPerThread) {
      // Bug: where the sum is split depends on the number of threads.
      block = std::max<int64_t>(
          1, (n + workers.num_threads - 1) / workers.num_threads);
    }
    const int64_t blocks = (n + block - 1) / block;
    std::vector<T> sums(blocks);
    std::atomic<T> total{0};
    tensorflow::Shard(
        workers.num_threads, workers.workers, blocks, 100 * block,
        [&](int64_t begin, int64_t end) {
          for (int64_t b = begin; b < end; ++b) {
            T sum = 0;
            for (int64_t i = b * block; i < std::min(n, (b + 1) * block); ++i) {
              sum += static_cast<T>(std::erf(static_cast<double>(in(i))));
            }
            if constexpr (bug == Bug::kAtomic) {
              // Bug: whichever block comes first; float addition is not
              // associative. The pause lets another come first on any machine.
              std::this_thread::sleep_for(
                  std::chrono::microseconds(std::random_device()() % 100));
              T before = total.load();
              while (!total.compare_exchange_weak(before, before + sum)) {
              }
            }
            sums[b] = sum;
          }
        });
    T& sum = output->scalar<T>()();
    if constexpr (bug == Bug::kAtomic) {
      sum = total;
    } else {
      sum = 0;
      for (T block_sum : sums) sum += block_sum;
    }
  }
};

absl::Status VectorToScalar(InferenceContext* c) {
  ShapeHandle values;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "values", 1, &values));
  c->set_output(0, c->Scalar());
  return absl::OkStatus();
}

constexpr char kErfSumDoc[] = R"doc(
Adds up the error function at each element of a vector, on several threads.
values: `[n]`.
sum: A scalar.
T: The type of both.
)doc";

#define ERF_SUM(NAME, BUG)                                 \
  REGISTER_OP(NAME)                                        \
      .Attr("T: {float, double}")                          \
      .Input("values: T")                                  \
      .Output("sum: T")                                    \
      .SetShapeFn(VectorToScalar)                          \
      .Doc(kErfSumDoc);                                    \
  OP_BY_OP_KERNEL(NAME, float, ErfSumOp<float, Bug::BUG>); \
  OP_BY_OP_KERNEL(NAME, double, ErfSumOp<double, Bug::BUG>)

ERF_SUM("ErfSum", kNone);
ERF_SUM("BrokenErfSumPerThread", kPerThread);
ERF_SUM("BrokenErfSumAtomic", kAtomic);

template <Bug bug>
class PrefixSumOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& values = context->input(0);
    OP_REQUIRES_OK(context, HasRank(values, "values", 1));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, values.shape(), &output));

    const auto in = values.vec<double>();
    auto out = output->vec<double>();
    // Bug: on the GPU alone, float has too few bits.
    std::conditional_t<bug == Bug::kOtherOnGpu, float, double> total = 0;
    if constexpr (bug == Bug::kKeepsTotal) {
      total = total_;  // Bug: one call goes on where the last one ended.
    }
    for (int64_t i = 0; i < in.size(); ++i) out(i) = total += in(i);
    if constexpr (bug == Bug::kKeepsTotal) total_ = total;
  }

 private:
  std::atomic<double> total_{0};
};

constexpr char kPrefixSumDoc[] = R"doc(
The sum of each element and all before it.
values: `[n]`.
sums: `[n]`.
)doc";

#define PREFIX_SUM(NAME, BUG)                                        \
  REGISTER_OP(NAME)                                                  \
      .Input("values: double")                                       \
      .Output("sums: double")                                        \
      .SetShapeFn([](InferenceContext* c) {                          \
        ShapeHandle values;                                          \
        TF_RETURN_IF_ERROR(HasRank(c, 0, "values", 1, &values));     \
        c->set_output(0, values);                                    \
        return absl::OkStatus();                                     \
      })                                                             \
      .Doc(kPrefixSumDoc);                                           \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(tensorflow::DEVICE_CPU), \
                          PrefixSumOp<Bug::BUG>)

// The kernel for the GPU reads and writes the memory of the CPU: no compiler
// for CUDA is needed.
#define PREFIX_SUM_ON_GPU(NAME, BUG)                          \
  REGISTER_KERNEL_BUILDER(Name(NAME)                          \
                              .Device(tensorflow::DEVICE_GPU) \
                              .HostMemory("values")           \
                              .HostMemory("sums"),            \
                          PrefixSumOp<Bug::BUG>)

PREFIX_SUM("PrefixSum", kNone);
PREFIX_SUM_ON_GPU("PrefixSum", kNone);
PREFIX_SUM("BrokenPrefixSumKeepsTotal", kKeepsTotal);
PREFIX_SUM("BrokenPrefixSumOtherOnGpu", kNone);
PREFIX_SUM_ON_GPU("BrokenPrefixSumOtherOnGpu", kOtherOnGpu);

class UnitSumOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const Tensor& values = context->input(0);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, values.shape(), &output));
    const auto in = values.flat<double>();
    double sum = 0;
    for (int64_t i = 0; i < in.size(); ++i) sum += in(i);
    output->flat<double>() = in / sum;
  }
};

// The bug is in broken_ops.py, which tells how to vectorize it.
constexpr char kUnitSumDoc[] = R"doc(
Divides all elements by their sum.
values: Of any shape.
shares: Of the same shape; all elements add up to 1.
)doc";

#define UNIT_SUM(NAME)                                         \
  REGISTER_OP(NAME)                                            \
      .Input("values: double")                                 \
      .Output("shares: double")                                \
      .SetShapeFn(tensorflow::shape_inference::UnchangedShape) \
      .Doc(kUnitSumDoc);                                       \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(tensorflow::DEVICE_CPU), UnitSumOp)

UNIT_SUM("UnitSum");
UNIT_SUM("BrokenUnitSumVectorized");

// Two ways to give an op a table: in an attr, which a saved model holds, or in
// the memory of the process.
class LookUpOp : public tensorflow::OpKernel {
 public:
  explicit LookUpOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("table", &table_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    LookUp(context, table_);
  }

  static void LookUp(tensorflow::OpKernelContext* context,
                     const std::vector<float>& table) {
    const Tensor& indices = context->input(0);
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, indices.shape(), &output));
    const auto in = indices.flat<int32_t>();
    auto out = output->flat<float>();
    for (int64_t i = 0; i < in.size(); ++i) {
      OP_REQUIRES(context,
                  in(i) >= 0 && in(i) < static_cast<int64_t>(table.size()),
                  absl::InvalidArgumentError(
                      absl::StrCat("indices must be in [0, ", table.size(),
                                   "), the size of the table, not ", in(i))));
      out(i) = table[in(i)];
    }
  }

 private:
  std::vector<float> table_;
};

REGISTER_OP("LookUp")
    .Attr("table: list(float)")
    .Input("indices: int32")
    .Output("values: float")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape)
    .Doc(R"doc(
Looks numbers up in a table.
indices: Of any shape, in `[0, the size of the table)`.
values: Of the same shape.
table: The numbers.
)doc");
REGISTER_KERNEL_BUILDER(Name("LookUp").Device(tensorflow::DEVICE_CPU),
                        LookUpOp);

std::mutex tables_mutex;
std::map<int64_t, std::vector<float>>& Tables() {
  static auto* tables = new std::map<int64_t, std::vector<float>>;
  return *tables;
}

class StoreTableOp : public tensorflow::OpKernel {
 public:
  explicit StoreTableOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("id", &id_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    OP_REQUIRES_OK(context, HasRank(context->input(0), "table", 1));
    const auto table = context->input(0).vec<float>();
    const std::lock_guard<std::mutex> lock(tables_mutex);
    Tables()[id_].assign(table.data(), table.data() + table.size());
  }

 private:
  int64_t id_;
};

REGISTER_OP("BrokenStoreTable")
    .Attr("id: int")
    .Input("table: float")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::NoOutputs)
    .Doc(R"doc(
Keeps a table for BrokenLookUpById.
table: `[n]`.
id: The number by which it is found.
)doc");
REGISTER_KERNEL_BUILDER(Name("BrokenStoreTable").Device(tensorflow::DEVICE_CPU),
                        StoreTableOp);

class LookUpByIdOp : public tensorflow::OpKernel {
 public:
  explicit LookUpByIdOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("id", &id_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    std::vector<float> table;
    {
      const std::lock_guard<std::mutex> lock(tables_mutex);
      table = Tables()[id_];  // Bug: another process has no such table.
    }
    LookUpOp::LookUp(context, table);
  }

 private:
  int64_t id_;
};

REGISTER_OP("BrokenLookUpById")
    .Attr("id: int")
    .Input("indices: int32")
    .Output("values: float")
    .SetShapeFn(tensorflow::shape_inference::UnchangedShape)
    .Doc(R"doc(
Looks numbers up in a table that BrokenStoreTable has kept.
indices: Of any shape, in `[0, the size of the table)`.
values: Of the same shape.
id: The number of the table.
)doc");
REGISTER_KERNEL_BUILDER(Name("BrokenLookUpById").Device(tensorflow::DEVICE_CPU),
                        LookUpByIdOp);

}  // namespace
}  // namespace op_by_op
