// Loops over units of work that the threads of the CPU share.

#ifndef OP_BY_OP_EXAMPLES_PS_ROI_ALIGN_FOR_EACH_H_
#define OP_BY_OP_EXAMPLES_PS_ROI_ALIGN_FOR_EACH_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/util/work_sharder.h"
#include "tsl/platform/denormal.h"

namespace op_by_op {

// [for_each] Of units 0 <= i < total, each about `cycles` cycles, ForEach calls
// work(i) for each, and ForEachBlock work(begin, end) for each block.
template <typename Work>
void ForEachBlock(tensorflow::OpKernelContext* context, int64_t total,
                  int64_t cycles, const Work& work) {
  const auto& pool = *context->device()->tensorflow_cpu_worker_threads();
  tensorflow::Shard(pool.num_threads, pool.workers, total, cycles,
                    [&](int64_t begin, int64_t end) {
                      const tsl::port::ScopedDontFlushDenormal keep;
                      work(begin, end);
                    });
}

template <typename Work>
void ForEach(tensorflow::OpKernelContext* context, int64_t total,
             int64_t cycles, const Work& work) {
  ForEachBlock(context, total, cycles, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) work(i);
  });
}

// [in_turns] As ForEach, for units that differ much. Each thread begins with a
// part of its own, some units a turn, and then helps with the other parts.
template <typename Work>
void ForEachInTurns(tensorflow::OpKernelContext* context, int64_t total,
                    int64_t cycles, const Work& work) {
  constexpr int64_t kTurnCycles = 50'000;
  const auto& pool = *context->device()->tensorflow_cpu_worker_threads();
  const int64_t turn = std::max<int64_t>(kTurnCycles / (cycles + 1), 1);
  const int64_t parts =
      std::min<int64_t>(pool.num_threads, (total + turn - 1) / turn);
  std::vector<std::atomic<int64_t>> taken(parts);
  const auto help = [&](int64_t part) {
    const int64_t first = total / parts * part;
    const int64_t last = part + 1 < parts ? first + total / parts : total;
    for (;;) {
      const int64_t begin = first + taken[part].fetch_add(turn);
      if (begin >= last) return;
      const int64_t end = std::min(begin + turn, last);
      for (int64_t i = begin; i < end; ++i) work(i);
    }
  };
  tensorflow::Shard(parts, pool.workers, parts, 10 * kTurnCycles,
                    [&](int64_t own, int64_t end) {
                      const tsl::port::ScopedDontFlushDenormal keep;
                      for (; own < end; ++own) {
                        for (int64_t i = 0; i < parts; ++i) {
                          help((own + i) % parts);
                        }
                      }
                    });
}

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_PS_ROI_ALIGN_FOR_EACH_H_
