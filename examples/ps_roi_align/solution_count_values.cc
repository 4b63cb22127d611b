// The solution of the exercise: how often each value occurs, on all cores.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/util/work_sharder.h"

namespace op_by_op {
namespace {

// [interface] The size of the output is an attr, so the shape is known.
REGISTER_OP("CountValues")
    .Attr("size: int >= 1")
    .Input("values: int32")
    .Output("counts: int64")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      tensorflow::shape_inference::ShapeHandle values;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 1, &values));
      int64_t size;
      TF_RETURN_IF_ERROR(context->GetAttr("size", &size));
      context->set_output(0, context->Vector(size));
      return absl::OkStatus();
    });

// [count] Each block of values has counts of its own, which are added up at the
// end.
class CountValuesOp : public tensorflow::OpKernel {
 public:
  explicit CountValuesOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("size", &size_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    constexpr int64_t kBlocks = 64, kCyclesOfValue = 2;
    const tensorflow::TensorShape& given = context->input(0).shape();
    OP_REQUIRES(
        context, given.dims() == 1,
        absl::InvalidArgumentError(absl::StrCat(
            "values must be a vector, got shape ", given.DebugString())));
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {size_}, &output));
    tensorflow::Tensor scratch;
    tensorflow::TensorShape shape;
    OP_REQUIRES_OK(context, tensorflow::TensorShape::BuildTensorShape(
                                {kBlocks, size_}, &shape));
    OP_REQUIRES_OK(
        context, context->allocate_temp(tensorflow::DT_INT64, shape, &scratch));
    const auto values = context->input(0).flat<int32_t>();
    const auto parts = scratch.matrix<int64_t>();
    const int64_t total = values.size();
    const auto& pool = *context->device()->tensorflow_cpu_worker_threads();
    tensorflow::Shard(pool.num_threads, pool.workers, kBlocks,
                      total / kBlocks * kCyclesOfValue + size_,
                      [&](int64_t begin, int64_t end) {
                        for (int64_t b = begin; b < end; ++b) {
                          std::fill_n(&parts(b, 0), size_, 0);
                          for (int64_t i = total * b / kBlocks;
                               i < total * (b + 1) / kBlocks; ++i) {
                            const int32_t value = values(i);
                            if (value >= 0 && value < size_) {
                              ++parts(b, value);
                            }
                          }
                        }
                      });
    const auto counts = output->vec<int64_t>();
    std::fill_n(counts.data(), size_, 0);
    for (int64_t b = 0; b < kBlocks; ++b) {
      for (int64_t i = 0; i < size_; ++i) counts(i) += parts(b, i);
    }
  }

 private:
  int64_t size_;
};

REGISTER_KERNEL_BUILDER(Name("CountValues").Device(tensorflow::DEVICE_CPU),
                        CountValuesOp);

}  // namespace
}  // namespace op_by_op
