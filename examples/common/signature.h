// The signatures in a MetaGraphDef, read without a library for protocol
// buffers.

#ifndef OP_BY_OP_EXAMPLES_COMMON_SIGNATURE_H_
#define OP_BY_OP_EXAMPLES_COMMON_SIGNATURE_H_

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/c_api.h"

typedef struct {
  const uint8_t* at;
  size_t size;
} Bytes;

// Seven bits in each byte, the lowest first; the last byte is below 128.
static inline uint64_t TakeNumber(Bytes* from) {
  uint64_t number = 0;
  for (int shift = 0; from->size > 0 && shift < 64; shift += 7) {
    const uint8_t byte = *from->at++;
    --from->size;
    number |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) return number;
  }
  fprintf(stderr, "this is no protocol buffer\n");
  exit(EXIT_FAILURE);
}

// A field: its number and its kind, then what it holds. False at the end.
static inline bool TakeField(Bytes* message, uint64_t* number, Bytes* value) {
  if (message->size == 0) return false;
  const uint64_t key = TakeNumber(message);
  *number = key >> 3;
  *value = (Bytes){message->at, 0};
  switch (key & 7) {
    case 0:
      TakeNumber(message);
      return true;
    case 1:
      value->size = 8;
      break;
    case 2:
      value->size = TakeNumber(message);
      value->at = message->at;
      break;
    case 5:
      value->size = 4;
      break;
    default:
      value->size = SIZE_MAX;
  }
  if (value->size > message->size) {
    fprintf(stderr, "this is no protocol buffer\n");
    exit(EXIT_FAILURE);
  }
  message->at += value->size;
  message->size -= value->size;
  return true;
}

// What a field of a message holds; nothing if it is not there.
static inline Bytes Field(Bytes message, uint64_t wanted) {
  uint64_t number;
  Bytes value;
  while (TakeField(&message, &number, &value)) {
    if (number == wanted) return value;
  }
  return (Bytes){NULL, 0};
}

// A map is a field that occurs once for each entry, whose field 1 is
// the key and whose field 2 is the value.
static inline Bytes Entry(Bytes message, uint64_t map, const char* key) {
  uint64_t number;
  Bytes entry;
  while (TakeField(&message, &number, &entry)) {
    if (number != map) continue;
    const Bytes found = Field(entry, 1);
    if (found.size == strlen(key) && !memcmp(found.at, key, found.size)) {
      return Field(entry, 2);
    }
  }
  return (Bytes){NULL, 0};
}

// [lookup] The node behind a key of the signature: a MetaGraphDef has its
// signatures in field 5, a signature its inputs in 1 and its outputs in 2, and
// a TensorInfo its name in 1, such as serving_default_points:0.
static inline TF_Output Lookup(TF_Graph* graph, Bytes meta_graph, int map,
                               const char* key) {
  const Bytes signature = Entry(meta_graph, 5, "serving_default");
  const Bytes name = Field(Entry(signature, map, key), 1);
  char* const node = malloc(name.size + 1);
  if (node == NULL) abort();
  snprintf(node, name.size + 1, "%.*s", (int)name.size, (const char*)name.at);
  char* const colon = strrchr(node, ':');
  TF_Output found = {NULL, 0};
  if (colon != NULL) {
    *colon = '\0';
    found = (TF_Output){TF_GraphOperationByName(graph, node), atoi(colon + 1)};
  }
  free(node);
  if (found.oper == NULL) {
    fprintf(stderr, "the signature serving_default must have %s\n", key);
    exit(EXIT_FAILURE);
  }
  return found;
}

#endif  // OP_BY_OP_EXAMPLES_COMMON_SIGNATURE_H_
