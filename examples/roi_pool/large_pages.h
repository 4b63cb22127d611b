// Advice to the system on the memory of large tensors.

#ifndef OP_BY_OP_EXAMPLES_ROI_POOL_LARGE_PAGES_H_
#define OP_BY_OP_EXAMPLES_ROI_POOL_LARGE_PAGES_H_

#include <cstddef>
#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "tensorflow/core/framework/tensor.h"

namespace op_by_op {

// Asks for pages of 2 MiB. Where the allocator takes new memory from the system
// for each large tensor, as the C library does from 32 MiB on, the first write
// to each page of 4 KiB is a page fault: large pages have 512 times fewer. The
// system may decline. Memory that the allocator keeps stays so advised.
inline void AdviseLargePages(
    [[maybe_unused]] const tensorflow::Tensor& tensor) {
#if defined(__linux__)
  if (tensor.TotalBytes() < size_t{1} << 25) return;
  constexpr uintptr_t kPage = uintptr_t{1} << 21;
  const auto begin = reinterpret_cast<uintptr_t>(tensor.data());
  const uintptr_t first = (begin + kPage - 1) / kPage * kPage;
  const uintptr_t last = (begin + tensor.TotalBytes()) / kPage * kPage;
  madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_ROI_POOL_LARGE_PAGES_H_
