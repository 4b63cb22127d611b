// Requests from several threads at once:
//   requests MODEL THREADS REQUESTS LIBRARY...

#include <pthread.h>

#include "model.h"

typedef struct {
  const Model* model;
  int number, requests, wrong;
} Client;

// [client] One session, and tensors and a status of each thread's own.
static void* Ask(void* argument) {
  Client* client = argument;
  TF_Status* status = TF_NewStatus();
  for (int i = 0; i < client->requests; ++i) {
    const float axes[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    const int32_t expected[] = {1, 1, 2, 0};
    const int which = (client->number + i) % 4;
    const int64_t shape[] = {1, 2};
    TF_Tensor* point = NewTensor(TF_FLOAT, axes[which], shape, 2);
    TF_Tensor* found = Run(client->model, point, status);
    if (found == NULL || TF_TensorType(found) != TF_INT32 ||
        TF_TensorElementCount(found) != 1 ||
        *Int32s(found) != expected[which]) {
      ++client->wrong;
    }
    TF_DeleteTensor(found);
    TF_DeleteTensor(point);
  }
  TF_DeleteStatus(status);
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = argc < 4 ? 0 : atoi(argv[2]);
  if (threads < 1 || threads > 64) {
    fprintf(stderr, "usage: %s MODEL THREADS REQUESTS LIBRARY...\n", argv[0]);
    return EXIT_FAILURE;
  }
  TF_Status* status = TF_NewStatus();
  for (int i = 4; i < argc; ++i) LoadLibrary(argv[i], status);
  Model model = LoadModel(argv[1], status);

  pthread_t started[64];
  Client clients[64];
  for (int i = 0; i < threads; ++i) {
    clients[i] = (Client){&model, i, atoi(argv[3]), 0};
    if (pthread_create(&started[i], NULL, Ask, &clients[i])) abort();
  }
  int asked = 0, wrong = 0;
  for (int i = 0; i < threads; ++i) {
    pthread_join(started[i], NULL);
    asked += clients[i].requests;
    wrong += clients[i].wrong;
  }
  printf("%d requests on %d threads, %d wrong\n", asked, threads, wrong);

  UnloadModel(&model, status);
  TF_DeleteStatus(status);
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
