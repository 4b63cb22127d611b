// EveryAttr and TensorAttrs: an attr of every type. ConstrainedAttrs: attrs
// that accept only some values. They return what they were given, as text.

#include <atomic>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace op_by_op {
namespace {

// EndWith: a kernel that ends with any status.
REGISTER_OP("EndWith")
    .Attr("message: string = 'said by the kernel'")
    .Attr("code: int")
    .Output("nothing: int32")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      context->set_output(0, context->Vector(0));
      return absl::OkStatus();
    });

class EndWithOp : public tensorflow::OpKernel {
 public:
  explicit EndWithOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("message", &message_));
    OP_REQUIRES_OK(context, context->GetAttr("code", &code_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {0}, &output));
    OP_REQUIRES_OK(
        context, absl::Status(static_cast<absl::StatusCode>(code_), message_));
  }

 private:
  std::string message_;
  int code_;
};

REGISTER_KERNEL_BUILDER(Name("EndWith").Device(tensorflow::DEVICE_CPU),
                        EndWithOp);

// `name: type = default`, in the text format of protocol buffers.
REGISTER_OP("EveryAttr")
    .Attr("a_string: string = 'apple'")
    .Attr("an_int: int = -3")
    .Attr("a_float: float = 0.5")
    .Attr("a_bool: bool = true")
    .Attr("a_type: type = DT_INT32")
    .Attr("a_shape: shape = { dim { size: 2 } dim { size: 3 } }")
    .Attr("strings: list(string) = ['apple', 'orange']")
    .Attr("ints: list(int) = [2, 3, 5]")
    .Attr("floats: list(float) = [0.5, 0.25]")
    .Attr("bools: list(bool) = [true, false]")
    .Attr("types: list(type) = [DT_INT32, DT_FLOAT]")
    .Attr("shapes: list(shape) = [{ dim { size: 2 } }, { unknown_rank: true }]")
    .Output("text: string")
    .SetShapeFn(tensorflow::shape_inference::ScalarShape);

// They reach the kernel from a graph only.
REGISTER_OP("TensorAttrs")
    .Attr(
        "a_tensor: tensor = { dtype: DT_INT32 int_val: [5, 4] "
        "tensor_shape { dim { size: 2 } } }")
    .Attr("tensors: list(tensor) = [{ dtype: DT_BOOL bool_val: true }]")
    .Output("text: string")
    .SetShapeFn(tensorflow::shape_inference::ScalarShape);

// One value, or a list of values, as text.
std::string Text(const std::string& value) { return value; }
std::string Text(int64_t value) { return absl::StrCat(value); }
std::string Text(float value) { return absl::StrCat(value); }
std::string Text(bool value) { return value ? "true" : "false"; }
std::string Text(tensorflow::DataType value) {
  return tensorflow::DataTypeString(value);
}
std::string Text(const tensorflow::PartialTensorShape& value) {
  return value.DebugString();
}
std::string Text(const tensorflow::Tensor& value) {
  return value.DebugString();
}
template <typename T>
std::string Text(const std::vector<T>& values) {
  return absl::StrJoin(values, ", ", [](std::string* text, const T& value) {
    text->append(Text(value));
  });
}

// Each attr has its C++ type, and a double reads none.
template <typename T, typename = void>
constexpr bool kReadsAttr = false;
template <typename T>
constexpr bool kReadsAttr<
    T, std::void_t<decltype(tensorflow::GetNodeAttr(
           std::declval<tensorflow::AttrSlice>(), "", std::declval<T*>()))>> =
    true;
static_assert(kReadsAttr<float> && !kReadsAttr<double>);

class TextOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &output));
    output->scalar<tensorflow::tstring>()() = text_;
  }

 protected:
  template <typename T>
  void Read(tensorflow::OpKernelConstruction* context, const char* name) {
    T value;
    OP_REQUIRES_OK(context, context->GetAttr(name, &value));
    absl::StrAppend(&text_, text_.empty() ? "" : "\n", name, ": ", Text(value));
  }

 private:
  std::string text_;
};

class EveryAttrOp : public TextOp {
 public:
  explicit EveryAttrOp(tensorflow::OpKernelConstruction* context)
      : TextOp(context) {
    Read<std::string>(context, "a_string");
    Read<int64_t>(context, "an_int");
    Read<float>(context, "a_float");
    Read<bool>(context, "a_bool");
    Read<tensorflow::DataType>(context, "a_type");
    Read<tensorflow::PartialTensorShape>(context, "a_shape");
    Read<std::vector<std::string>>(context, "strings");
    Read<std::vector<int64_t>>(context, "ints");
    Read<std::vector<float>>(context, "floats");
    Read<std::vector<bool>>(context, "bools");
    Read<std::vector<tensorflow::DataType>>(context, "types");
    Read<std::vector<tensorflow::PartialTensorShape>>(context, "shapes");
  }
};

REGISTER_KERNEL_BUILDER(Name("EveryAttr").Device(tensorflow::DEVICE_CPU),
                        EveryAttrOp);

class TensorAttrsOp : public TextOp {
 public:
  explicit TensorAttrsOp(tensorflow::OpKernelConstruction* context)
      : TextOp(context) {
    Read<tensorflow::Tensor>(context, "a_tensor");
    Read<std::vector<tensorflow::Tensor>>(context, "tensors");
  }
};

REGISTER_KERNEL_BUILDER(Name("TensorAttrs").Device(tensorflow::DEVICE_CPU),
                        TensorAttrsOp);

