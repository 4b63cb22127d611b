// ByteNgrams: how often each run of n bytes occurs in a text, in hashed
// buckets.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::TensorShape;
using tensorflow::tstring;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// A row of counts for each text.
REGISTER_OP("ByteNgrams")
    .Attr("n: int >= 1 = 3")
    .Attr("buckets: int >= 1 = 64")
    .Input("texts: string")
    .Output("counts: float")
    .SetShapeFn([](InferenceContext* context) {
      int64_t buckets;
      TF_RETURN_IF_ERROR(context->GetAttr("buckets", &buckets));
      ShapeHandle counts;
      TF_RETURN_IF_ERROR(context->Concatenate(
          context->input(0), context->Vector(buckets), &counts));
      context->set_output(0, counts);
      return absl::OkStatus();
    });

// The hash FNV-1a: a multiplication for each byte.
uint64_t Hash(absl::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

// [kernel] On one thread: a server has other requests for the other cores.
class ByteNgramsOp : public tensorflow::OpKernel {
 public:
  explicit ByteNgramsOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("n", &n_));
    OP_REQUIRES_OK(context, context->GetAttr("buckets", &buckets_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    TensorShape shape = input.shape();
    OP_REQUIRES(context, shape.AddDimWithStatus(buckets_).ok(),
                absl::InvalidArgumentError(
                    absl::StrCat("buckets must be fewer for texts of shape ",
                                 shape.DebugString(), ", got ", buckets_)));
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &output));
    output->flat<float>().setZero();
    float* counts = output->flat<float>().data();
    const auto texts = input.flat<tstring>();
    for (int64_t row = 0; row < texts.size(); ++row, counts += buckets_) {
      const absl::string_view text = texts(row);
      for (int64_t end = n_; end <= static_cast<int64_t>(text.size()); ++end) {
        counts[Hash(text.substr(end - n_, n_)) % buckets_] += 1;
      }
    }
  }

 private:
  int64_t n_;
  int64_t buckets_;
};

// Strings are on the CPU.
REGISTER_KERNEL_BUILDER(Name("ByteNgrams").Device(tensorflow::DEVICE_CPU),
                        ByteNgramsOp);

}  // namespace
}  // namespace op_by_op
