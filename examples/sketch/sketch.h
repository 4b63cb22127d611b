// A sketch: how many different keys there were, in a few kilobytes.

#ifndef OP_BY_OP_EXAMPLES_SKETCH_SKETCH_H_
#define OP_BY_OP_EXAMPLES_SKETCH_SKETCH_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/numeric/bits.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/framework/variant_tensor_data.h"

namespace op_by_op {

// [class] A value that a variant can hold: copied, named, and made into bytes.
struct Sketch {
  std::string TypeName() const { return "op_by_op::Sketch"; }
  std::string DebugString() const;
  void Encode(tensorflow::VariantTensorData* data) const;
  bool Decode(const tensorflow::VariantTensorData& data);

  // uint8, [2 ** precision]; nobody changes them once the sketch is made.
  tensorflow::Tensor registers;
};

// [valid] Whether it can be the registers of a sketch: bytes, as many as a
// power of two, none too large.
inline bool AreRegisters(const tensorflow::Tensor& tensor) {
  if (tensor.dtype() != tensorflow::DT_UINT8 || tensor.dims() != 1)
    return false;
  const uint64_t size = tensor.NumElements();
  if (size < 16 || size > 65536 || !absl::has_single_bit(size)) return false;
  const int largest = 64 - absl::countr_zero(size) + 1;
  const uint8_t* first = tensor.vec<uint8_t>().data();
  return std::all_of(first, first + size,
                     [largest](uint8_t value) { return value <= largest; });
}

// [bytes] One tensor is all there is to write; what is read may be anything.
inline void Sketch::Encode(tensorflow::VariantTensorData* data) const {
  data->set_type_name(TypeName());
  *data->add_tensors() = registers;
}

inline bool Sketch::Decode(const tensorflow::VariantTensorData& data) {
  if (data.tensors_size() != 1 || !AreRegisters(data.tensors(0))) return false;
  registers = data.tensors(0);
  return true;
}

// For messages.
inline std::string Sketch::DebugString() const {
  return absl::StrCat("a sketch of ", registers.NumElements(), " registers");
}

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_SKETCH_SKETCH_H_
