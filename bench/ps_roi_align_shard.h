// Included before examples/ps_roi_align/ps_roi_align.cc: its loops without the
// turns.

#ifndef OP_BY_OP_BENCH_PS_ROI_ALIGN_SHARD_H_
#define OP_BY_OP_BENCH_PS_ROI_ALIGN_SHARD_H_

#include "for_each.h"

#define ForEachInTurns ForEach

#endif  // OP_BY_OP_BENCH_PS_ROI_ALIGN_SHARD_H_
