// IdxReader: a reader of IDX files, the format of MNIST's images.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/reader_base.h"
#include "tensorflow/core/framework/reader_base.pb.h"
#include "tensorflow/core/framework/reader_op_kernel.h"
#include "tensorflow/core/lib/io/inputbuffer.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/util/overflow.h"

namespace op_by_op {
namespace {

using ::tensorflow::ReaderBase;
using ::tensorflow::ReaderBaseState;
using ::tensorflow::tstring;

// [interface] A reader is a resource. Other ops ask it for what it reads.
REGISTER_OP("IdxReader")
    .Output("reader_handle: resource")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(tensorflow::shape_inference::ScalarShape)
    .Doc(R"doc(
Makes a reader of IDX files, the format of MNIST: its records are the items.

reader_handle: For ops such as ReaderReadV2. A key is the name of a file, a
  colon, and the number of the item. A value is the bytes of an item, of which
  the first one of each number is the most significant.
container: The group of resources that the reader belongs to; empty: the
  default group.
shared_name: Readers of one name are one; empty: the name of the node.
)doc");

// Reads one file after the other. The base class holds a lock during
// each call, so no other thread is here.
class IdxReader : public ReaderBase {
 public:
  IdxReader(const std::string& name, tensorflow::Env* env)
      : ReaderBase(name), env_(env) {}

  // [start] The name of the file is current_work().
  absl::Status OnWorkStartedLocked() override {
    item_ = 0;
    return Named(Open());
  }

  // [read] One item, or the message that this file has no more.
  absl::Status ReadLocked(tstring* key, tstring* value, bool* produced,
                          bool* at_end) override {
    *at_end = item_ == items_;
    if (*at_end) return absl::OkStatus();
    value->resize_uninitialized(item_bytes_);
    size_t got;
    absl::Status status =
        buffer_->ReadNBytes(item_bytes_, value->mdata(), &got);
    if (absl::IsOutOfRange(status)) {  // would mean: no more files
      status = absl::DataLossError(
          absl::StrCat("has been cut since it was opened, in item ", item_));
    }
    TF_RETURN_IF_ERROR(Named(status));
    *key = KeyName(absl::StrCat(item_));
    ++item_;
    *produced = true;
    return absl::OkStatus();
  }

  // [finish] Closes the file.
  absl::Status OnWorkFinishedLocked() override {
    buffer_.reset();
    file_.reset();
    return absl::OkStatus();
  }

  absl::Status ResetLocked() override {
    TF_RETURN_IF_ERROR(OnWorkFinishedLocked());
    return ReaderBase::ResetLocked();
  }

  // [save] What the base class remembers, and which item is next.
  absl::Status SerializeStateLocked(tstring* state) override {
    ReaderBaseState base;
    SaveBaseState(&base);
    *state = absl::StrCat(item_, ":", base.SerializeAsString());
    return absl::OkStatus();
  }

  // [restore] Goes on at that item.
  absl::Status RestoreStateLocked(const tstring& state) override {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(absl::string_view(state), absl::MaxSplits(':', 1));
    ReaderBaseState base;
    int64_t item;
    if (!absl::SimpleAtoi(parts.first, &item) ||
        !base.ParseFromString(parts.second) || base.work_finished() < 0 ||
        base.work_started() < base.work_finished() ||
        base.work_started() - base.work_finished() > 1 ||
        base.num_records_produced() < 0) {
      return absl::InvalidArgumentError(
          "state was not written by an IdxReader");
    }
    TF_RETURN_IF_ERROR(OnWorkFinishedLocked());
    absl::Status restored = RestoreBaseState(base);
    if (!work_in_progress()) return restored;
    // In the middle of a file, `restored` is an error, but all members are set.
    TF_RETURN_IF_ERROR(Named(Open()));
    if (item < 0 || item > items_) {
      return Named(absl::FailedPreconditionError(
          absl::StrCat("cannot go on at item ", item, " of ", items_)));
    }
    item_ = item;
    return buffer_->Seek(buffer_->Tell() + item * item_bytes_);
  }

