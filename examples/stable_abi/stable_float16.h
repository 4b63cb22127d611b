// stable_float16.h: the two floats of 16 bits for stable_op.h, which C++17
// lacks. They are their bits: compute in float. float converts to the nearest
// one, of two as near to the even one.

#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "stable_op.h"

namespace stable {

template <class To, class From>
To BitCast(From from) {
  To to;
  static_assert(sizeof to == sizeof from);
  std::memcpy(&to, &from, sizeof to);
  return to;
}

struct bfloat16 {
  uint16_t bits;
  bfloat16() = default;
  explicit bfloat16(float f) {
    const auto u = BitCast<uint32_t>(f);
    bits = f != f ? 0x7fc0 : (u + 0x7fff + (u >> 16 & 1)) >> 16;
  }
  operator float() const { return BitCast<float>(uint32_t{bits} << 16); }
};

struct half {
  uint16_t bits;
  half() = default;
  explicit half(float f) {
    const auto u = BitCast<uint32_t>(std::fabs(f));
    uint32_t h = 0x7e00;  // not a number
    if (u < 0x38800000) {
      h = std::lrint(std::fabs(f) * 0x1p24f);  // subnormal: times 2**-24
    } else if (u < 0x477ff000) {
      h = (u + 0xfff + (u >> 13 & 1) - 0x38000000) >> 13;
    } else if (u <= 0x7f800000) {
      h = 0x7c00;  // infinite
    }
    bits = std::signbit(f) << 15 | h;
  }
  // Never by a subnormal float, which TensorFlow's threads take for 0.
  operator float() const {
    const uint32_t h = bits & 0x7fff, sign = bits & 0x8000;
    if (h < 0x400) return (sign ? -0x1p-24f : 0x1p-24f) * h;
    const uint32_t bias = h < 0x7c00 ? 0x38000000 : 0x70000000;
    return BitCast<float>(sign << 16 | ((h << 13) + bias));
  }
};

constexpr TF_DataType TypeOf(const bfloat16*) { return TF_BFLOAT16; }
constexpr TF_DataType TypeOf(const half*) { return TF_HALF; }

}  // namespace stable
