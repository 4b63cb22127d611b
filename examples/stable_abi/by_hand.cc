// ZeroOut for float32 by the C kernel API alone, without a layer above it.

#include <cstring>
#include <vector>

#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"

namespace {

// [shape] The output has the shape of the input.
void InferShape(TF_ShapeInferenceContext* context, TF_Status* status) {
  TF_ShapeHandle* shape = TF_NewShapeHandle();
  TF_ShapeInferenceContextGetInput(context, 0, shape, status);
  if (TF_GetCode(status) == TF_OK) {
    TF_ShapeInferenceContextSetOutput(context, 0, shape, status);
  }
  TF_DeleteShapeHandle(shape);
}

// [kernel] Copies the first element, zeros the rest.
void Compute(void* /*kernel*/, TF_OpKernelContext* context) {
  TF_Status* status = TF_NewStatus();
  TF_Tensor* input = nullptr;
  TF_Tensor* output = nullptr;
  TF_GetInput(context, 0, &input, status);
  if (TF_GetCode(status) == TF_OK) {
    std::vector<int64_t> dims(TF_NumDims(input));
    for (size_t i = 0; i < dims.size(); ++i) dims[i] = TF_Dim(input, i);
    output = TF_AllocateOutput(context, 0, TF_FLOAT, dims.data(), dims.size(),
                               TF_TensorByteSize(input), status);
  }
  if (TF_GetCode(status) != TF_OK) {
    TF_OpKernelContext_Failure(context, status);
  } else if (TF_TensorElementCount(input) > 0) {
    std::memset(TF_TensorData(output), 0, TF_TensorByteSize(output));
    std::memcpy(TF_TensorData(output), TF_TensorData(input), sizeof(float));
  }
  TF_DeleteTensor(output);
  TF_DeleteTensor(input);
  TF_DeleteStatus(status);
}

// [register] The loader calls this when it loads the library.
__attribute__((constructor)) void Register() {
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("ZeroOutByHand");
  TF_OpDefinitionBuilderAddInput(op, "to_zero: float");
  TF_OpDefinitionBuilderAddOutput(op, "zeroed: float");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, InferShape);
  TF_Status* status = TF_NewStatus();
  TF_RegisterOpDefinition(op, status);
  if (TF_GetCode(status) == TF_OK) {
    TF_KernelBuilder* kernel =
        TF_NewKernelBuilder("ZeroOutByHand", "CPU", nullptr, Compute, nullptr);
    TF_RegisterKernelBuilder("ZeroOutByHand", kernel, status);
  }
  TF_DeleteStatus(status);
}

}  // namespace
