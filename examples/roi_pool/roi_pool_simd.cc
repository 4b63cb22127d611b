// One row of bins, in vectors. Compiled for each path, with OP_BY_OP_PATH its
// name and the compiler's flags its instructions. Nothing inline that other
// files use may be called here: the linker would keep one copy for all paths.

#include <cstdint>
#include <cstring>

#include "roi_pool_cpu.h"
#include "roi_pool_half.h"
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace op_by_op {
namespace OP_BY_OP_PATH {
namespace {

// The compiler's own vectors: any width, on any processor.
#if defined(__AVX512F__)
constexpr int kBytes = 64, kRegisters = 32;
#elif defined(__AVX2__)
constexpr int kBytes = 32, kRegisters = 16;
#elif defined(__aarch64__)
constexpr int kBytes = 16, kRegisters = 32;
#else
constexpr int kBytes = 16, kRegisters = 16;
#endif

template <typename E, int kCount>
struct VectorOf {
  typedef E type __attribute__((vector_size(kCount * sizeof(E))));
};
template <typename E, int kCount>
using Vector = typename VectorOf<E, kCount>::type;

template <typename W>  // float or double
struct Lanes {
  static constexpr int kCount = kBytes / sizeof(W);
  using Index = std::conditional_t<sizeof(W) == 4, int32_t, int64_t>;
  using Values = Vector<W, kCount>;
  using Indices = Vector<Index, kCount>;
};
constexpr int kFloats = Lanes<float>::kCount;
constexpr float kInfinity = __builtin_inff();  // that of std is inline
using Bits16 = Vector<uint16_t, kFloats>;
using Bits32 = Vector<uint32_t, kFloats>;
using Floats = Vector<float, kFloats>;

inline void Load(const float* from, Floats* to) {
  std::memcpy(to, from, kBytes);
}

inline void Load(const double* from, Lanes<double>::Values* to) {
  std::memcpy(to, from, kBytes);
}

template <typename T>
inline Bits32 BitsAt(const T* from) {
  Bits16 bits;
  std::memcpy(&bits, from, sizeof(bits));
  return __builtin_convertvector(bits, Bits32);
}

inline void Load(const Bfloat16* from, Floats* to) {
  *to = Bfloat16ToFloat<Floats>(BitsAt(from));
}

inline void Load(const Half* from, Floats* to) {
  *to = HalfToFloat<Floats>(BitsAt(from));
}

inline Floats Narrow(const Floats& value, const float*) { return value; }

inline Lanes<double>::Values Narrow(const Lanes<double>::Values& value,
                                    const double*) {
  return value;
}

inline Bits16 Narrow(const Floats& value, const Bfloat16*) {
  return __builtin_convertvector(FloatToBfloat16<Bits32>(value), Bits16);
}

inline Bits16 Narrow(const Floats& value, const Half*) {
  return __builtin_convertvector(FloatToHalf<Bits32>(value), Bits16);
}

// Past the caches where that is asked for and possible.
template <typename V>
inline void Store(const V& value, void* to, [[maybe_unused]] bool streaming) {
#if defined(__SSE2__)
  if (streaming && reinterpret_cast<uintptr_t>(to) % sizeof(V) == 0) {
#if defined(__AVX512F__)
    if constexpr (sizeof(V) == 64) {
      _mm512_stream_si512(static_cast<__m512i*>(to), (__m512i)value);
      return;
    }
#endif
#if defined(__AVX2__)
    if constexpr (sizeof(V) == 32) {
      _mm256_stream_si256(static_cast<__m256i*>(to), (__m256i)value);
      return;
    }
#endif
    if constexpr (sizeof(V) == 16) {
      _mm_stream_si128(static_cast<__m128i*>(to), (__m128i)value);
      return;
    }
  }
#endif
  std::memcpy(to, &value, sizeof(V));
}

// [block] The pixels of one bin stream past kVectors vectors of maxima, and as
// many of positions, that stay in registers.
template <int kVectors, bool kArgmax, typename S, typename T>
inline void Block(const BinRow& row, Span cols, const S* pixels, T* pooled,
                  int32_t* argmax) {
  using L = Lanes<Wide<T>>;
  typename L::Values best[kVectors];
  typename L::Indices where[kVectors];
  typename L::Index first = row.rows.begin * row.width + cols.begin;
#pragma GCC unroll 16
  for (int i = 0; i < kVectors; ++i) {
    best[i] = typename L::Values{} - Wide<T>{kInfinity};
    where[i] = typename L::Indices{} + first;
  }
  for (int32_t h = row.rows.begin; h < row.rows.end; ++h, first += row.width) {
    const S* pixel = pixels + (h * row.width + cols.begin) * row.pixel_stride;
    typename L::Indices here = typename L::Indices{} + first;
    for (int32_t w = cols.begin; w < cols.end; ++w) {
#pragma GCC unroll 16
      for (int i = 0; i < kVectors; ++i) {
        typename L::Values value;
        Load(pixel + i * L::kCount, &value);
        const typename L::Values next = value > best[i] ? value : best[i];
        if (kArgmax) where[i] = next > best[i] ? here : where[i];
        best[i] = next;
      }
      here += 1;
      pixel += row.pixel_stride;
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kVectors; ++i) {
    Store(Narrow(best[i], pooled), pooled + i * L::kCount, row.streaming);
  }
  if (!kArgmax) return;
#pragma GCC unroll 16
  for (int i = 0; i < kVectors; ++i) {
    Store(__builtin_convertvector(where[i], Vector<int32_t, L::kCount>),
          argmax + i * L::kCount, row.streaming);
  }
}

// The same for fewer channels than a vector has lanes: it reads those of the
// next pixels too, as long as there are any, and drops what it found.
template <bool kArgmax, typename S, typename T>
inline void Rest(const BinRow& row, Span cols, const S* pixels, T* pooled,
                 int32_t* argmax) {
  using L = Lanes<Wide<T>>;
  typename L::Index first = row.rows.begin * row.width + cols.begin;
  typename L::Values best = typename L::Values{} - Wide<T>{kInfinity};
  typename L::Indices where = typename L::Indices{} + first;
  for (int32_t h = row.rows.begin; h < row.rows.end; ++h, first += row.width) {
    typename L::Indices here = typename L::Indices{} + first;
    int64_t i = (h * row.width + cols.begin) * row.pixel_stride;
    for (int32_t w = cols.begin; w < cols.end; ++w, i += row.pixel_stride) {
      typename L::Values value;
      if (i + L::kCount <= row.image_size) {
        Load(pixels + i, &value);
      } else {
        S last[L::kCount] = {};
        std::memcpy(last, pixels + i, row.channels * sizeof(S));
        Load(last, &value);
      }
      const typename L::Values next = value > best ? value : best;
      where = next > best ? here : where;
      best = next;
      here += 1;
    }
  }
  const auto narrow = Narrow(best, pooled);
  std::memcpy(pooled, &narrow, row.channels * sizeof(T));
  if (!kArgmax) return;
  const auto indices =
      __builtin_convertvector(where, Vector<int32_t, L::kCount>);
  std::memcpy(argmax, &indices, row.channels * sizeof(int32_t));
}

// As many channels at a time as the registers allow, then half as many.
template <int kVectors, bool kArgmax, typename S, typename T>
inline void Blocks(const BinRow& row, Span cols, int64_t c, const S* pixels,
                   T* pooled, int32_t* argmax) {
  constexpr int64_t kStep = kVectors * Lanes<Wide<T>>::kCount;
  for (; c + kStep <= row.channels; c += kStep) {
    Block<kVectors, kArgmax>(row, cols, pixels + c, pooled + c,
                             kArgmax ? argmax + c : nullptr);
  }
  if constexpr (kVectors > 1) {
    Blocks<kVectors / 2, kArgmax>(row, cols, c, pixels, pooled, argmax);
  } else if (c < row.channels && row.channels >= kStep) {
    c = row.channels - kStep;  // the last lanes, some of them again
    Block<1, kArgmax>(row, cols, pixels + c, pooled + c,
                      kArgmax ? argmax + c : nullptr);
  } else if (c < row.channels) {
    Rest<kArgmax>(row, cols, pixels, pooled, argmax);
  }
}

template <bool kArgmax, typename S, typename T>
void PoolBins(const BinRow& row, const S* pixels, T* pooled, int32_t* argmax) {
  for (int64_t p = 0; p < row.bins; ++p) {
    const Span cols = row.cols[p];
    if (row.rows.begin < row.rows.end && cols.begin < cols.end) {
      Blocks<kArgmax ? kRegisters / 4 : kRegisters / 2, kArgmax>(
          row, cols, 0, pixels, pooled, argmax);
    } else {
      std::memset(pooled, 0, row.channels * sizeof(T));
      if (kArgmax) std::memset(argmax, -1, row.channels * sizeof(int32_t));
    }
    pooled += row.bin_stride;
    if (kArgmax) argmax += row.bin_stride;
  }
}

template <typename S, typename T>
void PoolRow(const BinRow& row, const S* pixels, T* pooled, int32_t* argmax) {
  argmax != nullptr ? PoolBins<true>(row, pixels, pooled, argmax)
                    : PoolBins<false>(row, pixels, pooled, argmax);
}

// Some channels of each pixel, side by side and wide enough to compare.
template <typename T>
void Pack(const T* from, int64_t pixels, int64_t stride, int64_t channels,
          Wide<T>* to) {
  using L = Lanes<Wide<T>>;
  for (; pixels > 0; --pixels, from += stride, to += channels) {
    int64_t c = 0;
    typename L::Values value;
    for (; c + L::kCount <= channels; c += L::kCount) {
      Load(from + c, &value);
      std::memcpy(to + c, &value, kBytes);
    }
    if (c == channels) continue;
    T some[L::kCount] = {};
    for (int64_t i = c; i < channels; ++i) some[i - c] = from[i];
    Load(some, &value);
    for (int64_t i = c; i < channels; ++i) to[i] = value[i - c];
  }
}

}  // namespace

template <typename T>
Path<T> GetPath() {
  return {PoolRow<T, T>, PoolRow<Wide<T>, T>, Pack<T>};
}
template Path<Half> GetPath();
template Path<Bfloat16> GetPath();
template Path<float> GetPath();
template Path<double> GetPath();

}  // namespace OP_BY_OP_PATH
}  // namespace op_by_op
