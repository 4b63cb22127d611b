// Runs a SavedModel on points from the standard input, two numbers for each:
//   serve MODEL INPUT OUTPUT LIBRARY...

#include "c_api.h"

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

// [load] The libraries first: the model is without the code of its ops.
int main(int argc, char** argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: %s MODEL INPUT OUTPUT LIBRARY...\n", argv[0]);
    return EXIT_FAILURE;
  }
  TF_Status* status = TF_NewStatus();
  for (int i = 4; i < argc; ++i) LoadLibrary(argv[i], status);

  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Graph* graph = TF_NewGraph();
  const char* tags[] = {"serve"};
  TF_Session* session = TF_LoadSessionFromSavedModel(
      options, NULL, argv[1], tags, 1, graph, NULL, status);
  Check(status, argv[1]);

  // [run] From the output of the placeholder to that of the model.
  const TF_Output from = {TF_GraphOperationByName(graph, argv[2]), 0};
  const TF_Output to = {TF_GraphOperationByName(graph, argv[3]), 0};
  if (from.oper == NULL || to.oper == NULL) {
    fprintf(stderr, "the graph must have %s and %s\n", argv[2], argv[3]);
    return EXIT_FAILURE;
  }
  TF_Tensor* points = ReadPoints();
  TF_Tensor* classes = NULL;
  TF_SessionRun(session, NULL, &from, &points, 1, &to, &classes, 1, NULL, 0,
                NULL, status);
  Check(status, "TF_SessionRun");
  Print(classes);

  // [free] What this program owns, and nothing else.
  TF_DeleteTensor(classes);
  TF_DeleteTensor(points);
  TF_DeleteSession(session, status);
  Check(status, "TF_DeleteSession");
  TF_DeleteGraph(graph);
  TF_DeleteSessionOptions(options);
  TF_DeleteStatus(status);
  return EXIT_SUCCESS;
}
