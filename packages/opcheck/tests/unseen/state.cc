// Ops whose bug is in what they keep, share or take from their caller.

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "pair.h"

namespace op_by_op {
namespace {

template <bool>
absl::Status VectorShape(InferenceContext* c) {
  ShapeHandle x;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 1, &x));
  c->set_output(0, x);
  return absl::OkStatus();
}

template <bool bug>
class HannWindowOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES_OK(context, HasRank(x, "x", 1));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    const auto in = x.vec<float>();
    auto out = y->vec<float>();
    const int64_t size = in.size();
    if constexpr (bug) {
      static std::mutex mutex;
      static std::vector<double> window;
      const std::lock_guard<std::mutex> lock(mutex);
      if (static_cast<int64_t>(window.size()) < size) {
        window.resize(size);
        for (int64_t i = 0; i < size; ++i) window[i] = Window(i, size);
      }
      for (int64_t i = 0; i < size; ++i) {
        out(i) = static_cast<float>(in(i) * window[i]);
      }
    } else {
      for (int64_t i = 0; i < size; ++i) {
        out(i) = static_cast<float>(in(i) * Window(i, size));
      }
    }
  }

 private:
  static double Window(int64_t i, int64_t size) {
    return 0.5 - 0.5 * std::cos(2 * M_PI * static_cast<double>(i) /
                                static_cast<double>(size));
  }
};

PAIR("HannWindow", HannWindowOp, VectorShape,
     .Input("x: float").Output("y: float"));

template <bool bug>
class RowMedianOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES_OK(context, HasRank(x, "x", 2));
    const int64_t columns = x.dim_size(1);
    OP_REQUIRES(context, columns > 0, Invalid("x must have a column"));
    Tensor* medians = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, {x.dim_size(0)}, &medians));
    auto out = medians->vec<float>();
    std::vector<float> local;
    std::vector<float>& row = bug ? scratch_ : local;
    row.resize(columns);
    for (int64_t i = 0; i < out.size(); ++i) {
      std::copy_n(x.flat<float>().data() + i * columns, columns, row.begin());
      const auto nan = std::find_if(row.begin(), row.end(),
                                    [](float v) { return std::isnan(v); });
      if (nan != row.end()) {
        out(i) = *nan;
        continue;
      }
      const auto middle = row.begin() + columns / 2;
      std::nth_element(row.begin(), middle, row.end());
      out(i) = *middle;
    }
  }

 private:
  std::vector<float> scratch_;
};

template <bool>
absl::Status OnePerRow(InferenceContext* c) {
  ShapeHandle x;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 2, &x));
  c->set_output(0, c->Vector(c->Dim(x, 0)));
  return absl::OkStatus();
}

PAIR("MedianOfRow", RowMedianOp, OnePerRow,
     .Input("x: float").Output("medians: float"));

class JitterOp : public OpKernel {
 public:
  explicit JitterOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("width", &width_));
    OP_REQUIRES(c, width_ >= 0, Invalid("width must not be negative"));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    const auto in = x.flat<float>();
    auto out = y->flat<float>();
    std::mt19937 random{std::random_device{}()};
    std::uniform_real_distribution<float> noise(-1, 1);
    for (int64_t i = 0; i < in.size(); ++i) {
      out(i) = in(i) + width_ * noise(random);
    }
  }

 private:
  float width_;
};

REGISTER_OP("Jitter")
    .Input("x: float")
    .Output("y: float")
    .Attr("width: float = 0.1")
    .SetIsStateful()
    .SetShapeFn(FirstShape<false>);
REGISTER_OP("BuggyJitter")
    .Input("x: float")
    .Output("y: float")
    .Attr("width: float = 0.1")
    .SetShapeFn(FirstShape<true>);
REGISTER_KERNEL_BUILDER(Name("Jitter").Device(tensorflow::DEVICE_CPU),
                        JitterOp);
REGISTER_KERNEL_BUILDER(Name("BuggyJitter").Device(tensorflow::DEVICE_CPU),
                        JitterOp);

