// Answers texts from the standard input, one on a line, with a SavedModel:
//   server MODEL LIBRARY [THREADS REQUESTS]
// With THREADS, each thread then makes so many requests, and all answers must
// be those of before.

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/tf_tstring.h"

static void Check(TF_Status* status, const char* what) {
  if (TF_GetCode(status) == TF_OK) return;
  fprintf(stderr, "%s: %s\n", what, TF_Message(status));
  exit(TF_GetCode(status));
}

// A protocol buffer is a row of fields. Takes the first one off:
// returns its number, and its bytes where it has a length.
typedef struct {
  const unsigned char* begin;
  size_t size;
} Bytes;

static uint64_t TakeNumber(Bytes* message) {
  uint64_t number = 0;
  for (int shift = 0; message->size > 0 && shift < 64; shift += 7) {
    const unsigned char byte = *message->begin++;
    --message->size;
    number |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) break;
  }
  return number;
}

static int TakeField(Bytes* message, Bytes* value) {
  const uint64_t tag = TakeNumber(message);
  const int kind = tag & 7;
  uint64_t size = 0;
  if (kind == 0) TakeNumber(message);
  if (kind == 1) size = 8;
  if (kind == 2) size = TakeNumber(message);
  if (kind == 5) size = 4;
  if (size > message->size) size = message->size;
  *value = (Bytes){message->begin, size};
  message->begin += size;
  message->size -= size;
  return (int)(tag >> 3);
}

// [entry] A map is a repeated field of entries: 1 is the key, 2 the value.
static Bytes Entry(Bytes message, int field, const char* key) {
  Bytes entry, part;
  while (message.size > 0) {
    if (TakeField(&message, &entry) != field) continue;
    Bytes value = {NULL, 0};
    bool found = false;
    while (entry.size > 0) {
      const int number = TakeField(&entry, &part);
      if (number == 1) {
        found =
            part.size == strlen(key) && memcmp(part.begin, key, part.size) == 0;
      }
      if (number == 2) value = part;
    }
    if (found) return value;
  }
  fprintf(stderr, "the signature has no %s\n", key);
  exit(EXIT_FAILURE);
}

// [signature] In MetaGraphDef, 5 holds the signatures; in a signature, 1 holds
// the inputs and 2 the outputs; of each, 1 is the name, such as "call:0".
static TF_Output Find(TF_Graph* graph, const TF_Buffer* meta_graph, int side,
                      const char* key) {
  const Bytes model = {meta_graph->data, meta_graph->length};
  const Bytes signature = Entry(model, 5, "serving_default");
  Bytes info = Entry(signature, side, key), part = {NULL, 0};
  char name[256] = "";
  while (info.size > 0) {
    if (TakeField(&info, &part) == 1 && part.size < sizeof(name)) {
      memcpy(name, part.begin, part.size);
    }
  }
  char* colon = strchr(name, ':');
  TF_Output output = {NULL, colon ? atoi(colon + 1) : 0};
  if (colon) *colon = '\0';
  output.oper = TF_GraphOperationByName(graph, name);
  if (output.oper == NULL) {
    fprintf(stderr, "the graph has no %s\n", name);
    exit(EXIT_FAILURE);
  }
  return output;
}

