// FileRows: some rows of a large file, read where the op runs.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/lib/io/inputbuffer.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/tstring.h"

namespace op_by_op {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::TensorShapeUtils;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

// [interface] What it returns depends on a file, hence SetIsStateful.
REGISTER_OP("FileRows")
    .Input("filename: string")
    .Input("rows: int64")
    .Attr("columns: int >= 1")
    .Output("values: float")
    .SetIsStateful()
    .SetShapeFn([](InferenceContext* context) {
      ShapeHandle filename, rows;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 0, &filename));
      TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 1, &rows));
      int64_t columns;
      TF_RETURN_IF_ERROR(context->GetAttr("columns", &columns));
      context->set_output(0, context->Matrix(context->Dim(rows, 0), columns));
      return absl::OkStatus();
    });

// It keeps the number of columns, and opens the file in each call.
class FileRowsOp : public tensorflow::OpKernel {
 public:
  explicit FileRowsOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("columns", &columns_));
    constexpr int64_t kMost = int64_t{1} << 40;
    OP_REQUIRES(context, columns_ <= kMost,
                absl::InvalidArgumentError(absl::StrCat(
                    "columns must be at most ", kMost, ", got ", columns_)));
  }

  void Compute(OpKernelContext* context) override;

 private:
  int64_t columns_;
};

// The checks: shapes, what the file system says, sizes, each row.
absl::Status CheckInputs(const Tensor& filename, const Tensor& rows) {
  if (TensorShapeUtils::IsScalar(filename.shape()) &&
      TensorShapeUtils::IsVector(rows.shape())) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "filename must be a scalar and rows a vector, got shapes ",
      filename.shape().DebugString(), " and ", rows.shape().DebugString()));
}

absl::Status OfFile(const absl::Status& status) {
  if (status.ok()) return status;
  // OutOfRange, which a cut file gives, would end the caller's data quietly.
  // A name may be any bytes, but Python takes messages as UTF-8.
  return absl::Status(
      absl::IsOutOfRange(status) ? absl::StatusCode::kDataLoss : status.code(),
      absl::StrCat("filename: ", absl::CHexEscape(status.message())));
}

absl::Status CheckRows(int64_t size, int64_t columns, const Tensor& rows) {
  const int64_t row_bytes = columns * sizeof(float);
  if (size % row_bytes != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "filename must be a file with rows of ", row_bytes,
        " bytes, as columns is ", columns, ", but it has ", size, " bytes"));
  }
  const int64_t most = std::numeric_limits<int64_t>::max() / columns;
  if (rows.NumElements() > most) {  // a tensor cannot have so many
    return absl::InvalidArgumentError(absl::StrCat(
        "rows must have at most ", most, " elements, as columns is ", columns,
        ", got ", rows.NumElements()));
  }
  const int64_t count = size / row_bytes;
  for (int64_t i = 0; i < rows.NumElements(); ++i) {
    const int64_t row = rows.vec<int64_t>()(i);
    if (row < 0 || row >= count) {
      return absl::InvalidArgumentError(
          absl::StrCat("rows must be in [0, ", count,
                       "), as the file has, got rows[", i, "] = ", row));
    }
  }
  return absl::OkStatus();
}

// Reads row by row, each in pieces of 64 KiB at most.
void FileRowsOp::Compute(OpKernelContext* context) {
  OP_REQUIRES_OK(context, CheckInputs(context->input(0), context->input(1)));
  const std::string filename(context->input(0).scalar<tensorflow::tstring>()());
  const auto rows = context->input(1).vec<int64_t>();
  const int64_t row_bytes = columns_ * sizeof(float);

  std::unique_ptr<tensorflow::RandomAccessFile> file;
  uint64_t size;
  tensorflow::Env* env = context->env();
  OP_REQUIRES_OK(context, OfFile(env->NewRandomAccessFile(filename, &file)));
  OP_REQUIRES_OK(context, OfFile(env->GetFileSize(filename, &size)));
  OP_REQUIRES_OK(context, CheckRows(size, columns_, context->input(1)));

  Tensor* values = nullptr;
  OP_REQUIRES_OK(context,
                 context->allocate_output(0, {rows.size(), columns_}, &values));
  constexpr int64_t kBuffer = 1 << 16;
  tensorflow::io::InputBuffer buffer(file.get(), std::min(row_bytes, kBuffer));
  char* out = reinterpret_cast<char*>(values->flat<float>().data());
  for (int64_t i = 0; i < rows.size(); ++i, out += row_bytes) {
    size_t read;
    OP_REQUIRES_OK(context, OfFile(buffer.Seek(rows(i) * row_bytes)));
    OP_REQUIRES_OK(context, OfFile(buffer.ReadNBytes(row_bytes, out, &read)));
  }
}

// For the CPU of whatever machine.
REGISTER_KERNEL_BUILDER(Name("FileRows").Device(tensorflow::DEVICE_CPU),
                        FileRowsOp);

}  // namespace
}  // namespace op_by_op