template <bool bug>
class ParsePricesOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& prices = context->input(0);
    Tensor* values = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, prices.shape(), &values));
    const auto price = prices.flat<tstring>();
    auto out = values->flat<float>();
    for (int64_t i = 0; i < price.size(); ++i) {
      char* text = strndup(price(i).data(), price(i).size());
      const bool ok = std::strlen(text) == price(i).size() &&
                      absl::SimpleAtof(text, &out(i));
      if constexpr (!bug) std::free(text);
      OP_REQUIRES(context, ok, Invalid("prices[", i, "] is not a number"));
    }
  }
};

PAIR("ParsePrices", ParsePricesOp, FirstShape,
     .Input("prices: string").Output("values: float"));

template <bool bug>
class ParseCountsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& counts = context->input(0);
    Tensor* values = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, counts.shape(), &values));
    const auto count = counts.flat<tstring>();
    auto out = values->flat<int64_t>();
    for (int64_t i = 0; i < count.size(); ++i) {
      const bool ok = absl::SimpleAtoi(absl::string_view(count(i)), &out(i));
      if constexpr (bug) {
        if (!ok) out(i) = 0;
      } else {
        OP_REQUIRES(context, ok, Invalid("counts[", i, "] is not an integer"));
      }
    }
  }
};

PAIR("ParseCounts", ParseCountsOp, FirstShape,
     .Input("counts: string").Output("values: int64"));

template <bool bug>
class CountLinesOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& path = context->input(0);
    OP_REQUIRES_OK(context, HasRank(path, "path", 0));
    const std::string name(path.scalar<tstring>()());
    const std::string shown = absl::CHexEscape(name);
    OP_REQUIRES(context, name.find('\0') == std::string::npos,
                Invalid("path has a zero byte"));
    Tensor* lines = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &lines));
    std::FILE* file = std::fopen(name.c_str(), "rb");
    OP_REQUIRES(context, file != nullptr,
                absl::NotFoundError(absl::StrCat("path: no file ", shown)));
    int64_t count = 0;
    char buffer[4096];
    while (const size_t size = std::fread(buffer, 1, sizeof(buffer), file)) {
      count += std::count(buffer, buffer + size, '\n');
    }
    const bool failed = std::ferror(file) != 0;
    if constexpr (!bug) std::fclose(file);
    OP_REQUIRES(context, !failed, Invalid("path: cannot read ", shown));
    lines->scalar<int64_t>()() = count;
  }
};

template <bool>
absl::Status CountLinesShape(InferenceContext* c) {
  ShapeHandle path;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "path", 0, &path));
  c->set_output(0, c->Scalar());
  return absl::OkStatus();
}

PAIR("CountLines", CountLinesOp, CountLinesShape,
     .Input("path: string").Output("lines: int64"));

template <bool bug>
class SwapHalvesOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES_OK(context, HasRank(x, "x", 1));
    Tensor* y = nullptr;
    if constexpr (bug) {
      OP_REQUIRES_OK(context, context->forward_input_or_allocate_output(
                                  {0}, 0, x.shape(), &y));
    } else {
      OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    }
    const auto in = x.vec<float>();
    auto out = y->vec<float>();
    const int64_t size = in.size();
    for (int64_t i = 0; i < size; ++i) out(i) = in((i + size / 2) % size);
  }
};

PAIR("SwapHalves", SwapHalvesOp, VectorShape,
     .Input("x: float").Output("y: float"));

template <bool bug>
class SumOfNumbersOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    Tensor x = context->input(0);
    Tensor* sum = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &sum));
    auto in = x.flat<float>();
    double total = 0;
    for (int64_t i = 0; i < in.size(); ++i) {
      if constexpr (bug) {
        if (std::isnan(in(i))) in(i) = 0;
        total += in(i);
      } else {
        if (!std::isnan(in(i))) total += in(i);
      }
    }
    sum->scalar<float>()() = static_cast<float>(total);
  }
};

PAIR("SumOfNumbers", SumOfNumbersOp, Scalar,
     .Input("x: float").Output("sum: float"));