 private:
  // Two zeros, a type, the number of dimensions, and the size of each
  // of them, in four bytes with the most significant first.
  absl::Status Open() {
    const std::string name(current_work());
    uint64_t size = 0;
    TF_RETURN_IF_ERROR(env_->GetFileSize(name, &size));
    TF_RETURN_IF_ERROR(env_->NewRandomAccessFile(name, &file_));
    buffer_ =
        std::make_unique<tensorflow::io::InputBuffer>(file_.get(), 1 << 18);
    std::string start;
    absl::Status status = buffer_->ReadNBytes(4, &start);
    if (!status.ok() && !absl::IsOutOfRange(status)) return status;
    if (absl::StartsWith(start, "\x1f\x8b")) {
      return absl::InvalidArgumentError(
          "is compressed by gzip, unpack it first");
    }
    static constexpr int kBytes[] = {1, 1, 0, 2, 4, 4, 8};  // of types 8 to 14
    const int type = status.ok() ? start[2] - 8 : -1;
    const int rank = status.ok() ? start[3] : 0;
    if (!absl::StartsWith(start, absl::string_view("\0", 2)) || type < 0 ||
        type > 6 || kBytes[type] == 0 || rank < 1 || rank > 127) {
      return absl::InvalidArgumentError(absl::StrCat(
          "an IDX file was expected, which begins with two zeros, a type from "
          "8 to 14 and a number of dimensions, got \"",
          absl::CHexEscape(start), "\""));
    }
    items_ = 0;
    item_bytes_ = kBytes[type];
    for (int i = 0; i < rank; ++i) {
      std::string bytes;
      status = buffer_->ReadNBytes(4, &bytes);
      if (absl::IsOutOfRange(status)) {
        return absl::DataLossError("ends in its header");
      }
      TF_RETURN_IF_ERROR(status);
      int64_t dimension = 0;
      for (char byte : bytes) {
        dimension = dimension << 8 | static_cast<unsigned char>(byte);
      }
      if (i == 0) {
        items_ = dimension;
      } else {
        item_bytes_ =
            tensorflow::MultiplyWithoutOverflow(item_bytes_, dimension);
      }
      if (item_bytes_ <= 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("size ", i, " in its header is ", dimension));
      }
    }
    // [length] A file that has been cut must not look like one that has ended.
    const int64_t held = size - 4 - uint64_t{4} * rank;
    if (held == tensorflow::MultiplyWithoutOverflow(items_, item_bytes_)) {
      return absl::OkStatus();
    }
    return absl::DataLossError(
        absl::StrCat("its header promises ", items_, " items of ", item_bytes_,
                     " bytes, but ", held, " bytes follow"));
  }

  // Whatever is wrong, the error names the file.
  absl::Status Named(const absl::Status& status) const {
    if (status.ok()) return status;
    const std::string message = absl::StrCat(
        "filename ", absl::string_view(current_work()), ": ", status.message());
    // A name may be any bytes, but Python takes messages as UTF-8.
    const bool plain = absl::c_all_of(message, absl::ascii_isascii);
    return absl::Status(status.code(),
                        plain ? message : absl::CHexEscape(message));
  }

  // Of the file that is being read.
  tensorflow::Env* const env_;
  std::unique_ptr<tensorflow::RandomAccessFile> file_;
  std::unique_ptr<tensorflow::io::InputBuffer> buffer_;
  int64_t items_ = 0;
  int64_t item_bytes_ = 0;
  int64_t item_ = 0;  // the next one
};

// [kernel] Makes a reader when the op runs and there is none of its name.
class IdxReaderOp : public tensorflow::ReaderOpKernel {
 public:
  using ReaderOpKernel::ReaderOpKernel;

 private:
  absl::Status CreateResource(tensorflow::ReaderInterface** reader) override {
    *reader = new IdxReader(absl::StrCat("IdxReader ", name()),
                            tensorflow::Env::Default());
    return absl::OkStatus();
  }
};

REGISTER_KERNEL_BUILDER(Name("IdxReader").Device(tensorflow::DEVICE_CPU),
                        IdxReaderOp);

}  // namespace
}  // namespace op_by_op
