// float16 and bfloat16 to and from float, one number or a vector of them: F is
// float or a vector of floats, and U has as many uint32_t. Nothing here is
// shared between files: each is compiled for a processor of its own.

#ifndef OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_HALF_H_
#define OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_HALF_H_

#include <cstdint>
#include <cstring>

namespace op_by_op {
namespace {

template <typename To, typename From>
inline To BitCast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

// Exact, whatever the processor does with the smallest numbers.
template <typename F, typename U>
inline F Bfloat16ToFloat(const U& bits) {
  return BitCast<F>(bits << 16);
}

template <typename F, typename U>
inline F HalfToFloat(const U& bits) {
  const U sign = (bits & 0x8000u) << 16, rest = bits & 0x7fffu;
  // 5 bits of exponent become 8, all ones for infinity and NaN.
  const U normal =
      (rest << 13) + (rest >= 0x7c00u ? U{} + 0x70000000u : U{} + 0x38000000u);
  // Between 0.5 and 1, floats lie as far apart as the smallest halves.
  const U one_half = U{} + 0x3f000000u;
  const F subnormal = BitCast<F>(one_half + rest) - BitCast<F>(one_half);
  return BitCast<F>((rest < 0x400u ? BitCast<U>(subnormal) : normal) | sign);
}

// To nearest, half to even.
template <typename U, typename F>
inline U FloatToBfloat16(const F& value) {
  const U bits = BitCast<U>(value), rest = bits & 0x7fffffffu;
  return rest > 0x7f800000u ? (bits >> 16) | (U{} + 0x40u)
                            : (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
}

template <typename U, typename F>
inline U FloatToHalf(const F& value) {
  const U bits = BitCast<U>(value);
  const U sign = (bits >> 16) & 0x8000u, rest = bits & 0x7fffffffu;
  // The sum rounds: its last bit is worth as much as that of a small half.
  const U one_half = U{} + 0x3f000000u;
  const U subnormal =
      BitCast<U>(BitCast<F>(rest) + BitCast<F>(one_half)) - one_half;
  const U normal = (rest - 0x38000000u + 0xfffu + ((rest >> 13) & 1u)) >> 13;
  const U finite = rest < 0x38800000u ? subnormal : normal;
  const U infinite = rest > 0x7f800000u ? U{} + 0x7e00u : U{} + 0x7c00u;
  return (rest < 0x477ff000u ? finite : infinite) | sign;
}

}  // namespace
}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_ROI_POOL_ROI_POOL_HALF_H_