// [text] A tensor of strings holds objects: TF_DeleteTensor frees their bytes.
static TF_Tensor* NewText(const char* text) {
  const int64_t shape[] = {1};
  TF_Tensor* tensor =
      TF_AllocateTensor(TF_STRING, shape, 1, sizeof(TF_TString));
  TF_StringInit(TF_TensorData(tensor));
  TF_StringCopy(TF_TensorData(tensor), text, strlen(text));
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

static Answer Ask(const Model* model, const char* text, TF_Status* status) {
  TF_Tensor* input = NewText(text);
  TF_Tensor* results[2];
  TF_SessionRun(model->session, NULL, &model->input, &input, 1, model->outputs,
                results, 2, NULL, 0, NULL, status);
  Check(status, "TF_SessionRun");
  const TF_TString* language = TF_TensorData(results[0]);
  Answer answer = {"", *(const float*)TF_TensorData(results[1])};
  snprintf(answer.language, sizeof(answer.language), "%.*s",
           (int)TF_StringGetSize(language), TF_StringGetDataPointer(language));
  TF_DeleteTensor(input);
  TF_DeleteTensor(results[0]);
  TF_DeleteTensor(results[1]);
  return answer;
}

// [load] What a thread does.
typedef struct {
  const Model* model;
  char** texts;
  const Answer* answers;
  int count, requests;
} Work;

static void* MakeRequests(void* argument) {
  const Work* work = argument;
  TF_Status* status = TF_NewStatus();
  for (int i = 0; i < work->requests; ++i) {
    const int which = i % work->count;
    const Answer answer = Ask(work->model, work->texts[which], status);
    if (strcmp(answer.language, work->answers[which].language) != 0 ||
        answer.probability != work->answers[which].probability) {
      fprintf(stderr, "another answer for: %s\n", work->texts[which]);
      exit(EXIT_FAILURE);
    }
  }
  TF_DeleteStatus(status);
  return NULL;
}

static void RunThreads(Work work, int threads) {
  pthread_t* running = malloc(threads * sizeof(pthread_t));
  for (int i = 0; i < threads; ++i) {
    if (pthread_create(&running[i], NULL, MakeRequests, &work) != 0) {
      perror("pthread_create");
      exit(EXIT_FAILURE);
    }
  }
  for (int i = 0; i < threads; ++i) pthread_join(running[i], NULL);
  free(running);
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

// Load, find, answer.
int main(int argc, char** argv) {
  if (argc != 3 && argc != 5) {
    fprintf(stderr, "usage: %s MODEL LIBRARY [THREADS REQUESTS]\n", argv[0]);
    return EXIT_FAILURE;
  }
  TF_Status* status = TF_NewStatus();
  TF_Library* library = TF_LoadLibrary(argv[2], status);
  Check(status, argv[2]);
  TF_DeleteLibraryHandle(library);

  TF_SessionOptions* options = TF_NewSessionOptions();
  TF_Graph* graph = TF_NewGraph();
  TF_Buffer* meta_graph = TF_NewBuffer();
  const char* tags[] = {"serve"};
  Model model;
  model.session = TF_LoadSessionFromSavedModel(options, NULL, argv[1], tags, 1,
                                               graph, meta_graph, status);
  Check(status, argv[1]);
  model.input = Find(graph, meta_graph, 1, "texts");
  model.outputs[0] = Find(graph, meta_graph, 2, "language");
  model.outputs[1] = Find(graph, meta_graph, 2, "probability");

  // One by one.
  char** texts = NULL;
  Answer* answers = NULL;
  int count = 0;
  char* line = NULL;
  size_t capacity = 0;
  while (getline(&line, &capacity, stdin) > 0) {
    line[strcspn(line, "\n")] = '\0';
    texts = realloc(texts, (count + 1) * sizeof(*texts));
    answers = realloc(answers, (count + 1) * sizeof(*answers));
    texts[count] = strdup(line);
    answers[count] = Ask(&model, line, status);
    printf("%-8s %.2f  %s\n", answers[count].language,
           answers[count].probability, line);
    ++count;
  }
  free(line);

  // A tenth first: what is allocated once has been allocated then.
  if (argc == 5 && count > 0) {
    const int threads = atoi(argv[3]), requests = atoi(argv[4]);
    Work work = {&model, texts, answers, count, requests / 10};
    RunThreads(work, threads);
    const long before = Memory();
    work.requests = requests - work.requests;
    RunThreads(work, threads);
    const long grown = Memory() - before;
    if (grown > 2048) {
      fprintf(stderr, "the memory has grown by %ld KiB\n", grown);
      return EXIT_FAILURE;
    }
    printf("%d more answers, all the same, and no more memory\n",
           threads * requests);
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
  return EXIT_SUCCESS;
}
