#include <cstdint>
#include <limits>

#include "../invalid.h"
#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {

REGISTER_OP("UbParseMoney")
    .Input("amounts: string")
    .Output("cents: int64")
    .SetShapeFn(shape_inference::UnchangedShape)
    .Doc(R"doc(
Parses amounts of money such as "1,234.50" or "-3.2" to cents.

An amount is an optional sign, digits (all plain, or all grouped by commas in threes), and optionally a point with
one or two digits. Blanks are not allowed.

amounts: Any shape.
cents: The shape of amounts.
)doc");

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool ParseCents(absl::string_view text, int64_t* cents) {
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  const size_t point = text.find('.');
  const absl::string_view digits = text.substr(0, point);
  const bool grouped = digits.find(',') != absl::string_view::npos;
  if (digits.empty() || (grouped && digits.size() % 4 == 0)) return false;
  constexpr int64_t kMaxWhole = std::numeric_limits<int64_t>::max() / 100 - 1;
  int64_t whole = 0;
  for (size_t i = 0; i < digits.size(); ++i) {
    const bool comma = grouped && (digits.size() - i) % 4 == 0;
    if (comma ? digits[i] != ',' : !IsDigit(digits[i])) return false;
    if (comma) continue;
    const int digit = digits[i] - '0';
    if (whole > (kMaxWhole - digit) / 10) return false;
    whole = whole * 10 + digit;
  }

  int64_t fraction = 0;
  if (point != absl::string_view::npos) {
    const absl::string_view decimals = text.substr(point + 1);
    if (decimals.empty() || decimals.size() > 2) return false;
    for (const char c : decimals) {
      if (!IsDigit(c)) return false;
      fraction = fraction * 10 + (c - '0');
    }
    if (decimals.size() == 1) fraction *= 10;
  }
#ifdef TWIN
  *cents = whole * 100 + fraction;
  if (negative) *cents = -*cents;
#else
  if (negative) whole = -whole;
  *cents = whole * 100 + (whole < 0 ? -fraction : fraction);
#endif
  return true;
}

}  // namespace

class UbParseMoneyOp : public OpKernel {
 public:
  explicit UbParseMoneyOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& amounts_t = ctx->input(0);
    const auto amounts = amounts_t.flat<tstring>();
    Tensor* out_t = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, amounts_t.shape(), &out_t));
    auto out = out_t->flat<int64_t>();
    for (int64_t i = 0; i < amounts.size(); ++i) {
      const absl::string_view text(amounts(i).data(), amounts(i).size());
      OP_REQUIRES(
          ctx, ParseCents(text, &out(i)),
          Invalid("amounts holds '", absl::CEscape(text),
                  "', which is no amount of at most 92233720368547757 units"));
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("UbParseMoney").Device(DEVICE_CPU),
                        UbParseMoneyOp);

}  // namespace tensorflow
