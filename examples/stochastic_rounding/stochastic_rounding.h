// What the CPU and the GPU compute, in integers alone: random numbers, and a
// number rounded with one of them.

#ifndef OP_BY_OP_EXAMPLES_STOCHASTIC_ROUNDING_STOCHASTIC_ROUNDING_H_
#define OP_BY_OP_EXAMPLES_STOCHASTIC_ROUNDING_STOCHASTIC_ROUNDING_H_

#include <cstdint>

#ifdef __CUDACC__
#define OP_BY_OP_HOST_DEVICE __host__ __device__
#else
#define OP_BY_OP_HOST_DEVICE
#endif

namespace op_by_op {

// [philox] The key, and the counter of the first group, of 128 bits.
struct Philox {
  uint64_t key, low, high;

  // The four numbers of a group.
  OP_BY_OP_HOST_DEVICE void At(uint64_t group, uint32_t* numbers) const {
    const uint64_t begin = low + group, end = high + (begin < low ? 1 : 0);
    auto c0 = static_cast<uint32_t>(begin), c2 = static_cast<uint32_t>(end);
    auto c1 = static_cast<uint32_t>(begin >> 32);
    auto c3 = static_cast<uint32_t>(end >> 32);
    auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
      const uint64_t a = uint64_t{0xD2511F53} * c0;
      const uint64_t b = uint64_t{0xCD9E8D57} * c2;
      c0 = static_cast<uint32_t>(b >> 32) ^ c1 ^ k0;
      c1 = static_cast<uint32_t>(b);
      c2 = static_cast<uint32_t>(a >> 32) ^ c3 ^ k1;
      c3 = static_cast<uint32_t>(a);
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    numbers[0] = c0;
    numbers[1] = c1;
    numbers[2] = c2;
    numbers[3] = c3;
  }
};

// The bits of the fraction, and the bias of the exponent.
struct Float32 {
  using Word = uint32_t;
  static constexpr int kFraction = 23, kBias = 127;
};
struct Float64 {
  using Word = uint64_t;
  static constexpr int kFraction = 52, kBias = 1023;
};
struct Bfloat16 {
  static constexpr int kFraction = 7, kBias = 127;
};
struct Half {
  static constexpr int kFraction = 10, kBias = 15;
};

// [round] From and To: formats. Takes and returns the bits of numbers.
template <typename From, typename To>
OP_BY_OP_HOST_DEVICE uint16_t Round(typename From::Word bits, uint32_t random) {
  using Word = typename From::Word;
  constexpr int kSign = 8 * sizeof(Word) - 1;
  constexpr Word kOne = Word{1} << From::kFraction;
  constexpr Word kInfinity = (Word{1} << kSign) - kOne;
  constexpr uint32_t kToInfinity = (1 << 15) - (1 << To::kFraction);
  // The exponent that To's smallest normal number has in From.
  constexpr int kLeast = From::kBias - To::kBias + 1;

  const uint32_t sign = static_cast<uint32_t>(bits >> kSign) << 15;
  const Word magnitude = bits & (kInfinity + (kOne - 1));
  uint32_t rounded = kToInfinity + (1 << (To::kFraction - 1));  // NaN
  if (magnitude <= kInfinity) {
    int exponent = static_cast<int>(magnitude >> From::kFraction);
    const uint64_t digits = (magnitude % kOne) + (exponent > 0 ? kOne : 0);
    exponent = exponent > 0 ? exponent : 1;
    const int place = exponent > kLeast ? exponent : kLeast;
    // In units of To's last digit, with 32 bits behind the point.
    const int drop = From::kFraction - To::kFraction + place - exponent;
    const uint64_t fixed = drop <= 32   ? digits << (32 - drop)
                           : drop <= 95 ? digits >> (drop - 32)
                                        : 0;
    rounded = static_cast<uint32_t>((fixed + random) >> 32);
    // A carry out of the digits makes the exponent larger.
    rounded += static_cast<uint32_t>(place - kLeast) << To::kFraction;
    rounded = rounded < kToInfinity ? rounded : kToInfinity;
  }
  return static_cast<uint16_t>(sign | rounded);
}

// [functor] Rounds four neighbours, with the four numbers of their group.
template <typename From, typename To>
struct RoundFour {
  Philox philox;
  const typename From::Word* x;
  uint16_t* rounded;
  int64_t size;

  OP_BY_OP_HOST_DEVICE void operator()(int64_t group) const {
    uint32_t random[4];
    philox.At(static_cast<uint64_t>(group), random);
    for (int k = 0; k < 4; ++k) {
      const int64_t i = 4 * group + k;
      if (i < size) rounded[i] = Round<From, To>(x[i], random[k]);
    }
  }
};

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_STOCHASTIC_ROUNDING_STOCHASTIC_ROUNDING_H_
