// PacketSizes: how many elements Eigen computes at once, by functor and type.

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/kernels/cwise_ops.h"

namespace op_by_op {
namespace {

namespace functor = tensorflow::functor;

REGISTER_OP("PacketSizes")
    .Output("names: string")
    .Output("sizes: int32")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      context->set_output(0, context->Vector(context->UnknownDim()));
      context->set_output(1, context->Matrix(context->UnknownDim(), 5));
      return absl::OkStatus();
    })
    .Doc("For float, double, bfloat16, int32 and uint8: sizes of packets.");

template <typename Functor, typename T>
int32_t Size() {
  using Traits = Eigen::internal::packet_traits<T>;
  const bool packets =
      Eigen::internal::functor_traits<typename Functor::func>::PacketAccess;
  return packets && Traits::Vectorizable ? Traits::size : 1;
}

struct Row {
  std::string name;
  std::vector<int32_t> sizes;
};

template <template <typename> class F, template <typename> class G = F>
Row RowOf(const std::string& name) {
  return {name,
          {Size<F<float>, float>(), Size<F<double>, double>(),
           Size<F<Eigen::bfloat16>, Eigen::bfloat16>(),
           Size<G<int32_t>, int32_t>(), Size<G<uint8_t>, uint8_t>()}};
}

class PacketSizesOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    const std::vector<Row> rows = {
        RowOf<functor::add>("add"),
        RowOf<functor::sub>("sub"),
        RowOf<functor::mul>("mul"),
        RowOf<functor::div, functor::safe_div>("div"),
        RowOf<functor::floor_fmod, functor::safe_floor_mod>("mod"),
        RowOf<functor::abs>("abs"),
        RowOf<functor::sqrt>("sqrt"),
        RowOf<functor::exp>("exp"),
        RowOf<functor::sin>("sin"),
        RowOf<functor::tanh>("tanh"),
        RowOf<functor::lgamma>("lgamma"),
        RowOf<functor::conj>("conj"),
    };
    tensorflow::Tensor* names = nullptr;
    tensorflow::Tensor* sizes = nullptr;
    const int64_t count = rows.size();
    OP_REQUIRES_OK(context, context->allocate_output(0, {count}, &names));
    OP_REQUIRES_OK(context, context->allocate_output(1, {count, 5}, &sizes));
    for (int64_t i = 0; i < count; ++i) {
      names->vec<tensorflow::tstring>()(i) = rows[i].name;
      for (int64_t j = 0; j < 5; ++j) {
        sizes->matrix<int32_t>()(i, j) = rows[i].sizes[j];
      }
    }
  }
};

REGISTER_KERNEL_BUILDER(Name("PacketSizes").Device(tensorflow::DEVICE_CPU),
                        PacketSizesOp);

}  // namespace
}  // namespace op_by_op
