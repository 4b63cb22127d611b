// XdReciprocalRank, XdDegree, XdTicket, XdReverseComplement, XdBootstrap.

#include "common.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/lib/random/philox_random.h"
#include "tensorflow/core/util/work_sharder.h"

namespace xd {
namespace {

using tensorflow::tstring;

absl::Status ReciprocalRankShape(InferenceContext* context) {
  ShapeHandle scores;
  ShapeHandle target;
  TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 2, &scores));
  TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 1, &target));
  DimensionHandle users;
  TF_RETURN_IF_ERROR(
      context->Merge(context->Dim(scores, 0), context->Dim(target, 0), &users));
  context->set_output(0, context->Vector(users));
  return absl::OkStatus();
}

template <typename T, typename Index, int kForm>
class ReciprocalRankOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& scores = context->input(0);
    const Tensor& target = context->input(1);
    OP_REQUIRES(context, scores.dims() == 2,
                absl::InvalidArgumentError(
                    absl::StrCat("scores must have 2 axes, but has the shape ",
                                 scores.shape().DebugString())));
    OP_REQUIRES(context,
                target.dims() == 1 && target.dim_size(0) == scores.dim_size(0),
                absl::InvalidArgumentError(absl::StrCat(
                    "target must have one item for each of ",
                    scores.dim_size(0), " rows of scores, but has the shape ",
                    target.shape().DebugString())));
    const int64_t items = scores.dim_size(1);
    const auto wanted = target.vec<Index>();
    for (int64_t user = 0; user < wanted.size(); ++user) {
      OP_REQUIRES(context, Inside(wanted(user), items),
                  absl::InvalidArgumentError(
                      absl::StrCat("target must be from 0 to ", items - 1,
                                   ", but has ", wanted(user))));
    }
    Tensor* rank = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, target.shape(), &rank));
    const KeepSubnormals keep;
    const T* score = scores.flat<T>().data();
    auto out = rank->vec<T>();
    for (int64_t user = 0; user < wanted.size(); ++user, score += items) {
      const T own = score[wanted(user)];
      if (std::isnan(own)) {
        out(user) = own;
        continue;
      }
      int64_t place = 1;
      for (int64_t item = 0; item < items; ++item) place += score[item] > own;
      out(user) = static_cast<T>(1.0 / place);
    }
  }

 private:
  static bool Inside(int64_t item, int64_t items) {
    if constexpr (kForm == 1) return item < items;
    return item >= 0 && item < items;
  }
};

#define XD_RECIPROCAL_RANK_KERNEL(NAME, FORM, T, INDEX)         \
  REGISTER_KERNEL_BUILDER(Name(NAME)                            \
                              .Device(DEVICE_CPU)               \
                              .TypeConstraint<T>("T")           \
                              .TypeConstraint<INDEX>("Tindex"), \
                          ReciprocalRankOp<T, INDEX, FORM>)
#define XD_RECIPROCAL_RANK(NAME, FORM)                    \
  REGISTER_OP(NAME)                                       \
      .Attr("T: {float, double}")                         \
      .Attr("Tindex: {int32, int64}")                     \
      .Input("scores: T")                                 \
      .Input("target: Tindex")                            \
      .Output("reciprocal_rank: T")                       \
      .SetShapeFn(ReciprocalRankShape);                   \
  XD_RECIPROCAL_RANK_KERNEL(NAME, FORM, float, int32_t);  \
  XD_RECIPROCAL_RANK_KERNEL(NAME, FORM, float, int64_t);  \
  XD_RECIPROCAL_RANK_KERNEL(NAME, FORM, double, int32_t); \
  XD_RECIPROCAL_RANK_KERNEL(NAME, FORM, double, int64_t)

XD_RECIPROCAL_RANK("XdReciprocalRankBad", 1);
XD_RECIPROCAL_RANK("XdReciprocalRankGood", 2);

absl::Status CheckAtMost(const char* name, int64_t value, int64_t most) {
  if (value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " must be at most ", most, ", but is ", value));
}

