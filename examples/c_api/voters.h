// What the programs of this example share.

#ifndef OP_BY_OP_EXAMPLES_C_API_VOTERS_H_
#define OP_BY_OP_EXAMPLES_C_API_VOTERS_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/c_api.h"

// [check] Ends the program if the last call has failed.
static inline void Check(TF_Status* status, const char* what) {
  if (TF_GetCode(status) == TF_OK) return;
  fprintf(stderr, "%s: %s\n", what, TF_Message(status));
  exit(TF_GetCode(status));
}

// [tensor] A tensor with a copy of the values.
static inline TF_Tensor* NewTensor(TF_DataType type, const void* values,
                                   const int64_t* shape, int dimensions) {
  size_t bytes = TF_DataTypeSize(type);
  for (int i = 0; i < dimensions; ++i) bytes *= shape[i];
  TF_Tensor* tensor = TF_AllocateTensor(type, shape, dimensions, bytes);
  if (tensor == NULL || (bytes > 0 && TF_TensorData(tensor) == NULL)) {
    exit(TF_RESOURCE_EXHAUSTED);
  }
  if (bytes > 0) memcpy(TF_TensorData(tensor), values, bytes);
  return tensor;
}

// [library] Registers the ops of a library for the rest of the process.
static inline void LoadLibrary(const char* path, TF_Status* status) {
  TF_Library* library = TF_LoadLibrary(path, status);
  Check(status, path);
  TF_DeleteLibraryHandle(library);
}

// The elements of a tensor of int32; ends the program if it is another one.
static inline const int32_t* Int32s(const TF_Tensor* tensor) {
  if (TF_TensorType(tensor) != TF_INT32) {
    fprintf(stderr, "the result must be int32 (type %d), got type %d\n",
            TF_INT32, TF_TensorType(tensor));
    exit(EXIT_FAILURE);
  }
  return TF_TensorData(tensor);
}

// The elements of a tensor of int32, in one line.
static inline void Print(const TF_Tensor* tensor) {
  const int32_t* values = Int32s(tensor);
  for (int64_t i = 0; i < TF_TensorElementCount(tensor); ++i) {
    printf("%d ", values[i]);
  }
  printf("\n");
}

#endif  // OP_BY_OP_EXAMPLES_C_API_VOTERS_H_
