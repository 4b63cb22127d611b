// KeepRows: the same rows of several tensors of different types.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace op_by_op {
namespace {

using ::tensorflow::shape_inference::DimensionHandle;
using ::tensorflow::shape_inference::InferenceContext;
using ::tensorflow::shape_inference::ShapeHandle;

// [interface] T is a list of types: as many tensors, each of its own type.
REGISTER_OP("KeepRows")
    .Attr("T: list({realnumbertype, complex64, complex128, bool, string}) >= 1")
    .Input("tensors: T")
    .Input("keep: bool")
    .Output("kept: T")
    .Output("rows: int64")
    // How many rows stay depends on the values in keep.
    .SetShapeFn([](InferenceContext* context) {
      const int count = context->num_inputs() - 1;
      ShapeHandle keep;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(count), 1, &keep));
      DimensionHandle rows = context->Dim(keep, 0);
      const DimensionHandle kept = context->UnknownDim();
      for (int n = 0; n < count; ++n) {
        ShapeHandle shape;
        TF_RETURN_IF_ERROR(
            context->WithRankAtLeast(context->input(n), 1, &shape));
        if (context->RankKnown(shape)) {
          TF_RETURN_IF_ERROR(
              context->Merge(rows, context->Dim(shape, 0), &rows));
          TF_RETURN_IF_ERROR(context->ReplaceDim(shape, 0, kept, &shape));
        }
        context->set_output(n, shape);
      }
      context->set_output(count, context->Vector(kept));
      return absl::OkStatus();
    })
    // For the docstring in Python.
    .Doc(R"doc(
Keeps the rows that a vector of bools names, the same ones of each tensor.

tensors: Tensors of any types, of rank 1 or more, with as many rows each.
keep: For each row, whether it stays.
kept: The tensors without the other rows.
rows: The indices of the rows that stay.
)doc");

// [dispatch] The type of a tensor is a value now: a switch makes it a type.
template <typename T>
void CopyRows(const tensorflow::Tensor& from, const std::vector<int64_t>& rows,
              tensorflow::Tensor* to) {
  if (to->NumElements() == 0) return;
  const int64_t size = from.NumElements() / from.dim_size(0);
  const T* in = from.flat<T>().data();
  T* out = to->flat<T>().data();
  for (const int64_t row : rows) {
    out = std::copy_n(in + row * size, size, out);
  }
}

absl::Status CopyRowsOfAnyType(const tensorflow::Tensor& from,
                               const std::vector<int64_t>& rows,
                               tensorflow::Tensor* to) {
  switch (from.dtype()) {
#define OP_BY_OP_CASE(T)                     \
  case tensorflow::DataTypeToEnum<T>::value: \
    CopyRows<T>(from, rows, to);             \
    return absl::OkStatus();
    TF_CALL_POD_STRING_TYPES(OP_BY_OP_CASE)
#undef OP_BY_OP_CASE
    default:
      return absl::UnimplementedError(absl::StrCat(
          "cannot copy ", tensorflow::DataTypeString(from.dtype())));
  }
}

// One kernel for all combinations of types.
class KeepRowsOp : public tensorflow::OpKernel {
 public:
  using OpKernel::OpKernel;

  void Compute(tensorflow::OpKernelContext* context) override {
    // [inputs] A list and a tensor, by their names in the interface.
    tensorflow::OpInputList tensors;
    OP_REQUIRES_OK(context, context->input_list("tensors", &tensors));
    const tensorflow::Tensor* keep = nullptr;
    OP_REQUIRES_OK(context, context->input("keep", &keep));
    // []
    OP_REQUIRES(context, keep->dims() == 1,
                absl::InvalidArgumentError(
                    absl::StrCat("keep has shape ", keep->shape().DebugString(),
                                 ", expected a vector")));
    const auto stays = keep->vec<bool>();
    std::vector<int64_t> rows;
    for (int64_t row = 0; row < stays.size(); ++row) {
      if (stays(row)) rows.push_back(row);
    }

    // [outputs] One output for each tensor, of the same type.
    tensorflow::OpOutputList kept;
    OP_REQUIRES_OK(context, context->output_list("kept", &kept));
    for (int n = 0; n < tensors.size(); ++n) {
      tensorflow::TensorShape shape = tensors[n].shape();
      OP_REQUIRES(context,
                  shape.dims() >= 1 && shape.dim_size(0) == keep->dim_size(0),
                  absl::InvalidArgumentError(absl::StrCat(
                      "tensors[", n, "] has shape ", shape.DebugString(),
                      ", expected ", keep->dim_size(0), " rows as keep")));
      OP_REQUIRES_OK(context, shape.SetDimWithStatus(0, rows.size()));
      tensorflow::Tensor* output = nullptr;
      OP_REQUIRES_OK(context, kept.allocate(n, shape, &output));
      OP_REQUIRES_OK(context, CopyRowsOfAnyType(tensors[n], rows, output));
    }

    // The other output: which rows stay.
    tensorflow::Tensor* indices = nullptr;
    const int64_t count = rows.size();
    OP_REQUIRES_OK(context,
                   context->allocate_output("rows", {count}, &indices));
    std::copy(rows.begin(), rows.end(), indices->flat<int64_t>().data());
  }
};

// [register] No constraint: the kernel takes what the interface lets in.
REGISTER_KERNEL_BUILDER(Name("KeepRows").Device(tensorflow::DEVICE_CPU),
                        KeepRowsOp);

}  // namespace
}  // namespace op_by_op
