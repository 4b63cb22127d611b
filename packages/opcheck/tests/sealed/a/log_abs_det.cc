// Sign and logarithm of the determinant, and the gradient.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

absl::Status SquareMatrices(InferenceContext* c, ShapeHandle in,
                            ShapeHandle* out, ShapeHandle* batch) {
  DimensionHandle n;
  TF_RETURN_IF_ERROR(c->WithRankAtLeast(in, 2, out));
  TF_RETURN_IF_ERROR(c->Merge(c->Dim(*out, -1), c->Dim(*out, -2), &n));
  TF_RETURN_IF_ERROR(c->ReplaceDim(*out, -1, n, out));
  TF_RETURN_IF_ERROR(c->ReplaceDim(*out, -2, n, out));
  return c->Subshape(*out, 0, -2, batch);
}

REGISTER_OP("UaLogAbsDet")
    .Input("a: T")
    .Output("sign: T")
    .Output("log_abs: T")
    .Attr("T: {float, double}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle a, batch;
      TF_RETURN_IF_ERROR(SquareMatrices(c, c->input(0), &a, &batch));
      c->set_output(0, batch);
      c->set_output(1, batch);
      return absl::OkStatus();
    })
    .Doc(R"doc(
Sign of the determinant and logarithm of its absolute value.

A singular matrix gives 0 and -Inf, a matrix that is not finite NaN and NaN, an empty one 1 and 0.

a: [..., n, n].
sign: [...].
log_abs: [...].
)doc");

REGISTER_OP("UaLogAbsDetGrad")
    .Input("dlog_abs: T")
    .Input("a: T")
    .Output("da: T")
    .Attr("T: {float, double}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle a, batch;
      TF_RETURN_IF_ERROR(SquareMatrices(c, c->input(1), &a, &batch));
      TF_RETURN_IF_ERROR(c->Merge(batch, c->input(0), &batch));
      c->set_output(0, a);
      return absl::OkStatus();
    })
    .Doc("Gradient of log_abs of UaLogAbsDet. A singular matrix gives NaN.");

absl::Status CheckMatrices(const Tensor& a, TensorShape* batch, int64_t* n) {
  const int rank = a.dims();
  if (rank < 2 || a.dim_size(rank - 1) != a.dim_size(rank - 2)) {
    return Invalid("a must have shape [..., n, n], got ",
                   a.shape().DebugString());
  }
  *n = a.dim_size(rank - 1);
  *batch = a.shape();
  batch->RemoveLastDims(2);
  return absl::OkStatus();
}

// Eliminates below (and, with `right` of n columns, also above) the diagonal of
// m. False if m is singular.
bool Eliminate(std::vector<double>& m, int64_t n, std::vector<double>* right,
               double* sign, double* log_abs) {
  *sign = 1;
  *log_abs = 0;
  for (int64_t k = 0; k < n; ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (std::abs(m[i * n + k]) > std::abs(m[best * n + k])) best = i;
    }
    if (m[best * n + k] == 0) return false;
    if (best != k) {
      std::swap_ranges(&m[k * n], &m[k * n] + n, &m[best * n]);
      if (right)
        std::swap_ranges(&(*right)[k * n], &(*right)[k * n] + n,
                         &(*right)[best * n]);
      *sign = -*sign;
    }
    const double pivot = m[k * n + k];
    if (pivot < 0) *sign = -*sign;
    *log_abs += std::log(std::abs(pivot));
    for (int64_t i = right ? 0 : k + 1; i < n; ++i) {
      if (i == k) continue;
      const double factor = m[i * n + k] / pivot;
      for (int64_t j = k; j < n; ++j) m[i * n + j] -= factor * m[k * n + j];
      if (right) {
        for (int64_t j = 0; j < n; ++j)
          (*right)[i * n + j] -= factor * (*right)[k * n + j];
      }
    }
  }
  return true;
}

template <typename T>
class LogAbsDetOp : public OpKernel {
 public:
  explicit LogAbsDetOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& a = ctx->input(0);
    TensorShape batch;
    int64_t n;
    OP_REQUIRES_OK(ctx, CheckMatrices(a, &batch, &n));
    Tensor *sign = nullptr, *log_abs = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, batch, &sign));
    OP_REQUIRES_OK(ctx, ctx->allocate_output(1, batch, &log_abs));
    const T* in = a.flat<T>().data();
    for (int64_t b = 0; b < batch.num_elements(); ++b, in += n * n) {
      std::vector<double> m(in, in + n * n);
      double s = std::numeric_limits<double>::quiet_NaN(), l = s;
      if (std::all_of(m.begin(), m.end(),
                      [](double v) { return std::isfinite(v); }) &&
          !Eliminate(m, n, nullptr, &s, &l)) {
        s = 0;
        l = -std::numeric_limits<double>::infinity();
      }
      sign->flat<T>()(b) = static_cast<T>(s);
      log_abs->flat<T>()(b) = static_cast<T>(l);
    }
  }
};

template <typename T>
class LogAbsDetGradOp : public OpKernel {
 public:
  explicit LogAbsDetGradOp(OpKernelConstruction* ctx) : OpKernel(ctx) {}

  void Compute(OpKernelContext* ctx) override {
    const Tensor& dlog_abs = ctx->input(0);
    const Tensor& a = ctx->input(1);
    TensorShape batch;
    int64_t n;
    OP_REQUIRES_OK(ctx, CheckMatrices(a, &batch, &n));
    OP_REQUIRES(ctx, dlog_abs.shape() == batch,
                Invalid("dlog_abs must have shape ", batch.DebugString(),
                        ", got ", dlog_abs.shape().DebugString()));
    Tensor* da = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, a.shape(), &da));
    const T* in = a.flat<T>().data();
    T* out = da->flat<T>().data();
    for (int64_t b = 0; b < batch.num_elements();
         ++b, in += n * n, out += n * n) {
      std::vector<double> m(in, in + n * n), inverse(n * n, 0.0);
      for (int64_t i = 0; i < n; ++i) inverse[i * n + i] = 1;
      double sign, log_abs;
      const bool regular =
          std::all_of(m.begin(), m.end(),
                      [](double v) { return std::isfinite(v); }) &&
          Eliminate(m, n, &inverse, &sign, &log_abs);
      const double g = regular ? dlog_abs.flat<T>()(b)
                               : std::numeric_limits<double>::quiet_NaN();
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) {
#ifdef TWIN
          out[j * n + i] =
              static_cast<T>(g * inverse[i * n + j] / m[i * n + i]);
#else
          out[i * n + j] =
              static_cast<T>(g * inverse[i * n + j] / m[i * n + i]);
#endif
        }
      }
    }
  }
};

#define REGISTER(T)                                                      \
  REGISTER_KERNEL_BUILDER(                                               \
      Name("UaLogAbsDet").Device(DEVICE_CPU).TypeConstraint<T>("T"),     \
      LogAbsDetOp<T>);                                                   \
  REGISTER_KERNEL_BUILDER(                                               \
      Name("UaLogAbsDetGrad").Device(DEVICE_CPU).TypeConstraint<T>("T"), \
      LogAbsDetGradOp<T>)
REGISTER(float);
REGISTER(double);
#undef REGISTER

}  // namespace
}  // namespace tensorflow
