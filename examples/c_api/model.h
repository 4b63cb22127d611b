// A SavedModel that is ready to run.

#ifndef OP_BY_OP_EXAMPLES_C_API_MODEL_H_
#define OP_BY_OP_EXAMPLES_C_API_MODEL_H_

#include "signature.h"
#include "voters.h"

typedef struct {
  TF_Graph* graph;
  TF_Session* session;
  TF_Output points;
  TF_Output classes;
} Model;

// [lookup] The node behind a key of the signature: a MetaGraphDef has its
// signatures in field 5, a signature its inputs in 1 and its outputs in 2, and
// a TensorInfo its name in 1, such as serving_default_points:0.
static inline TF_Output Lookup(TF_Graph* graph, Bytes meta_graph, int map,
                               const char* key) {
  const Bytes signature = Entry(meta_graph, 5, "serving_default");
  const Bytes name = Field(Entry(signature, map, key), 1);
  char node[256];
  snprintf(node, sizeof(node), "%.*s", (int)name.size, (const char*)name.at);
  char* const colon = strrchr(node, ':');
  TF_Output found = {NULL, 0};
  if (colon != NULL) {
    *colon = '\0';
    found = (TF_Output){TF_GraphOperationByName(graph, node), atoi(colon + 1)};
  }
  if (found.oper == NULL) {
    fprintf(stderr, "the signature serving_default must have %s\n", key);
    exit(EXIT_FAILURE);
  }
  return found;
}

// [load] Graph, variables and signatures.
static inline Model LoadModel(const char* folder, TF_Status* status) {
  Model model = {.graph = TF_NewGraph()};
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Buffer* meta_graph = TF_NewBuffer();
  const char* tags[] = {"serve"};
  model.session = TF_LoadSessionFromSavedModel(options, NULL, folder, tags, 1,
                                               model.graph, meta_graph, status);
  Check(status, folder);
  const Bytes bytes = {meta_graph->data, meta_graph->length};
  model.points = Lookup(model.graph, bytes, 1, "points");
  model.classes = Lookup(model.graph, bytes, 2, "classes");
  TF_DeleteBuffer(meta_graph);
  TF_DeleteSessionOptions(options);
  return model;
}

// [run] Returns a tensor that the caller deletes.
static inline TF_Tensor* Run(const Model* model, TF_Tensor* points,
                             TF_Status* status) {
  TF_Tensor* classes = NULL;
  TF_SessionRun(model->session, NULL, &model->points, &points, 1,
                &model->classes, &classes, 1, NULL, 0, NULL, status);
  Check(status, "TF_SessionRun");
  return classes;
}

// [unload] In any order: the graph lives as long as a session uses it.
static inline void UnloadModel(Model* model, TF_Status* status) {
  TF_DeleteSession(model->session, status);
  Check(status, "TF_DeleteSession");
  TF_DeleteGraph(model->graph);
}

#endif  // OP_BY_OP_EXAMPLES_C_API_MODEL_H_