template <bool bug>
class DotFourOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    const Tensor& y = context->input(1);
    OP_REQUIRES_OK(context, HasRank(x, "x", 1));
    OP_REQUIRES_OK(context, HasRank(y, "y", 1));
    OP_REQUIRES(context, x.shape() == y.shape(),
                Invalid("x and y must have one size, not ", x.dim_size(0),
                        " and ", y.dim_size(0)));
    Tensor* product = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &product));
    const float* a = x.flat<float>().data();
    const float* b = y.flat<float>().data();
    const int64_t size = x.NumElements();
    double sums[4] = {};
    for (int64_t i = 0; i < size; i += 4) {
      float fours[2][4] = {};
      const int64_t left = std::min<int64_t>(4, size - i);
      const size_t bytes = (bug ? 4 : left) * sizeof(float);
      std::memcpy(fours[0], a + i, bytes);
      std::memcpy(fours[1], b + i, bytes);
      for (int64_t k = 0; k < left; ++k) {
        sums[k] += static_cast<double>(fours[0][k]) * fours[1][k];
      }
    }
    product->scalar<float>()() =
        static_cast<float>(sums[0] + sums[1] + sums[2] + sums[3]);
  }
};

template <bool>
absl::Status DotFourShape(InferenceContext* c) {
  ShapeHandle x, y, both;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 1, &x));
  TF_RETURN_IF_ERROR(HasRank(c, 1, "y", 1, &y));
  if (!c->Merge(x, y, &both).ok()) return Invalid("x and y must have one size");
  c->set_output(0, c->Scalar());
  return absl::OkStatus();
}

PAIR("DotFour", DotFourOp, DotFourShape,
     .Input("x: float").Input("y: float").Output("product: float"));

template <bool bug>
class BlurThreeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES_OK(context, HasRank(x, "x", 1));
    const int64_t size = x.dim_size(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    Tensor scratch;
    OP_REQUIRES_OK(context, context->allocate_temp(tensorflow::DT_FLOAT,
                                                   {size + 2}, &scratch));
    float* padded = scratch.flat<float>().data();
    padded[0] = 0;
    std::copy_n(x.flat<float>().data(), size, padded + 1);
    if constexpr (!bug) padded[size + 1] = 0;
    auto out = y->vec<float>();
    for (int64_t i = 0; i < size; ++i) {
      out(i) = 0.25f * padded[i] + 0.5f * padded[i + 1] + 0.25f * padded[i + 2];
    }
  }
};

PAIR("BlurThree", BlurThreeOp, VectorShape,
     .Input("x: float").Output("y: float"));

template <bool bug>
class LogisticFourOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    const float* in = x.flat<float>().data();
    float* out = y->flat<float>().data();
    const int64_t size = x.NumElements();
    for (int64_t i = 0; i < size; i += 4) {
      const int64_t left = std::min<int64_t>(4, size - i);
      float lanes[4] = {};
      for (int64_t k = 0; k < left; ++k)
        lanes[k] = 1 / (1 + std::exp(-in[i + k]));
      std::memcpy(out + i, lanes, (bug ? 4 : left) * sizeof(float));
    }
  }
};

PAIR("LogisticFour", LogisticFourOp, FirstShape,
     .Input("x: float").Output("y: float"));

template <bool bug>
class TakeWindowOp : public OpKernel {
 public:
  explicit TakeWindowOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("length", &length_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    const Tensor& start = context->input(1);
    OP_REQUIRES_OK(context, HasRank(x, "x", 1));
    if constexpr (!bug) OP_REQUIRES_OK(context, HasRank(start, "start", 0));
    const int64_t first = start.scalar<int32_t>()();
    OP_REQUIRES(context, length_ <= x.dim_size(0),
                Invalid("length must be at most ", x.dim_size(0),
                        ", the size of x, not ", length_));
    OP_REQUIRES(context, first >= 0 && first <= x.dim_size(0) - length_,
                Invalid("start must be in [0, ", x.dim_size(0) - length_,
                        "], not ", first));
    Tensor* window = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {length_}, &window));
    std::copy_n(x.flat<float>().data() + first, length_,
                window->flat<float>().data());
  }

 private:
  int64_t length_;
};

