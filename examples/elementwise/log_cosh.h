// The functor of LogCosh, for one element or a packet of them.

#ifndef OP_BY_OP_EXAMPLES_ELEMENTWISE_LOG_COSH_H_
#define OP_BY_OP_EXAMPLES_ELEMENTWISE_LOG_COSH_H_

#include <cstdint>

#include "Eigen/Core"

namespace op_by_op {

// [functor] Of one element, or of a packet of them.
template <typename T>
struct LogCosh {
  T operator()(const T& x) const { return packetOp(x); }

  template <typename Packet>
  Packet packetOp(const Packet& x) const {
    using namespace Eigen::internal;  // pabs, pexp, …
    const Packet one = pset1<Packet>(T(1)), two = pset1<Packet>(T(2));
    const Packet size = pabs(x);
    const Packet near = pcmp_lt(size, one);

    // Near 0, cosh(x) = 1 + v with v = 2 sinh(x / 2)^2.
    const Packet half = pmul(size, pset1<Packet>(T(0.5)));
    const Packet sinh = pmul(half, Series<6, 3>(pmul(half, half), kSinh));
    const Packet square = pmul(sinh, sinh);

    // Elsewhere, log(cosh(x)) = |x| - log(2) + log(1 + v), v = exp(-2 |x|).
    const Packet small = pexp(pnegate(pmul(size, two)));
    const Packet line = psub(size, pset1<Packet>(T(0.69314718055994531)));

    // log(1 + v) = 2 atanh(s) with s = v / (2 + v); near 0, v = 2 square.
    const Packet s = pdiv(pselect(near, square, small),
                          pselect(near, padd(square, one), padd(small, two)));
    return padd(pmul(s, Series<12, 5>(pmul(s, s), kAtanh)),
                pselect(near, pzero(x), line));
  }

 private:
  // Of sinh(x) / x and 2 atanh(x) / x in x^2, the last term first.
  static constexpr T kSinh[] = {T(1. / 6227020800),
                                T(1. / 39916800),
                                T(1. / 362880),
                                T(1. / 5040),
                                T(1. / 120),
                                T(1. / 6),
                                T(1)};
  static constexpr T kAtanh[] = {T(2. / 25), T(2. / 23), T(2. / 21), T(2. / 19),
                                 T(2. / 17), T(2. / 15), T(2. / 13), T(2. / 11),
                                 T(2. / 9),  T(2. / 7),  T(2. / 5),  T(2. / 3),
                                 T(2)};

  // To a power of x that is high enough for double, or for float.
  template <int kDouble, int kFloat, typename Packet>
  static Packet Series(const Packet& x, const T* terms) {
    constexpr int kPower = sizeof(T) == 8 ? kDouble : kFloat;
    return Eigen::internal::ppolevl<Packet, kPower>::run(
        x, terms + kDouble - kPower);
  }
};

}  // namespace op_by_op

// [traits] What Eigen asks before it calls packetOp, and to share out work.
template <typename T>
struct Eigen::internal::functor_traits<op_by_op::LogCosh<T>> {
  enum {
    PacketAccess = packet_traits<T>::HasExp && packet_traits<T>::HasDiv,
    Cost = functor_traits<scalar_exp_op<T>>::Cost + 40 * NumTraits<T>::MulCost
  };
};

namespace op_by_op {

// [packets] Packet after packet; the last one is filled up with zeros.
template <typename Functor>
void ForPackets(const float* x, float* y, int64_t size) {
  using namespace Eigen::internal;
  using Packet = packet_traits<float>::type;
  constexpr int64_t kSize = packet_traits<float>::size;
  const Functor functor;
  int64_t i = 0;
  for (; i + kSize <= size; i += kSize) {
    pstoreu(y + i, functor.packetOp(ploadu<Packet>(x + i)));
  }
  if (i == size) return;
  float rest[kSize] = {};
  for (int64_t k = 0; i + k < size; ++k) rest[k] = x[i + k];
  pstoreu(rest, functor.packetOp(ploadu<Packet>(rest)));
  for (int64_t k = 0; i + k < size; ++k) y[i + k] = rest[k];
}

// y = log(cosh(x)) of `size` numbers, with the instructions for which its file
// was compiled.
void LogCoshOfFloats(const float* x, float* y, int64_t size);

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_ELEMENTWISE_LOG_COSH_H_
