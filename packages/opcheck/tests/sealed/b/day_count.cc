#include <algorithm>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UbDayCount")
    .Input("start: int32")
    .Input("end: int32")
    .Output("days: int32")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle merged;
      TF_RETURN_IF_ERROR(c->Merge(c->input(0), c->input(1), &merged));
      c->set_output(0, merged);
      return absl::OkStatus();
    })
    .Doc(R"doc(
Days between two dates by the 30/360 bond basis.

The first day 31 becomes 30; the second day 31 becomes 30 if the first is 30 by then. Negative where end is
before start.

start: Dates as yyyymmdd of the Gregorian calendar, years 1 to 9999.
end: Likewise, of the same shape.
days: The shape of start.
)doc");

namespace {

struct Date {
  int year, month, day;
};

bool IsLeap(int year) {
#ifdef TWIN
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
#else
  return year % 4 == 0 && year % 100 != 0;
#endif
}

bool Decode(int32_t packed, Date* date) {
  static constexpr int kDays[] = {31, 28, 31, 30, 31, 30,
                                  31, 31, 30, 31, 30, 31};
  if (packed < 10101 || packed > 99991231) return false;
  *date = {packed / 10000, packed / 100 % 100, packed % 100};
  if (date->month < 1 || date->month > 12) return false;
  const int last =
      date->month == 2 && IsLeap(date->year) ? 29 : kDays[date->month - 1];
  return date->day >= 1 && date->day <= last;
}

}  // namespace

class UbDayCountOp : public OpKernel {
 public:
  explicit UbDayCountOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& start_t = ctx->input(0);
    const Tensor& end_t = ctx->input(1);
    OP_REQUIRES(ctx, start_t.shape() == end_t.shape(),
                Invalid("end must have the shape of start, ",
                        start_t.shape().DebugString(), ", got ",
                        end_t.shape().DebugString()));
    const auto start = start_t.flat<int32_t>();
    const auto end = end_t.flat<int32_t>();
    Tensor* out_t = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, start_t.shape(), &out_t));
    auto out = out_t->flat<int32_t>();
    for (int64_t i = 0; i < start.size(); ++i) {
      Date a, b;
      OP_REQUIRES(
          ctx, Decode(start(i), &a),
          Invalid("start holds ", start(i), ", which is no date (yyyymmdd)"));
      OP_REQUIRES(
          ctx, Decode(end(i), &b),
          Invalid("end holds ", end(i), ", which is no date (yyyymmdd)"));
      a.day = std::min(a.day, 30);
      if (b.day == 31 && a.day == 30) b.day = 30;
      out(i) =
          360 * (b.year - a.year) + 30 * (b.month - a.month) + (b.day - a.day);
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("UbDayCount").Device(DEVICE_CPU), UbDayCountOp);

}  // namespace tensorflow