constexpr int64_t kMostNodes = int64_t{1} << 27;
constexpr int64_t kMostResamples = int64_t{1} << 24;
constexpr int64_t kMostTickets = int64_t{1} << 20;

absl::Status DegreeShape(InferenceContext* context) {
  int64_t nodes;
  TF_RETURN_IF_ERROR(context->GetAttr("nodes", &nodes));
  TF_RETURN_IF_ERROR(CheckAtMost("nodes", nodes, kMostNodes));
  ShapeHandle edges;
  TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 2, &edges));
  DimensionHandle two;
  TF_RETURN_IF_ERROR(context->WithValue(context->Dim(edges, 1), 2, &two));
  context->set_output(0, context->Vector(nodes));
  return absl::OkStatus();
}

template <typename Index, int kForm>
class DegreeOp : public OpKernel {
 public:
  explicit DegreeOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("nodes", &nodes_));
    OP_REQUIRES_OK(context, CheckAtMost("nodes", nodes_, kMostNodes));
    OP_REQUIRES_OK(context, context->GetAttr("most", &most_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& edges = context->input(0);
    OP_REQUIRES(context, edges.dims() == 2 && edges.dim_size(1) == 2,
                absl::InvalidArgumentError(
                    absl::StrCat("edges must have the shape [edges, 2], but "
                                 "has ",
                                 edges.shape().DebugString())));
    const auto ends = edges.flat<Index>();
    for (int64_t i = 0; i < ends.size(); ++i) {
      OP_REQUIRES(context, ends(i) >= 0 && ends(i) < nodes_,
                  absl::InvalidArgumentError(
                      absl::StrCat("edges must have nodes from 0 to ",
                                   nodes_ - 1, ", but has ", ends(i))));
    }
    Tensor* degree = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {nodes_}, &degree));
    auto out = degree->vec<int64_t>();
    std::fill_n(out.data(), out.size(), 0);
    const auto& workers = *context->device()->tensorflow_cpu_worker_threads();
    tensorflow::Shard(workers.num_threads, workers.workers, ends.size(), 10,
                      [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) {
                          Increment(&out(ends(i)));
                        }
                      });
  }

 private:
  // One more, but not more than most_.
  void Increment(int64_t* count) const {
    if constexpr (kForm == 1) {
      const int64_t degree = *count;
      if (degree < most_) *count = degree + 1;
    } else {
      int64_t degree = __atomic_load_n(count, __ATOMIC_RELAXED);
      while (degree < most_ &&
             !__atomic_compare_exchange_n(count, &degree, degree + 1, true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      }
    }
  }

  int64_t nodes_;
  int64_t most_;
};

#define XD_DEGREE(NAME, FORM)                                          \
  REGISTER_OP(NAME)                                                    \
      .Attr("Tindex: {int32, int64}")                                  \
      .Attr("nodes: int >= 0")                                         \
      .Attr("most: int >= 0 = 2147483647")                             \
      .Input("edges: Tindex")                                          \
      .Output("degree: int64")                                         \
      .SetShapeFn(DegreeShape);                                        \
  REGISTER_KERNEL_BUILDER(                                             \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<int32_t>("Tindex"), \
      DegreeOp<int32_t, FORM>);                                        \
  REGISTER_KERNEL_BUILDER(                                             \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<int64_t>("Tindex"), \
      DegreeOp<int64_t, FORM>)

XD_DEGREE("XdDegreeBad", 1);
XD_DEGREE("XdDegreeGood", 2);

// The next number of a book.
class Book : public tensorflow::ResourceBase {
 public:
  std::string DebugString() const override { return "a book of tickets"; }

  int64_t Take(int64_t count) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const int64_t first = next_;
    next_ += count;
    return first;
  }

 private:
  std::mutex mutex_;
  int64_t next_ = 0;
};

absl::Status TicketShape(InferenceContext* context) {
  ShapeHandle scalar;
  TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 0, &scalar));
  DimensionHandle count;
  TF_RETURN_IF_ERROR(context->MakeDimForScalarInput(0, &count));
  context->set_output(0, context->Vector(count));
  return absl::OkStatus();
}

