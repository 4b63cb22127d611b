// MedianPerRow: the median of each row, on all cores.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "for_each.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace op_by_op {
namespace {

REGISTER_OP("MedianPerRow")
    .Input("rows: float")
    .Output("medians: float")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      tensorflow::shape_inference::ShapeHandle rows;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 2, &rows));
      if (context->Value(context->Dim(rows, 1)) == 0) {
        return absl::InvalidArgumentError(absl::StrCat(
            "rows must be a matrix with a column or more, got shape ",
            context->DebugString(rows)));
      }
      context->set_output(0, context->Vector(context->Dim(rows, 0)));
      return absl::OkStatus();
    });

// [kernel] One row, and nothing of threads; then a loop over the rows.
float Median(const float* row, int64_t size, std::vector<float>& sorted) {
  sorted.assign(row, row + size);
  const auto less = [](float x, float y) {  // NaN is the largest
    return x < y || (std::isnan(y) && !std::isnan(x));
  };
  const auto middle = sorted.begin() + size / 2;
  std::nth_element(sorted.begin(), middle, sorted.end(), less);
  return *middle;
}

class MedianPerRowOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const tensorflow::Tensor& input = context->input(0);
    OP_REQUIRES(context, input.dims() == 2 && input.dim_size(1) > 0,
                absl::InvalidArgumentError(absl::StrCat(
                    "rows must be a matrix with a column or more, got shape ",
                    input.shape().DebugString())));
    const int64_t count = input.dim_size(0), size = input.dim_size(1);
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {count}, &output));
    const float* rows = input.flat<float>().data();
    const auto medians = output->vec<float>();
    // [loop] About 20 cycles for each number of a row.
    ForEachBlock(context, count, 20 * size, [&](int64_t begin, int64_t end) {
      std::vector<float> sorted;  // allocated once for all rows of the block
      for (int64_t i = begin; i < end; ++i) {
        medians(i) = Median(rows + i * size, size, sorted);
      }
    });
  }
};

// As every kernel.
REGISTER_KERNEL_BUILDER(Name("MedianPerRow").Device(tensorflow::DEVICE_CPU),
                        MedianPerRowOp);

}  // namespace
}  // namespace op_by_op
