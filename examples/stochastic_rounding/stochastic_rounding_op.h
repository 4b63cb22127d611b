// The kernels of both ops. `Device` has the loop over groups of four.

#ifndef OP_BY_OP_EXAMPLES_STOCHASTIC_ROUNDING_STOCHASTIC_ROUNDING_OP_H_
#define OP_BY_OP_EXAMPLES_STOCHASTIC_ROUNDING_STOCHASTIC_ROUNDING_OP_H_

#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "stochastic_rounding.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/util/guarded_philox_random.h"
#include "tensorflow/core/util/work_sharder.h"

namespace op_by_op {

// Shares the groups among the threads.
struct Cpu {
  static constexpr int64_t kGroupCycles = 60;

  template <typename Work>
  static absl::Status Run(tensorflow::OpKernelContext* context, int64_t groups,
                          const Work& work) {
    const auto& workers = *context->device()->tensorflow_cpu_worker_threads();
    // [shard] A group takes about kGroupCycles.
    tensorflow::Shard(workers.num_threads, workers.workers, groups,
                      kGroupCycles, [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) work(i);
                      });
    return absl::OkStatus();
  }
};

// The format of a tensor's type.
template <typename T>
using FormatOf = std::conditional_t<
    std::is_same_v<T, float>, Float32,
    std::conditional_t<
        std::is_same_v<T, double>, Float64,
        std::conditional_t<std::is_same_v<T, Eigen::half>, Half, Bfloat16>>>;

// Rounds input 0 into output 0.
template <typename Device, typename T, typename Small>
absl::Status RoundAll(tensorflow::OpKernelContext* context,
                      const Philox& philox) {
  using Work = RoundFour<FormatOf<T>, FormatOf<Small>>;
  const tensorflow::Tensor& x = context->input(0);
  tensorflow::Tensor* rounded = nullptr;
  TF_RETURN_IF_ERROR(context->allocate_output(0, x.shape(), &rounded));
  const int64_t size = x.NumElements();
  if (size == 0) return absl::OkStatus();
  return Device::Run(
      context, (size + 3) / 4,
      Work{philox, static_cast<decltype(Work::x)>(x.data()),
           static_cast<decltype(Work::rounded)>(rounded->data()), size});
}

inline uint64_t Wide(uint32_t low, uint32_t high) {
  return uint64_t{high} << 32 | low;
}

// [stateful] The kernel keeps the generator, which calls at once may share.
template <typename Device, typename T, typename Small>
class StochasticRoundOp : public tensorflow::OpKernel {
 public:
  explicit StochasticRoundOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, generator_.Init(context));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const int64_t size = context->input(0).NumElements();
    const auto from = generator_.ReserveSamples32(size);
    const auto& key = from.key();
    const auto& counter = from.counter();
    const Philox philox{Wide(key[0], key[1]), Wide(counter[0], counter[1]),
                        Wide(counter[2], counter[3])};
    OP_REQUIRES_OK(context, (RoundAll<Device, T, Small>(context, philox)));
  }

 private:
  tensorflow::GuardedPhiloxRandom generator_;
};

// [seed] As TensorFlow's stateless ops turn two numbers into a key and a
// counter.
inline Philox FromSeed(uint64_t first, uint64_t second) {
  uint32_t mixed[4];
  Philox{0x02461E293EC8F720, first, second}.At(0, mixed);
  return {Wide(mixed[0], mixed[1]), 0, Wide(mixed[2], mixed[3])};
}

// Reads the seed out of its tensor.
inline absl::Status ReadSeed(const tensorflow::Tensor& seed, Philox* philox) {
  if (seed.dims() != 1 || seed.dim_size(0) != 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        "seed must have shape [2], got shape ", seed.shape().DebugString()));
  }
  const auto at = [&](int i) -> int64_t {
    return seed.dtype() == tensorflow::DT_INT32 ? seed.vec<int32_t>()(i)
                                                : seed.vec<int64_t>()(i);
  };
  *philox =
      FromSeed(static_cast<uint64_t>(at(0)), static_cast<uint64_t>(at(1)));
  return absl::OkStatus();
}

// The kernel keeps nothing.
template <typename Device, typename T, typename Small>
class StatelessStochasticRoundOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    Philox philox;
    OP_REQUIRES_OK(context, ReadSeed(context->input(1), &philox));
    OP_REQUIRES_OK(context, (RoundAll<Device, T, Small>(context, philox)));
  }
};

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_STOCHASTIC_ROUNDING_STOCHASTIC_ROUNDING_OP_H_