class TicketOp : public OpKernel {
 public:
  explicit TicketOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("book", &book_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& count = context->input(0);
    OP_REQUIRES(context, count.dims() == 0,
                absl::InvalidArgumentError(
                    absl::StrCat("count must be a scalar, but has the shape ",
                                 count.shape().DebugString())));
    const int64_t wanted = count.scalar<int32_t>()();
    OP_REQUIRES(context, wanted >= 0,
                absl::InvalidArgumentError(absl::StrCat(
                    "count must not be negative, but is ", wanted)));
    OP_REQUIRES_OK(context, CheckAtMost("count", wanted, kMostTickets));
    Tensor* ticket = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {wanted}, &ticket));
    tensorflow::ResourceMgr* manager = context->resource_manager();
    Book* book = nullptr;
    OP_REQUIRES_OK(
        context, manager->LookupOrCreate<Book>(
                     manager->default_container(),
                     absl::StrCat("xd_ticket/", book_), &book, [](Book** made) {
                       *made = new Book;
                       return absl::OkStatus();
                     }));
    const tensorflow::core::ScopedUnref unref(book);
    auto out = ticket->vec<int64_t>();
    int64_t next = book->Take(wanted);
    for (int64_t i = 0; i < wanted; ++i) out(i) = next++;
  }

 private:
  std::string book_;
};

REGISTER_OP("XdTicketBad")
    .Attr("book: string = 'tickets'")
    .Input("count: int32")
    .Output("ticket: int64")
    .SetShapeFn(TicketShape);
REGISTER_KERNEL_BUILDER(Name("XdTicketBad").Device(DEVICE_CPU), TicketOp);

REGISTER_OP("XdTicketGood")
    .Attr("book: string = 'tickets'")
    .Input("count: int32")
    .Output("ticket: int64")
    .SetIsStateful()
    .SetShapeFn(TicketShape);
REGISTER_KERNEL_BUILDER(Name("XdTicketGood").Device(DEVICE_CPU), TicketOp);

// The base that pairs with this one, 0 if this one isn't a base.
char Pair(char base) {
  switch (base) {
    case 'A':
      return 'T';
    case 'C':
      return 'G';
    case 'G':
      return 'C';
    case 'T':
      return 'A';
    case 'N':
      return 'N';
    case 'a':
      return 't';
    case 'c':
      return 'g';
    case 'g':
      return 'c';
    case 't':
      return 'a';
    case 'n':
      return 'n';
    default:
      return 0;
  }
}

template <int kForm>
class ReverseComplementOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& reads = context->input(0);
    const auto in = reads.flat<tstring>();
    for (int64_t i = 0; i < in.size(); ++i) {
      for (size_t k = 0; k < in(i).size(); ++k) {
        OP_REQUIRES(context, Pair(in(i)[k]) != 0,
                    absl::InvalidArgumentError(absl::StrCat(
                        "reads must have the bases ACGTN only, but read ", i,
                        " has another at ", k)));
      }
    }
    Tensor* strands = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, reads.shape(), &strands));
    auto out = strands->flat<tstring>();
    for (int64_t i = 0; i < in.size(); ++i) {
      std::string strand(in(i).data(), in(i).size());
      Turn(&strand);
      out(i) = strand;
    }
  }

 private:
  static void Turn(std::string* strand) {
    const size_t size = strand->size();
    const size_t half = kForm == 1 ? size / 2 : (size + 1) / 2;
    for (size_t k = 0; k < half; ++k) {
      const char first = (*strand)[k];
      const char last = (*strand)[size - 1 - k];
      (*strand)[k] = Pair(last);
      (*strand)[size - 1 - k] = Pair(first);
    }
  }
};

#define XD_REVERSE_COMPLEMENT(NAME, FORM)                       \
  REGISTER_OP(NAME)                                             \
      .Input("reads: string")                                   \
      .Output("strands: string")                                \
      .SetShapeFn(tensorflow::shape_inference::UnchangedShape); \
  REGISTER_KERNEL_BUILDER(Name(NAME).Device(DEVICE_CPU),        \
                          ReverseComplementOp<FORM>)

