// A SavedModel that is ready to run.

#ifndef OP_BY_OP_EXAMPLES_C_API_MODEL_H_
#define OP_BY_OP_EXAMPLES_C_API_MODEL_H_

#include "../common/signature.h"
#include "voters.h"

typedef struct {
  TF_Graph* graph;
  TF_Session* session;
  TF_Output points;
  TF_Output classes;
} Model;

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

// [run] Returns a tensor that the caller deletes, or NULL: the status says why.
static inline TF_Tensor* Run(const Model* model, TF_Tensor* points,
                             TF_Status* status) {
  TF_Tensor* classes = NULL;
  TF_SessionRun(model->session, NULL, &model->points, &points, 1,
                &model->classes, &classes, 1, NULL, 0, NULL, status);
  return classes;
}

// [unload] In any order: the graph lives as long as a session uses it.
static inline void UnloadModel(Model* model, TF_Status* status) {
  TF_DeleteSession(model->session, status);
  Check(status, "TF_DeleteSession");
  TF_DeleteGraph(model->graph);
}

#endif  // OP_BY_OP_EXAMPLES_C_API_MODEL_H_