template <bool bug>
absl::Status TakeWindowShape(InferenceContext* c) {
  ShapeHandle unused;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 1, &unused));
  if constexpr (!bug) TF_RETURN_IF_ERROR(HasRank(c, 1, "start", 0, &unused));
  int64_t length;
  TF_RETURN_IF_ERROR(c->GetAttr("length", &length));
  c->set_output(0, c->Vector(length));
  return absl::OkStatus();
}

PAIR("TakeWindow", TakeWindowOp, TakeWindowShape,
     .Input("x: float")
         .Input("start: int32")
         .Output("window: float")
         .Attr("length: int >= 0"));

template <bool bug>
class SortedIndexOp : public OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    const Tensor& edges = context->input(0);
    const Tensor& values = context->input(1);
    OP_REQUIRES_OK(context, HasRank(edges, "edges", 1));
    Tensor* indices = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, values.shape(), &indices));
    const float* first = edges.flat<float>().data();
    const float* last = first + edges.NumElements();
    bool sorted = first == last || !std::isnan(*first);
    for (const float* edge = first; last - edge > 1; ++edge) {
      sorted = sorted && edge[0] <= edge[1];
    }
    if constexpr (bug) {
      OP_REQUIRES(context, sorted, absl::InternalError("check failed: sorted"));
    } else {
      OP_REQUIRES(context, sorted, Invalid("edges must be sorted"));
    }
    const auto value = values.flat<float>();
    auto out = indices->flat<int32_t>();
    for (int64_t i = 0; i < value.size(); ++i) {
      out(i) = static_cast<int32_t>(
          std::isnan(value(i))
              ? last - first
              : std::lower_bound(first, last, value(i)) - first);
    }
  }
};

template <bool>
absl::Status SortedIndexShape(InferenceContext* c) {
  ShapeHandle edges;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "edges", 1, &edges));
  c->set_output(0, c->input(1));
  return absl::OkStatus();
}

PAIR("SortedIndex", SortedIndexOp, SortedIndexShape,
     .Input("edges: float").Input("values: float").Output("indices: int32"));

template <bool bug>
class CycleToOp : public OpKernel {
 public:
  explicit CycleToOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("length", &length_));
    OP_REQUIRES(c, length_ <= 1 << 20,
                Invalid("length must be at most 2**20, not ", length_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES_OK(context, HasRank(x, "x", 1));
    const int64_t size = x.dim_size(0);
    if constexpr (!bug) {
      OP_REQUIRES(context, size > 0 || length_ == 0,
                  Invalid("x must not be empty"));
    }
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {length_}, &y));
    volatile int64_t filled = 0;
    while (filled < length_) {
      const int64_t count = std::min(size, length_ - filled);
      std::copy_n(x.flat<float>().data(), count,
                  y->flat<float>().data() + filled);
      filled = filled + count;
    }
  }

 private:
  int64_t length_;
};

template <bool>
absl::Status CycleToShape(InferenceContext* c) {
  ShapeHandle unused;
  TF_RETURN_IF_ERROR(HasRank(c, 0, "x", 1, &unused));
  int64_t length;
  TF_RETURN_IF_ERROR(c->GetAttr("length", &length));
  c->set_output(0, c->Vector(length));
  return absl::OkStatus();
}

PAIR("CycleTo", CycleToOp, CycleToShape,
     .Input("x: float").Output("y: float").Attr("length: int >= 0"));

template <bool bug>
class RingShiftOp : public OpKernel {
 public:
  explicit RingShiftOp(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("shift", &shift_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& x = context->input(0);
    OP_REQUIRES_OK(context, HasRank(x, "x", 1));
    Tensor* y = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, x.shape(), &y));
    const int64_t size = x.dim_size(0);
    if (!bug && size == 0) return;
    const float* in = x.flat<float>().data();
    const int64_t last = (shift_ % size + size) % size;
    std::rotate_copy(in, in + (size - last), in + size,
                     y->flat<float>().data());
  }

 private:
  int64_t shift_;
};

PAIR("RingShift", RingShiftOp, VectorShape,
     .Input("x: float").Output("y: float").Attr("shift: int = 1"));

}  // namespace
}  // namespace op_by_op
