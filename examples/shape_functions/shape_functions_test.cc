// Tests of the shape functions alone: no Python, no kernel runs.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/public/version.h"

namespace op_by_op {
namespace {

using tensorflow::PartialTensorShape;
using tensorflow::Tensor;
using tensorflow::shape_inference::InferenceContext;

// Runs one shape function on shapes such as "[?,3];[3]".
PartialTensorShape Parse(absl::string_view text) {
  if (text == "?") return PartialTensorShape();
  std::vector<int64_t> sizes;
  text = text.substr(1, text.size() - 2);
  for (absl::string_view size : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    sizes.push_back(-1);
    if (size == "?") continue;
    EXPECT_TRUE(absl::SimpleAtoi(size, &sizes.back())) << text;
  }
  return PartialTensorShape(sizes);
}

class Op {
 public:
  explicit Op(const std::string& name) {
    TF_CHECK_OK(tensorflow::OpRegistry::Global()->LookUp(name, &op_));
    node_.set_op(name);
    tensorflow::AddDefaultsToNodeDef(op_->op_def, &node_);
    values_.resize(op_->op_def.input_arg_size());
    partial_values_.resize(op_->op_def.input_arg_size());
  }

  template <typename T>
  Op Attr(const std::string& name, T value) && {
    tensorflow::AddNodeAttr(name, value, &node_);
    return std::move(*this);
  }

  // What the graph knows of an input's value; parts of it may be unknown.
  Op Value(int input, const Tensor* tensor) && {
    values_.at(input) = tensor;
    return std::move(*this);
  }
  Op PartialValue(int input, absl::string_view sizes) && {
    partial_values_.at(input) = Parse(sizes);
    return std::move(*this);
  }

  absl::StatusOr<std::string> Infer(absl::string_view inputs) const {
    std::vector<PartialTensorShape> shapes;
    for (absl::string_view input : absl::StrSplit(inputs, ';')) {
      shapes.push_back(Parse(input));
    }
    InferenceContext context(TF_GRAPH_DEF_VERSION, node_, op_->op_def, shapes,
                             values_, partial_values_, {});
    TF_RETURN_IF_ERROR(context.construction_status());
    TF_RETURN_IF_ERROR(context.Run(op_->shape_inference_fn));
    std::vector<std::string> outputs;
    outputs.reserve(context.num_outputs());
    for (int i = 0; i < context.num_outputs(); ++i) {
      outputs.push_back(context.DebugString(context.output(i)));
    }
    return absl::StrJoin(outputs, ";");
  }

 private:
  const tensorflow::OpRegistrationData* op_;
  tensorflow::NodeDef node_;
  std::vector<const Tensor*> values_;
  std::vector<PartialTensorShape> partial_values_;
};

// Macros, so that a failure names the line of the test.
#define INFER_OK(op, inputs, outputs)                 \
  do {                                                \
    const auto inferred = (op).Infer(inputs);         \
    ASSERT_TRUE(inferred.ok()) << inferred.status();  \
    EXPECT_EQ(*inferred, outputs) << "of " << inputs; \
  } while (false)

#define INFER_ERROR(error, op, inputs)                              \
  do {                                                              \
    const auto inferred = (op).Infer(inputs);                       \
    ASSERT_FALSE(inferred.ok()) << inputs << " gave " << *inferred; \
    EXPECT_TRUE(absl::IsInvalidArgument(inferred.status()));        \
    EXPECT_PRED_FORMAT2(testing::IsSubstring, error,                \
                        std::string(inferred.status().message()));  \
  } while (false)

// A table of input and output shapes; a known value; a partial one.
TEST(ShapeFunctions, CrossFeatures) {
  const Op op("CrossFeatures");
  INFER_OK(op, "[2,3];[2,4]", "[2,12]");
  INFER_OK(op, "[?,3];[2,4]", "[2,12]");
  INFER_OK(op, "[?,3];[?,?]", "[?,?]");
  INFER_OK(op, "[?,0];[?,?]", "[?,0]");
  INFER_OK(op, "?;?", "[?,?]");
  INFER_ERROR("Dimensions must be equal, but are 2 and 5", op, "[2,3];[5,4]");
  INFER_ERROR("must be rank 2 but is rank 1", op, "[3];?");
  INFER_ERROR("must be rank 2 but is rank 3", op, "?;[2,2,2]");
  INFER_ERROR("overflow", op, "[0,4294967296];[0,4294967296]");
}

TEST(ShapeFunctions, CropOrPadToAKnownShape) {
  Tensor shape(tensorflow::DT_INT32, {2});
  shape.vec<int32_t>().setValues({2, 3});
  const Op op =
      Op("CropOrPad").Attr("Tshape", tensorflow::DT_INT32).Value(1, &shape);
  INFER_OK(op, "[5,?];[2]", "[2,3]");
  INFER_OK(op, "?;[2]", "[2,3]");
  INFER_ERROR("must be rank 1 but is rank 2", op, "[5];[2]");

  shape.vec<int32_t>().setValues({2, -1});
  INFER_ERROR("Dimension -1 must be >= 0", op, "[5,?];[2]");
}

TEST(ShapeFunctions, CropOrPadToAShapeThatIsNotWhollyKnown) {
  const auto op = Op("CropOrPad").Attr("Tshape", tensorflow::DT_INT64);
  INFER_OK(op, "[5,5];[2]", "[?,?]");
  INFER_OK(op, "?;[2]", "[?,?]");
  INFER_OK(op, "[5,5];[?]", "[?,?]");
  INFER_OK(op, "?;?", "?");
  INFER_ERROR("must be rank 3 but is rank 2", op, "[5,5,5];[2]");
  INFER_ERROR("must be rank 1 but is rank 2", op, "?;[2,2]");
  INFER_OK(Op(op).PartialValue(1, "[2,?]"), "[5,5];[2]", "[2,?]");
}

}  // namespace
}  // namespace op_by_op
