// Wrong variants of every shape function, chosen by the environment variable
// WRONG: each line of shape_functions_test.cc must fail on one of them.

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_def.pb.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace {

using tensorflow::OpRegistrationData;
using tensorflow::OpRegistry;
using tensorflow::shape_inference::InferenceContext;

// "shape": another shape than the right one. "error": another message.
class WrongShapeFunctions : public testing::Environment {
 public:
  void SetUp() override {
    const char* wrong = std::getenv("WRONG");
    if (wrong == nullptr) return;
    std::vector<tensorflow::OpDef> ops;
    OpRegistry::Global()->GetRegisteredOps(&ops);
    for (const tensorflow::OpDef& op : ops) {
      const OpRegistrationData* found = nullptr;
      TF_CHECK_OK(OpRegistry::Global()->LookUp(op.name(), &found));
      auto* data = const_cast<OpRegistrationData*>(found);
      data->shape_inference_fn = [right = data->shape_inference_fn,
                                  shape = absl::string_view(wrong) ==
                                          "shape"](InferenceContext* context) {
        absl::Status status = right(context);
        if (!status.ok() && !shape) return absl::InvalidArgumentError("wrong");
        for (int i = 0; shape && i < context->num_outputs(); ++i) {
          context->set_output(i, context->Vector(99));
        }
        return status;
      };
    }
  }
};

const testing::Environment* const registered =
    testing::AddGlobalTestEnvironment(new WrongShapeFunctions);

}  // namespace
