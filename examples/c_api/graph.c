// Builds a graph in which three linear models vote, runs it, and writes it:
//   graph LIBRARY GRAPH_DEF

#include "voters.h"

#define MODELS 3

// [add] Adds the node, or ends the program.
static TF_Output Finish(TF_OperationDescription* node, TF_Status* status) {
  TF_Operation* added = TF_FinishOperation(node, status);
  Check(status, "TF_FinishOperation");
  return (TF_Output){added, 0};
}

static TF_Output MatMul(TF_Graph* graph, const char* name, TF_Output a,
                        TF_Output b, TF_Status* status) {
  TF_OperationDescription* node = TF_NewOperation(graph, "MatMul", name);
  TF_AddInput(node, a);
  TF_AddInput(node, b);
  return Finish(node, status);
}

// [list] An input that is a list.
static TF_Output MajorityVote(TF_Graph* graph, const char* name,
                              const TF_Output* votes, TF_Status* status) {
  TF_OperationDescription* node = TF_NewOperation(graph, "MajorityVote", name);
  TF_AddInputList(node, votes, MODELS);
  return Finish(node, status);
}

// [constant] An op without inputs, whose value is an attr.
static TF_Output Constant(TF_Graph* graph, const char* name, TF_Tensor* value,
                          TF_Status* status) {
  TF_OperationDescription* node = TF_NewOperation(graph, "Const", name);
  TF_SetAttrType(node, "dtype", TF_TensorType(value));
  TF_SetAttrTensor(node, "value", value, status);
  Check(status, "TF_SetAttrTensor");
  TF_DeleteTensor(value);
  return Finish(node, status);
}

// The column of the highest score.
static TF_Output ArgMax(TF_Graph* graph, const char* name, TF_Output scores,
                        TF_Output axis, TF_Status* status) {
  TF_OperationDescription* node = TF_NewOperation(graph, "ArgMax", name);
  TF_AddInput(node, scores);
  TF_AddInput(node, axis);
  TF_SetAttrType(node, "output_type", TF_INT32);
  return Finish(node, status);
}

static void Write(TF_Graph* graph, const char* path, TF_Status* status) {
  TF_Buffer* bytes = TF_NewBuffer();
  TF_GraphToGraphDef(graph, bytes, status);
  Check(status, "TF_GraphToGraphDef");
  FILE* file = fopen(path, "wb");
  if (file == NULL ||
      fwrite(bytes->data, 1, bytes->length, file) != bytes->length ||
      fclose(file) != 0) {
    perror(path);
    exit(EXIT_FAILURE);
  }
  TF_DeleteBuffer(bytes);
}

static const float kPoints[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
static const float kWeights[MODELS][2][3] = {{{-1, 0, -2}, {-2, 0, -2}},
                                             {{0, -2, 1}, {-2, 2, 0}},
                                             {{-1, 0, -2}, {-1, -1, 2}}};

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s LIBRARY GRAPH_DEF\n", argv[0]);
    return EXIT_FAILURE;
  }
  TF_Status* status = TF_NewStatus();
  LoadLibrary(argv[1], status);

  // [graph] Each model is a matrix of weights; the class with the highest
  // score is its vote.
  TF_Graph* graph = TF_NewGraph();
  const int64_t shape[] = {4, 2}, weights_shape[] = {2, 3};
  const int32_t last = -1;
  const TF_Output axis =
      Constant(graph, "axis", NewTensor(TF_INT32, &last, NULL, 0), status);
  const TF_Output points =
      Constant(graph, "points", NewTensor(TF_FLOAT, kPoints, shape, 2), status);
  TF_Output votes[MODELS];
  for (int i = 0; i < MODELS; ++i) {
    char name[16];
    snprintf(name, sizeof(name), "weights_%d", i);
    const TF_Output weights =
        Constant(graph, name,
                 NewTensor(TF_FLOAT, kWeights[i], weights_shape, 2), status);
    snprintf(name, sizeof(name), "scores_%d", i);
    const TF_Output scores = MatMul(graph, name, points, weights, status);
    snprintf(name, sizeof(name), "vote_%d", i);
    votes[i] = ArgMax(graph, name, scores, axis, status);
  }
  const TF_Output winner = MajorityVote(graph, "winner", votes, status);

  // [run] Runs what the winner needs.
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Session* session = TF_NewSession(graph, options, status);
  Check(status, "TF_NewSession");
  TF_Tensor* classes = NULL;
  TF_SessionRun(session, NULL, NULL, NULL, 0, &winner, &classes, 1, NULL, 0,
                NULL, status);
  Check(status, "TF_SessionRun");
  Print(classes);
  TF_DeleteTensor(classes);
  TF_DeleteSession(session, status);
  Check(status, "TF_DeleteSession");
  TF_DeleteSessionOptions(options);

  // And writes the graph.
  Write(graph, argv[2], status);
  TF_DeleteGraph(graph);
  TF_DeleteStatus(status);
  return EXIT_SUCCESS;
}
