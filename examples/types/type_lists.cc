// TypeLists: the types that the macros of register_types.h list.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace op_by_op {
namespace {

// The 16-bit types, and what functions of them return.
using Eigen::half;

static_assert(std::is_same_v<decltype(std::sqrt(half())), float>);
static_assert(std::is_same_v<decltype(Eigen::numext::sqrt(half())), half>);
static_assert(std::is_same_v<decltype(std::isnan(half())), bool>);
static_assert(std::is_same_v<tensorflow::bfloat16, Eigen::bfloat16>);

// Each macro is called with a macro that notes the types.
REGISTER_OP("TypeLists")
    .Output("lists: string")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      context->set_output(
          0, context->Matrix(context->UnknownDim(), context->MakeDim(3)));
      return absl::OkStatus();
    });

class TypeListsOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    std::vector<std::string> cells;  // [rows * 3]: macro, dtype, type in C++
    const auto note = [&](const char* list, tensorflow::DataType type,
                          const char* name) {
      cells.insert(cells.end(), {list, tensorflow::DataTypeString(type), name});
    };
#define OP_BY_OP_TYPE(T) note(list, tensorflow::DataTypeToEnum<T>::value, #T);
#define OP_BY_OP_LIST(LIST)   \
  {                           \
    const char* list = #LIST; \
    LIST(OP_BY_OP_TYPE)       \
  }
    OP_BY_OP_LIST(TF_CALL_ALL_TYPES)
    OP_BY_OP_LIST(TF_CALL_POD_STRING_TYPES)
    OP_BY_OP_LIST(TF_CALL_POD_TYPES)
    OP_BY_OP_LIST(TF_CALL_NUMBER_TYPES)
    OP_BY_OP_LIST(TF_CALL_NUMBER_TYPES_NO_INT32)
    OP_BY_OP_LIST(TF_CALL_REAL_NUMBER_TYPES)
    OP_BY_OP_LIST(TF_CALL_REAL_NUMBER_TYPES_NO_INT32)
    OP_BY_OP_LIST(TF_CALL_REAL_NUMBER_TYPES_NO_BFLOAT16)
    OP_BY_OP_LIST(TF_CALL_INTEGRAL_TYPES)
    OP_BY_OP_LIST(TF_CALL_INTEGRAL_TYPES_NO_INT32)
    OP_BY_OP_LIST(TF_CALL_FLOAT_TYPES)
    OP_BY_OP_LIST(TF_CALL_COMPLEX_TYPES)
    OP_BY_OP_LIST(TF_CALL_QUANTIZED_TYPES)
    OP_BY_OP_LIST(TF_CALL_SAVE_RESTORE_TYPES)
    OP_BY_OP_LIST(TF_CALL_GPU_ALL_TYPES)
    OP_BY_OP_LIST(TF_CALL_GPU_NUMBER_TYPES)
    OP_BY_OP_LIST(TF_CALL_GPU_NUMBER_TYPES_NO_HALF)
#undef OP_BY_OP_LIST
#undef OP_BY_OP_TYPE
    tensorflow::Tensor* output = nullptr;
    const int64_t rows = cells.size() / 3;
    OP_REQUIRES_OK(context, context->allocate_output(0, {rows, 3}, &output));
    auto out = output->flat<tensorflow::tstring>();
    for (size_t i = 0; i < cells.size(); ++i) out(i) = cells[i];
  }
};

REGISTER_KERNEL_BUILDER(Name("TypeLists").Device(tensorflow::DEVICE_CPU),
                        TypeListsOp);

}  // namespace
}  // namespace op_by_op
