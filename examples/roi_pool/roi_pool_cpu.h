// The kernels of the CPU, apart from TensorFlow.

#ifndef OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_CPU_H_
#define OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_CPU_H_

#include <cstdint>
#include <functional>
#include <type_traits>

#include "roi_pool_geometry.h"

namespace op_by_op {

// The bits of the two types that C++17 does not have.
struct Half {
  uint16_t bits;
};
struct Bfloat16 {
  uint16_t bits;
};

// What values of type T are compared and added as.
template <typename T>
using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

// A call of RoiPool: what it reads and what it writes.
template <typename T>
struct Pooling {
  Sizes sizes;
  const T* features;
  const float* rois;
  T* pooled;
  int32_t* argmax;  // may be null
};

// And of its gradient.
template <typename T>
struct PoolingGrad {
  Sizes sizes;
  const T* gradient;
  const int32_t* argmax;
  const float* rois;
  T* features;
};

// What is compiled once for each kind of processor: see
// roi_pool_simd.cc.
struct BinRow {          // one row of bins of one region
  int64_t width;         // of the map
  int64_t image_size;    // elements from the first pixel on
  int64_t pixel_stride;  // elements from one pixel of the map to the next
  int64_t bin_stride;    // elements from one bin of the output to the next
  int64_t channels;
  Span rows;
  const Span* cols;  // of each bin
  int64_t bins;
  bool streaming;  // write past the caches
};

template <typename T>
struct Path {
  // `pixels`: pixel 0 of the image. `argmax` may be null.
  void (*pool)(const BinRow&, const T* pixels, T* pooled, int32_t* argmax);
  void (*pool_packed)(const BinRow&, const Wide<T>* pixels, T* pooled,
                      int32_t* argmax);
  // Copies `channels` of each of `pixels` that lie `stride` elements apart.
  void (*pack)(const T* from, int64_t pixels, int64_t stride, int64_t channels,
               Wide<T>* to);
};

#define OP_BY_OP_DECLARE_PATH(name) \
  namespace name {                  \
  template <typename T>             \
  Path<T> GetPath();                \
  }
OP_BY_OP_DECLARE_PATH(baseline)
OP_BY_OP_DECLARE_PATH(avx2)
OP_BY_OP_DECLARE_PATH(avx512)

// The best path of this machine.
template <typename T>
Path<T> FindPath();

// [shard] What the kernels call: `total` pieces of work, the `cost` of each in
// cycles, and what does the pieces from begin to end, in `bytes` of scratch
// memory that no other thread has. Without memory, Work is not called.
using Work = std::function<void(int64_t begin, int64_t end, uint8_t* scratch)>;
using Shard = std::function<void(int64_t total, int64_t cost, int64_t bytes,
                                 const Work&)>;

// Waits until what a thread has written past the caches is seen by all.
void FinishStores();

// How to pool, and the bytes of scratch memory that all threads share.
struct Plan {
  bool packed;  // reads copies of the map, by the sweep
  int64_t scratch_bytes;
  bool streams;    // writes past the caches
  int64_t pixels;  // to read
};

template <typename T>
Plan PlanOf(const Pooling<T>& call);

// What all rows of bins of a call have in common where the map is read in
// place: `rows` and `cols` are still to be set.
template <typename T>
BinRow BinRowOf(const Pooling<T>& call, const Plan& plan);

// The results are the same whichever way it goes, and on any threads.
template <typename T>
void Pool(const Pooling<T>& call, const Path<T>& path, const Plan& plan,
          uint8_t* scratch, const Shard& shard);

// Returns whether every argmax was a pixel of the map or -1. Of a map without
// pixels it does not know, and returns false.
template <typename T>
bool PoolGrad(const PoolingGrad<T>& call, const Shard& shard);

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_CPU_H_
