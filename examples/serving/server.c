// Answers texts from the standard input, one on a line, with a SavedModel:
//   server MODEL LIBRARY [THREADS REQUESTS [BATCH]]
// With THREADS, each thread then makes so many requests, each of BATCH texts or
// one, and all answers must be those of before.

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../common/signature.h"
#include "tensorflow/c/c_api.h"
#include "tensorflow/c/tf_tstring.h"

// While the program starts, which nothing can save if a step fails.
static void Check(TF_Status* status, const char* what) {
  if (TF_GetCode(status) == TF_OK) return;
  fprintf(stderr, "%s: %s\n", what, TF_Message(status));
  exit(TF_GetCode(status));
}

// For memory that is small: without it, the program cannot go on.
static void* Needed(void* memory) {
  if (memory == NULL) abort();
  return memory;
}

// [text] A tensor of strings holds objects: TF_DeleteTensor frees their bytes.
static TF_Tensor* NewTexts(char* const* texts, int count) {
  const int64_t shape[] = {count};
  TF_Tensor* tensor =
      TF_AllocateTensor(TF_STRING, shape, 1, count * sizeof(TF_TString));
  TF_TString* strings = Needed(TF_TensorData(Needed(tensor)));
  for (int i = 0; i < count; ++i) {
    TF_StringInit(&strings[i]);
    TF_StringCopy(&strings[i], texts[i], strlen(texts[i]));
  }
  return tensor;
}

// Any number of threads may run one session at a time.
typedef struct {
  TF_Session* session;
  TF_Output input, outputs[2];
} Model;

typedef struct {
  char language[16];
  float probability;
} Answer;

// Whether a result is what Ask reads. On false, the status says why not.
static bool Fits(const TF_Tensor* result, const char* name, TF_DataType type,
                 int count, TF_Status* status) {
  const TF_DataType got = TF_TensorType(result);
  const int64_t elements = TF_TensorElementCount(result);
  if (got == type && elements == count) return true;
  char message[128];
  snprintf(message, sizeof(message),
           "%s must have %d elements of type %d, got %" PRId64 " of type %d",
           name, count, type, elements, got);
  TF_SetStatus(status, TF_INTERNAL, message);
  return false;
}

// [ask] Answers a batch of texts. On false, the status says why.
static bool Ask(const Model* model, char* const* texts, int count,
                Answer* answers, TF_Status* status) {
  TF_Tensor* input = NewTexts(texts, count);
  TF_Tensor* results[2];
  TF_SessionRun(model->session, NULL, &model->input, &input, 1, model->outputs,
                results, 2, NULL, 0, NULL, status);
  TF_DeleteTensor(input);
  if (TF_GetCode(status) != TF_OK) return false;
  const bool good = Fits(results[0], "language", TF_STRING, count, status) &&
                    Fits(results[1], "probability", TF_FLOAT, count, status);
  const TF_TString* languages = TF_TensorData(results[0]);
  const float* probabilities = TF_TensorData(results[1]);
  for (int i = 0; good && i < count; ++i) {
    answers[i].probability = probabilities[i];
    snprintf(answers[i].language, sizeof(answers[i].language), "%.*s",
             (int)TF_StringGetSize(&languages[i]),
             TF_StringGetDataPointer(&languages[i]));
  }
  TF_DeleteTensor(results[0]);
  TF_DeleteTensor(results[1]);
  return good;
}

// [load] What a thread does: requests of so many texts, and of `count` texts
// the answers that must come. A larger batch may round otherwise.
typedef struct {
  const Model* model;
  char** texts;
  const Answer* answers;
  int count, requests, batch, wrong;
} Work;

static void* MakeRequests(void* argument) {
  Work* work = argument;
  TF_Status* status = TF_NewStatus();
  char** texts = Needed(malloc(work->batch * sizeof(*texts)));
  Answer* answers = Needed(malloc(work->batch * sizeof(*answers)));
  for (int i = 0; i < work->requests; ++i) {
    for (int j = 0; j < work->batch; ++j) {
      texts[j] = work->texts[(i + j) % work->count];
    }
    bool good = Ask(work->model, texts, work->batch, answers, status);
    for (int j = 0; good && j < work->batch; ++j) {
      const Answer* expected = &work->answers[(i + j) % work->count];
      good = strcmp(answers[j].language, expected->language) == 0 &&
             fabsf(answers[j].probability - expected->probability) < 1e-5f;
    }
    work->wrong += !good;
  }
  free(texts);
  free(answers);
  TF_DeleteStatus(status);
  return NULL;
}

