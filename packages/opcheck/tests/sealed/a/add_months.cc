// Adds months to dates.
#include <algorithm>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UaAddMonths")
    .Input("days: int64")
    .Input("months: int64")
    .Output("moved: int64")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle shape;
      TF_RETURN_IF_ERROR(c->Merge(c->input(0), c->input(1), &shape));
      c->set_output(0, shape);
      return absl::OkStatus();
    })
    .Doc(R"doc(
Adds months to dates of the proleptic Gregorian calendar.

If the new month is too short for the day, the result is the last day of the month.

days: Dates as days since 1970-01-01, in the years 1 to 9999.
months: Months to add, of either sign, in the shape of days. The result must be in the years 1 to 9999, too.
)doc");

constexpr int64_t kFirstDay = -719162;  // 0001-01-01
constexpr int64_t kLastDay = 2932896;   // 9999-12-31

// Days since 1970-01-01 of a date with year >= 1.
int64_t ToDays(int64_t year, int64_t month, int64_t day) {
  year -= month <= 2;
  const int64_t era = year / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year =
      (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 -
         year_of_era / 100 + day_of_year - 719468;
}

void FromDays(int64_t days, int64_t* year, int64_t* month, int64_t* day) {
  days += 719468;
  const int64_t era = days / 146097;
  const int64_t day_of_era = days - era * 146097;
  const int64_t year_of_era = (day_of_era - day_of_era / 1460 +
                               day_of_era / 36524 - day_of_era / 146096) /
                              365;
  const int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t shifted = (5 * day_of_year + 2) / 153;
  *day = day_of_year - (153 * shifted + 2) / 5 + 1;
  *month = shifted + (shifted < 10 ? 3 : -9);
  *year = year_of_era + era * 400 + (*month <= 2);
}

int64_t DaysInMonth(int64_t year, int64_t month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return kDays[month - 1] + (month == 2 && leap);
}

class AddMonthsOp : public OpKernel {
 public:
  explicit AddMonthsOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& days = ctx->input(0);
    const Tensor& months = ctx->input(1);
    OP_REQUIRES(ctx, months.shape() == days.shape(),
                Invalid("months must have the shape of days, got ",
                        months.shape().DebugString(), " and ",
                        days.shape().DebugString()));
    Tensor* moved = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, days.shape(), &moved));
    auto in = days.flat<int64_t>();
    auto add = months.flat<int64_t>();
    auto out = moved->flat<int64_t>();
    for (int64_t i = 0; i < in.size(); ++i) {
      OP_REQUIRES(ctx, in(i) >= kFirstDay && in(i) <= kLastDay,
                  Invalid("days must be in the years 1 to 9999, got ", in(i)));
      int64_t year, month, day;
      FromDays(in(i), &year, &month, &day);
      const int64_t first = year * 12 + month - 1;
      OP_REQUIRES(
          ctx, add(i) >= 12 - first && add(i) < 120000 - first,
          Invalid("months lead out of the years 1 to 9999, got ", add(i)));
      const int64_t total = first + add(i);
      const int64_t new_month = total % 12 + 1;
#ifdef TWIN
      year = total / 12;
      const int64_t last = DaysInMonth(year, new_month);
#else
      const int64_t last = DaysInMonth(year, new_month);
      year = total / 12;
#endif
      out(i) = ToDays(year, new_month, std::min(day, last));
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("UaAddMonths").Device(DEVICE_CPU), AddMonthsOp);

}  // namespace
}  // namespace tensorflow
