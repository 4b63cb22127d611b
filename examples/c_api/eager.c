// Three votes on four questions, without a graph:
//   eager LIBRARY

#include "tensorflow/c/eager/c_api.h"
#include "voters.h"

#define VOTERS 3

static const int32_t kVotes[VOTERS][4] = {
    {0, 1, 2, 0}, {0, 2, 2, 1}, {1, 2, 2, 2}};

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s LIBRARY\n", argv[0]);
    return EXIT_FAILURE;
  }
  TF_Status* status = TF_NewStatus();
  LoadLibrary(argv[1], status);
  // [context] The eager runtime; one is enough for the process.
  TFE_ContextOptions* options = TFE_NewContextOptions();
  TFE_Context* context = TFE_NewContext(options, status);
  Check(status, "TFE_NewContext");
  TFE_DeleteContextOptions(options);

  // [execute] Handles of tensors in, handles of tensors out.
  TFE_TensorHandle* votes[VOTERS];
  for (int i = 0; i < VOTERS; ++i) {
    const int64_t shape[] = {4};
    TF_Tensor* tensor = NewTensor(TF_INT32, kVotes[i], shape, 1);
    votes[i] = TFE_NewTensorHandle(tensor, status);
    Check(status, "TFE_NewTensorHandle");
    TF_DeleteTensor(tensor);
  }
  TFE_Op* op = TFE_NewOp(context, "MajorityVote", status);
  Check(status, "TFE_NewOp");
  TFE_OpAddInputList(op, votes, VOTERS, status);
  Check(status, "TFE_OpAddInputList");
  TFE_TensorHandle* winner = NULL;
  int outputs = 1;
  TFE_Execute(op, &winner, &outputs, status);
  Check(status, "TFE_Execute");

  // [resolve] A handle may stand for a tensor on another device: this waits for
  // the tensor, and copies it if it is not on the CPU.
  TF_Tensor* values = TFE_TensorHandleResolve(winner, status);
  Check(status, "TFE_TensorHandleResolve");
  Print(values);

  TF_DeleteTensor(values);
  TFE_DeleteTensorHandle(winner);
  TFE_DeleteOp(op);
  for (int i = 0; i < VOTERS; ++i) TFE_DeleteTensorHandle(votes[i]);
  TFE_DeleteContext(context);
  TF_DeleteStatus(status);
  return EXIT_SUCCESS;
}