// Returns how many requests failed or had another answer.
static int RunThreads(Work work, int threads) {
  pthread_t* running = Needed(malloc(threads * sizeof(*running)));
  Work* works = Needed(malloc(threads * sizeof(*works)));
  for (int i = 0; i < threads; ++i) {
    works[i] = work;
    if (pthread_create(&running[i], NULL, MakeRequests, &works[i]) != 0) {
      perror("pthread_create");
      abort();
    }
  }
  int wrong = 0;
  for (int i = 0; i < threads; ++i) {
    pthread_join(running[i], NULL);
    wrong += works[i].wrong;
  }
  free(running);
  free(works);
  return wrong;
}

// The memory that this process has, in KiB; 0 where there is no /proc.
static long Memory(void) {
  long all = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL) return 0;
  if (fscanf(file, "%ld %ld", &all, &resident) != 2) resident = 0;
  fclose(file);
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static double Seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

// Load, find, answer.
int main(int argc, char** argv) {
  const int threads = argc > 3 ? atoi(argv[3]) : 1;
  const int requests = argc > 4 ? atoi(argv[4]) : 1;
  const int batch = argc > 5 ? atoi(argv[5]) : 1;
  if ((argc != 3 && argc != 5 && argc != 6) || threads < 1 || requests < 1 ||
      batch < 1) {
    fprintf(stderr, "usage: %s MODEL LIBRARY [THREADS REQUESTS [BATCH]]\n",
            argv[0]);
    return EXIT_FAILURE;
  }
  TF_Status* status = TF_NewStatus();
  TF_Library* library = TF_LoadLibrary(argv[2], status);
  Check(status, argv[2]);
  TF_DeleteLibraryHandle(library);

  // [threads] A ConfigProto: its field 5, inter_op_parallelism_threads, is -1,
  // so that a request runs on the thread that makes it; field 2,
  // intra_op_parallelism_threads, is 1, so that an op does not ask for more.
  const uint8_t config[] = {2 << 3, 1,   5 << 3, 255, 255, 255, 255,
                            255,    255, 255,    255, 255, 1};
  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_SetConfig(options, config, sizeof(config), status);
  Check(status, "TF_SetConfig");

  // The model, and the nodes of its signature.
  TF_Graph* graph = TF_NewGraph();
  TF_Buffer* meta_graph = TF_NewBuffer();
  const char* tags[] = {"serve"};
  Model model;
  model.session = TF_LoadSessionFromSavedModel(options, NULL, argv[1], tags, 1,
                                               graph, meta_graph, status);
  Check(status, argv[1]);
  const Bytes bytes = {meta_graph->data, meta_graph->length};
  model.input = Lookup(graph, bytes, 1, "texts");
  model.outputs[0] = Lookup(graph, bytes, 2, "language");
  model.outputs[1] = Lookup(graph, bytes, 2, "probability");

  // An error belongs to its request: the others are answered.
  char** texts = NULL;
  Answer* answers = NULL;
  int count = 0, failed = 0;
  char* line = NULL;
  size_t capacity = 0;
  while (getline(&line, &capacity, stdin) > 0) {
    line[strcspn(line, "\n")] = '\0';
    Answer answer;
    const double start = Seconds();
    if (!Ask(&model, &line, 1, &answer, status)) {
      fprintf(stderr, "%s: %s\n", line, TF_Message(status));
      ++failed;
      continue;
    }
    if (count == 0) {
      fprintf(stderr, "%.4f s for the first request\n", Seconds() - start);
    }
    printf("%-8s %.2f  %s\n", answer.language, answer.probability, line);
    texts = Needed(realloc(texts, (count + 1) * sizeof(*texts)));
    answers = Needed(realloc(answers, (count + 1) * sizeof(*answers)));
    texts[count] = Needed(strdup(line));
    answers[count++] = answer;
  }
  free(line);

  // Under load. A tenth first: what is allocated once has been allocated then.
  if (argc >= 5 && count > 0) {
    const int first = requests / 10;
    Work work = {&model, texts, answers, count, first, batch, 0};
    failed += RunThreads(work, threads);
    const long before = Memory();
    const double start = Seconds();
    work.requests = requests - first;
    failed += RunThreads(work, threads);
    fprintf(stderr, "%.4f s for %d requests\n", Seconds() - start,
            threads * work.requests);
    printf("%d requests, %d wrong, then %ld KiB more memory\n",
           threads * requests, failed, Memory() - before);
  }

  // What this program owns.
  for (int i = 0; i < count; ++i) free(texts[i]);
  free(texts);
  free(answers);
  TF_DeleteSession(model.session, status);
  Check(status, "TF_DeleteSession");
  TF_DeleteBuffer(meta_graph);
  TF_DeleteGraph(graph);
  TF_DeleteSessionOptions(options);
  TF_DeleteStatus(status);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
