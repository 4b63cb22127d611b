// Included before examples/ps_roi_align/ps_roi_align.cc: its loops, whose units
// go to threads in turns or in the blocks of Shard, as in_turns says.

#ifndef OP_BY_OP_BENCH_PS_ROI_ALIGN_SHARD_H_
#define OP_BY_OP_BENCH_PS_ROI_ALIGN_SHARD_H_

#include <cstdint>

#include "for_each.h"

extern "C" __attribute__((visibility("default"))) bool in_turns;
bool in_turns = true;

namespace op_by_op {

// Inlined into one loop and into the other, the same unit becomes other machine
// code: of PsRoiAlign's, GCC 12 vectorizes all channels in one of them alone.
template <typename Work>
__attribute__((noinline)) void OutOfLine(const Work& work, int64_t i) {
  work(i);
}

template <typename Work>
void ForEachEitherWay(tensorflow::OpKernelContext* context, int64_t total,
                      int64_t cycles, const Work& work) {
  const auto unit = [&](int64_t i) { OutOfLine(work, i); };
  if (in_turns) {
    ForEachInTurns(context, total, cycles, unit);
  } else {
    ForEach(context, total, cycles, unit);
  }
}

}  // namespace op_by_op

#define ForEachInTurns ForEachEitherWay

#endif  // OP_BY_OP_BENCH_PS_ROI_ALIGN_SHARD_H_
