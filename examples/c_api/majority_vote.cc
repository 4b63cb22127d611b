// MajorityVote: for each element, the value that most of the inputs have.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace op_by_op {
namespace {

using tensorflow::OpInputList;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// In a tie, the value that comes first in the list wins.
REGISTER_OP("MajorityVote")
    .Attr("N: int >= 1")
    .Input("votes: N * int32")
    .Output("winner: int32")
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle shape = context->input(0);
      for (int i = 1; i < context->num_inputs(); ++i) {
        TF_RETURN_IF_ERROR(context->Merge(shape, context->input(i), &shape));
      }
      context->set_output(0, shape);
      return absl::OkStatus();
    });

// The kernel.
class MajorityVoteOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(OpKernelContext* context) override {
    OpInputList inputs;
    OP_REQUIRES_OK(context, context->input_list("votes", &inputs));
    std::vector<const int32_t*> votes;
    for (const Tensor& input : inputs) {
      OP_REQUIRES(context, input.shape() == inputs[0].shape(),
                  absl::InvalidArgumentError(
                      absl::StrCat("votes must have one shape, got ",
                                   inputs[0].shape().DebugString(), " and ",
                                   input.shape().DebugString())));
      votes.push_back(input.flat<int32_t>().data());
    }
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context,
                   context->allocate_output(0, inputs[0].shape(), &output));
    int32_t* winner = output->flat<int32_t>().data();
    for (int64_t i = 0; i < output->NumElements(); ++i) {
      int most = 0;
      for (const int32_t* candidate : votes) {
        int count = 0;
        for (const int32_t* vote : votes) count += vote[i] == candidate[i];
        if (count > most) {
          most = count;
          winner[i] = candidate[i];
        }
      }
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("MajorityVote").Device(tensorflow::DEVICE_CPU),
                        MajorityVoteOp);

}  // namespace
}  // namespace op_by_op