XD_REVERSE_COMPLEMENT("XdReverseComplementBad", 1);
XD_REVERSE_COMPLEMENT("XdReverseComplementGood", 2);

absl::Status BootstrapShape(InferenceContext* context) {
  int64_t resamples;
  TF_RETURN_IF_ERROR(context->GetAttr("resamples", &resamples));
  TF_RETURN_IF_ERROR(CheckAtMost("resamples", resamples, kMostResamples));
  ShapeHandle values;
  ShapeHandle seed;
  DimensionHandle two;
  TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 1, &values));
  TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 1, &seed));
  TF_RETURN_IF_ERROR(context->WithValue(context->Dim(seed, 0), 2, &two));
  const DimensionHandle size = context->Dim(values, 0);
  if (context->ValueKnown(size) && context->Value(size) == 0) {
    return absl::InvalidArgumentError("values must not be empty");
  }
  context->set_output(0, context->Vector(resamples));
  return absl::OkStatus();
}

template <typename T, int kForm>
class BootstrapOp : public OpKernel {
 public:
  explicit BootstrapOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("resamples", &resamples_));
    OP_REQUIRES_OK(context,
                   CheckAtMost("resamples", resamples_, kMostResamples));
  }

  void Compute(OpKernelContext* context) override {
    using Random = tensorflow::random::PhiloxRandom;
    const Tensor& values = context->input(0);
    const Tensor& seed = context->input(1);
    OP_REQUIRES(context,
                values.dims() == 1 && values.NumElements() > 0 &&
                    values.NumElements() <= (int64_t{1} << 31),
                absl::InvalidArgumentError(absl::StrCat(
                    "values must have one axis and not be empty, but has the "
                    "shape ",
                    values.shape().DebugString())));
    OP_REQUIRES(context, seed.dims() == 1 && seed.dim_size(0) == 2,
                absl::InvalidArgumentError(
                    absl::StrCat("seed must have the shape [2], but has ",
                                 seed.shape().DebugString())));
    Tensor* means = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {resamples_}, &means));
    const auto in = values.vec<T>();
    auto out = means->vec<T>();
    const auto key = seed.vec<int64_t>();
    const int64_t size = in.size();
    const uint64_t groups = (size + 3) / 4;
    const auto& workers = *context->device()->tensorflow_cpu_worker_threads();
    tensorflow::Shard(workers.num_threads, workers.workers, resamples_,
                      10 * size, [&](int64_t begin, int64_t end) {
                        const KeepSubnormals keep;
                        Random random(key(0), key(1));
                        if constexpr (kForm == 1) random.Skip(begin);
                        for (int64_t row = begin; row < end; ++row) {
                          if constexpr (kForm == 2) {
                            random = Random(key(0), key(1));
                            random.Skip(row * groups);
                          }
                          double sum = 0;
                          Random::ResultType drawn;
                          for (int64_t i = 0; i < size; ++i) {
                            if (i % 4 == 0) drawn = random();
                            const uint64_t bits = drawn[i % 4];
                            sum +=
                                in((bits * static_cast<uint64_t>(size)) >> 32);
                          }
                          out(row) = static_cast<T>(sum / size);
                        }
                      });
  }

 private:
  int64_t resamples_;
};

#define XD_BOOTSTRAP(NAME, FORM)                                 \
  REGISTER_OP(NAME)                                              \
      .Attr("T: {float, double}")                                \
      .Attr("resamples: int >= 0 = 100")                         \
      .Input("values: T")                                        \
      .Input("seed: int64")                                      \
      .Output("means: T")                                        \
      .SetShapeFn(BootstrapShape);                               \
  REGISTER_KERNEL_BUILDER(                                       \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<float>("T"),  \
      BootstrapOp<float, FORM>);                                 \
  REGISTER_KERNEL_BUILDER(                                       \
      Name(NAME).Device(DEVICE_CPU).TypeConstraint<double>("T"), \
      BootstrapOp<double, FORM>)

XD_BOOTSTRAP("XdBootstrapBad", 1);
XD_BOOTSTRAP("XdBootstrapGood", 2);

}  // namespace
}  // namespace xd
