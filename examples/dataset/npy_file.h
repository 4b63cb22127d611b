// A file of NumPy's .npy format, read row by row.

#ifndef OP_BY_OP_EXAMPLES_DATASET_NPY_FILE_H_
#define OP_BY_OP_EXAMPLES_DATASET_NPY_FILE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/lib/io/inputbuffer.h"
#include "tensorflow/core/platform/env.h"

namespace op_by_op {

// [file] What a header says, and the rows behind it. For one thread at a time.
class NpyFile {
 public:
  // Reads the header, and refuses a file that does not hold these rows.
  static absl::Status Open(tensorflow::Env* env, const std::string& name,
                           tensorflow::DataType dtype,
                           const tensorflow::PartialTensorShape& row_shape,
                           std::unique_ptr<NpyFile>* file);

  int64_t rows() const { return rows_; }
  const tensorflow::TensorShape& row_shape() const { return row_shape_; }

  // Copies a row into a tensor that has its dtype and shape.
  absl::Status ReadRow(int64_t row, tensorflow::Tensor* out);

 private:
  absl::Status ReadHeader(tensorflow::Env* env, tensorflow::DataType dtype);
  absl::Status ParseHeader(absl::string_view header,
                           tensorflow::DataType dtype);
  absl::Status Read(int64_t offset, int64_t size, char* out);

  std::string name_;
  std::unique_ptr<tensorflow::RandomAccessFile> file_;
  std::unique_ptr<tensorflow::io::InputBuffer> buffer_;
  int64_t size_ = 0;
  int64_t first_row_ = 0;
  int64_t rows_ = 0;
  int64_t row_bytes_ = 0;
  tensorflow::TensorShape row_shape_;
};

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_DATASET_NPY_FILE_H_