// What follows the type, or stands for it, limits the values.
REGISTER_OP("ConstrainedAttrs")
    .Attr("fruit: {'apple', 'orange'} = 'apple'")
    .Attr("one_of: {int32, float, bool} = DT_INT32")
    .Attr("number: numbertype = DT_FLOAT")
    .Attr("numeric: numerictype = DT_FLOAT")
    .Attr("real: realnumbertype = DT_FLOAT")
    .Attr("quantized: quantizedtype = DT_QINT8")
    .Attr("mixed: {realnumbertype, bool} = DT_FLOAT")
    .Attr("count: int >= 2 = 2")
    .Attr("types: list({int32, float}) >= 3 = [DT_INT32, DT_FLOAT, DT_INT32]")
    .Output("text: string")
    .SetShapeFn(tensorflow::shape_inference::ScalarShape);

class ConstrainedAttrsOp : public TextOp {
 public:
  explicit ConstrainedAttrsOp(tensorflow::OpKernelConstruction* context)
      : TextOp(context) {
    Read<std::string>(context, "fruit");
    Read<tensorflow::DataType>(context, "one_of");
    Read<tensorflow::DataType>(context, "number");
    Read<tensorflow::DataType>(context, "numeric");
    Read<tensorflow::DataType>(context, "real");
    Read<tensorflow::DataType>(context, "quantized");
    Read<tensorflow::DataType>(context, "mixed");
    Read<int64_t>(context, "count");
    Read<std::vector<tensorflow::DataType>>(context, "types");
  }
};

REGISTER_KERNEL_BUILDER(Name("ConstrainedAttrs").Device(tensorflow::DEVICE_CPU),
                        ConstrainedAttrsOp);

// [default] a_shape is wrong: the generated function cannot pass its default
// on to a graph.
REGISTER_OP("UnknownDimDefault")
    .Attr("a_shape: shape = { dim { size: 2 } dim { size: -1 } }")
    .Attr("any_shape: shape = { unknown_rank: true }")
    .Output("text: string")
    .SetShapeFn(tensorflow::shape_inference::ScalarShape);
// []

class UnknownDimDefaultOp : public TextOp {
 public:
  explicit UnknownDimDefaultOp(tensorflow::OpKernelConstruction* context)
      : TextOp(context) {
    Read<tensorflow::PartialTensorShape>(context, "a_shape");
    Read<tensorflow::PartialTensorShape>(context, "any_shape");
  }
};

REGISTER_KERNEL_BUILDER(
    Name("UnknownDimDefault").Device(tensorflow::DEVICE_CPU),
    UnknownDimDefaultOp);

// Wrong: an attr with the name of the Python function, own_name.
REGISTER_OP("OwnName")
    .Attr("own_name: {'apple', 'orange'} = 'apple'")
    .Input("in: float")
    .Output("text: string")
    .SetShapeFn(tensorflow::shape_inference::ScalarShape);

class OwnNameOp : public TextOp {
 public:
  explicit OwnNameOp(tensorflow::OpKernelConstruction* context)
      : TextOp(context) {
    Read<std::string>(context, "own_name");
  }
};

REGISTER_KERNEL_BUILDER(Name("OwnName").Device(tensorflow::DEVICE_CPU),
                        OwnNameOp);

// AttrRecipes: what interfaces need most often.
REGISTER_OP("AttrRecipes")
    .Attr("mode: {'first', 'mean', 'last'} = 'mean'")
    .Attr("flag: bool = false")
    .Attr("window: int >= 1 = 5")
    .Attr("length: int = -1")
    .Attr("gain: float = 1.0")
    .Attr("sizes: list(int) >= 1 = [2, 2]")
    .Attr("names: list(string) = []")
    .Attr("out_type: {float, double} = DT_FLOAT")
    .Attr("fixed_shape: shape = { unknown_rank: true }")
    .Output("text: string")
    .SetShapeFn(tensorflow::shape_inference::ScalarShape);

class AttrRecipesOp : public TextOp {
 public:
  explicit AttrRecipesOp(tensorflow::OpKernelConstruction* context)
      : TextOp(context) {
    Read<std::string>(context, "mode");
    Read<bool>(context, "flag");
    Read<int64_t>(context, "window");
    Read<int64_t>(context, "length");
    Read<float>(context, "gain");
    Read<std::vector<int64_t>>(context, "sizes");
    Read<std::vector<std::string>>(context, "names");
    Read<tensorflow::DataType>(context, "out_type");
    Read<tensorflow::PartialTensorShape>(context, "fixed_shape");
    // [read] In the constructor; `float gain_;` is a member of the class.
    OP_REQUIRES_OK(context, context->GetAttr("gain", &gain_));
    OP_REQUIRES(context, gain_ > 0,
                absl::InvalidArgumentError(
                    absl::StrCat("gain must be positive, but is ", gain_)));
    // []
  }

 private:
  float gain_;
};

REGISTER_KERNEL_BUILDER(Name("AttrRecipes").Device(tensorflow::DEVICE_CPU),
                        AttrRecipesOp);

// How many instances of its kernel there are when it runs.
REGISTER_OP("LiveInstances")
    .Attr("value: int")
    .Output("count: int64")
    .SetIsStateful()  // not to be computed once and for all
    .SetShapeFn(tensorflow::shape_inference::ScalarShape);

class LiveInstancesOp : public tensorflow::OpKernel {
 public:
  explicit LiveInstancesOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    ++instances_;
  }
  ~LiveInstancesOp() override { --instances_; }

  void Compute(tensorflow::OpKernelContext* context) override {
    tensorflow::Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, {}, &output));
    output->scalar<int64_t>()() = instances_;
  }

 private:
  static inline std::atomic<int64_t> instances_ = 0;
};

REGISTER_KERNEL_BUILDER(Name("LiveInstances").Device(tensorflow::DEVICE_CPU),
                        LiveInstancesOp);

}  // namespace
}  // namespace op_by_op
