// Runs a SavedModel on points from the standard input, two numbers for each:
//   serve MODEL LIBRARY...

#include "model.h"

static TF_Tensor* ReadPoints(void) {
  float* points = NULL;
  int64_t shape[] = {0, 2};
  float x, y;
  int numbers;
  for (; (numbers = scanf("%f %f", &x, &y)) == 2; ++shape[0]) {
    points = realloc(points, (shape[0] + 1) * 2 * sizeof(float));
    if (points == NULL) exit(TF_RESOURCE_EXHAUSTED);
    points[2 * shape[0]] = x;
    points[2 * shape[0] + 1] = y;
  }
  if (numbers != EOF) {
    fprintf(stderr, "after %lld points there must be two numbers or nothing\n",
            (long long)shape[0]);
    exit(EXIT_FAILURE);
  }
  TF_Tensor* tensor = NewTensor(TF_FLOAT, points, shape, 2);
  free(points);
  return tensor;
}

// [main] The libraries first: the model is without the code of its ops.
int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: %s MODEL LIBRARY...\n", argv[0]);
    return EXIT_FAILURE;
  }
  TF_Status* status = TF_NewStatus();
  for (int i = 2; i < argc; ++i) LoadLibrary(argv[i], status);
  Model model = LoadModel(argv[1], status);
  TF_Tensor* points = ReadPoints();
  TF_Tensor* classes = Run(&model, points, status);
  Check(status, "TF_SessionRun");
  Print(classes);
  TF_DeleteTensor(classes);
  TF_DeleteTensor(points);
  UnloadModel(&model, status);
  TF_DeleteStatus(status);
  return EXIT_SUCCESS;
}
