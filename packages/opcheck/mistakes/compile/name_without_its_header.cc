// [wrong]
void wrong(tensorflow::thread::ThreadPool* pool) {
  Shard(2, pool, 100, 1, [](int64_t first, int64_t last) {});
}
// [cured]
#include "tensorflow/core/util/work_sharder.h"
void cured(tensorflow::thread::ThreadPool* pool) {
  tensorflow::Shard(2, pool, 100, 1, [](int64_t first, int64_t last) {});
}
