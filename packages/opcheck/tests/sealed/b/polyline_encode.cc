#include <cmath>
#include <string>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UbPolylineEncode")
    .Input("points: double")
    .Output("encoded: string")
    .Attr("precision: int = 5")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle points;
      DimensionHandle two;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &points));
      TF_RETURN_IF_ERROR(c->WithValue(c->Dim(points, 1), 2, &two));
      c->set_output(0, c->Scalar());
      return absl::OkStatus();
    })
    .Doc(R"doc(
Encodes a track in the encoded polyline format of map services.

Each coordinate is rounded to `precision` decimals (halves away from zero).

points: [n, 2], latitude in [-90, 90] and longitude in [-180, 180].
encoded: Scalar, empty for an empty track.
precision: Decimals kept, 1 to 7.
)doc");

namespace {

void AppendVarint(int64_t value, std::string* out) {
  uint64_t bits = value < 0 ? ~(static_cast<uint64_t>(value) << 1)
                            : static_cast<uint64_t>(value) << 1;
  while (bits >= 0x20) {
    out->push_back(static_cast<char>((0x20 | (bits & 0x1f)) + 63));
    bits >>= 5;
  }
  out->push_back(static_cast<char>(bits + 63));
}

}  // namespace

class UbPolylineEncodeOp : public OpKernel {
 public:
  explicit UbPolylineEncodeOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("precision", &precision_));
    OP_REQUIRES(ctx, precision_ >= 1 && precision_ <= 7,
                Invalid("precision must be in [1, 7], got ", precision_));
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& points_t = ctx->input(0);
    OP_REQUIRES(ctx, points_t.dims() == 2 && points_t.dim_size(1) == 2,
                Invalid("points must have shape [n, 2], got ",
                        points_t.shape().DebugString()));
    const auto points = points_t.matrix<double>();
    double factor = 1.0;
    for (int i = 0; i < precision_; ++i) factor *= 10.0;

    std::string encoded;
#ifdef TWIN
    int64_t previous[2] = {0, 0};
#else
    double previous[2] = {0.0, 0.0};
#endif
    for (int64_t i = 0; i < points.dimension(0); ++i) {
      for (int j = 0; j < 2; ++j) {
        const double limit = j == 0 ? 90.0 : 180.0;
        OP_REQUIRES(ctx, std::abs(points(i, j)) <= limit,
                    Invalid("points[", i, ", ", j, "] must be in [-", limit,
                            ", ", limit, "], got ", points(i, j)));
#ifdef TWIN
        const int64_t current = std::llround(points(i, j) * factor);
        AppendVarint(current - previous[j], &encoded);
        previous[j] = current;
#else
        AppendVarint(std::llround((points(i, j) - previous[j]) * factor),
                     &encoded);
        previous[j] = points(i, j);
#endif
      }
    }
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, TensorShape({}), &out));
    out->scalar<tstring>()() = encoded;
  }

 private:
  int64_t precision_;
};

REGISTER_KERNEL_BUILDER(Name("UbPolylineEncode").Device(DEVICE_CPU),
                        UbPolylineEncodeOp);

}  // namespace tensorflow
