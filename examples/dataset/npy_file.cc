// The format:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html

#include "npy_file.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "file_error.h"
#include "tensorflow/core/public/version.h"
#include "tensorflow/core/util/overflow.h"

namespace op_by_op {
namespace {

using ::tensorflow::DataType;
using ::tensorflow::Tensor;

constexpr int64_t kBuffer = 256 << 10;
constexpr int64_t kLongestHeader =
    10'000;  // NumPy's limit, too, unless told otherwise

// TensorFlow 2.20 added the overload with a span, and deprecated the other.
// TensorFlow 2.21's headers do not define the macros of its version.
absl::Status ReadDirectly(const tensorflow::RandomAccessFile& file,
                          int64_t offset, int64_t size, char* out,
                          absl::string_view* data) {
#if defined(TF_MINOR_VERSION) && TF_MINOR_VERSION < 20
  return file.Read(offset, size, data, out);
#else
  return file.Read(offset, *data, absl::MakeSpan(out, size));
#endif
}

// As NumPy writes a dtype: "<f4" is a little-endian float of 4 bytes.
std::string Description(DataType dtype) {
  const int size = tensorflow::DataTypeSize(dtype);
  const char* kind = tensorflow::DataTypeIsFloating(dtype)   ? "f"
                     : tensorflow::DataTypeIsComplex(dtype)  ? "c"
                     : tensorflow::DataTypeIsUnsigned(dtype) ? "u"
                                                             : "i";
  return absl::StrCat(size == 1 ? "|" : "<", kind, size);
}

// "3, 4" or "3,": the sizes of a shape.
bool ParseSizes(absl::string_view text, std::vector<int64_t>* sizes) {
  for (absl::string_view size : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    sizes->push_back(0);
    if (!absl::SimpleAtoi(size, &sizes->back()) || sizes->back() < 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

// Whatever is wrong, the error begins with the file's name.
absl::Status NpyFile::Open(tensorflow::Env* env, const std::string& name,
                           DataType dtype,
                           const tensorflow::PartialTensorShape& row_shape,
                           std::unique_ptr<NpyFile>* file) {
  auto opened = std::make_unique<NpyFile>();
  opened->name_ = name;
  absl::Status status = opened->ReadHeader(env, dtype);
  if (status.ok() && !row_shape.IsCompatibleWith(opened->row_shape_)) {
    status = absl::InvalidArgumentError(
        absl::StrCat("rows of shape ", row_shape.DebugString(),
                     " were expected, got ", opened->row_shape_.DebugString()));
  }
  if (!status.ok()) return OfFile(name, status);
  *file = std::move(opened);
  return absl::OkStatus();
}

// Six bytes, the version, the length of the text, and the text.
absl::Status NpyFile::ReadHeader(tensorflow::Env* env, DataType dtype) {
  uint64_t size = 0;
  TF_RETURN_IF_ERROR(env->GetFileSize(name_, &size));
  TF_RETURN_IF_ERROR(env->NewRandomAccessFile(name_, &file_));
  buffer_ = std::make_unique<tensorflow::io::InputBuffer>(file_.get(), kBuffer);
  size_ = size;
  char bytes[12] = {};
  const absl::string_view magic("\x93NUMPY", 6);
  if (!Read(0, 12, bytes).ok() ||
      !absl::StartsWith(absl::string_view(bytes, 12), magic)) {
    return absl::InvalidArgumentError(
        "a file of NumPy's .npy format was expected, which begins with "
        "\\x93NUMPY");
  }
  const auto byte = [&bytes](int i) -> int64_t {
    return static_cast<unsigned char>(bytes[i]);
  };
  if (byte(6) < 1 || byte(6) > 3 || byte(7) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("version 1.0, 2.0 or 3.0 of the format was expected, got ",
                     byte(6), ".", byte(7)));
  }
  int64_t length = byte(8) | byte(9) << 8;
  first_row_ = 10;
  if (byte(6) > 1) {  // later versions have room for longer texts
    length |= byte(10) << 16 | byte(11) << 24;
    first_row_ = 12;
  }
  if (length > size_ - first_row_) {
    return absl::DataLossError(
        absl::StrCat("a header of ", length,
                     " bytes was expected, but the file has ", size_));
  }
  if (length > kLongestHeader) {
    return absl::InvalidArgumentError(
        absl::StrCat("a header of at most ", kLongestHeader,
                     " bytes was expected, got ", length));
  }
  std::string header(length, ' ');
  TF_RETURN_IF_ERROR(Read(first_row_, length, header.data()));
  first_row_ += length;
  return ParseHeader(header, dtype);
}

// The text is a dict of Python's, in the order in which NumPy writes it. The
// format allows others, which are refused.
absl::Status NpyFile::ParseHeader(absl::string_view header, DataType dtype) {
  const auto refused = [header](absl::string_view expected) {
    return absl::InvalidArgumentError(
        absl::StrCat(expected, " expected in the header ",
                     absl::StripAsciiWhitespace(header)));
  };
  const std::string start =
      absl::StrCat("{'descr': '", Description(dtype), "', ");
  absl::string_view rest = header;
  if (!absl::ConsumePrefix(&rest, start)) {
    return refused(absl::StrCat(start, "was"));
  }
  if (!absl::ConsumePrefix(&rest, "'fortran_order': False, ")) {
    return refused("rows one after the other, 'fortran_order': False, were");
  }
  std::vector<int64_t> sizes;
  if (!absl::ConsumePrefix(&rest, "'shape': (") ||
      !absl::StrContains(rest, ')') ||
      !ParseSizes(rest.substr(0, rest.find(')')), &sizes) || sizes.empty()) {
    return refused("'shape': with the number of rows first was");
  }
  rows_ = sizes[0];
  TF_RETURN_IF_ERROR(tensorflow::TensorShape::BuildTensorShape(
      absl::MakeSpan(sizes).subspan(1), &row_shape_));
  row_bytes_ = tensorflow::MultiplyWithoutOverflow(
      row_shape_.num_elements(), tensorflow::DataTypeSize(dtype));
  if (row_bytes_ == 0) return absl::OkStatus();
  const int64_t held = row_bytes_ < 0 ? 0 : (size_ - first_row_) / row_bytes_;
  if (held >= rows_) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      "the header promises ", rows_, " rows of shape ",
      row_shape_.DebugString(), ", but the file ends after ", held));
}

// A small row comes out of a buffer that reads ahead. A large one is read
// straight into the tensor.
absl::Status NpyFile::ReadRow(int64_t row, Tensor* out) {
  return OfFile(name_, Read(first_row_ + row * row_bytes_, row_bytes_,
                            static_cast<char*>(out->data())));
}

absl::Status NpyFile::Read(int64_t offset, int64_t size, char* out) {
  absl::Status status;
  size_t got = 0;
  if (size < kBuffer) {
    TF_RETURN_IF_ERROR(buffer_->Seek(offset));
    status = buffer_->ReadNBytes(size, out, &got);
  } else {
    absl::string_view data;
    status = ReadDirectly(*file_, offset, size, out, &data);
    got = data.size();
    if (data.data() != out) std::copy(data.begin(), data.end(), out);
  }
  // An iterator must not return OutOfRange.
  if (!absl::IsOutOfRange(status)) return status;
  return absl::DataLossError(
      absl::StrCat(size, " bytes were expected at ", offset, ", got ", got,
                   ": the file has been cut since it was opened"));
}

}  // namespace op_by_op
