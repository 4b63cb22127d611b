// LogfmtDataset: chosen fields of each line of a log, as a dataset of tf.data.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "file_error.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/dataset.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/partial_tensor_shape.h"
#include "tensorflow/core/lib/io/buffered_inputstream.h"
#include "tensorflow/core/platform/env.h"

namespace op_by_op {
namespace {

using ::tensorflow::DataTypeVector;
using ::tensorflow::OpKernelConstruction;
using ::tensorflow::OpKernelContext;
using ::tensorflow::PartialTensorShape;
using ::tensorflow::Tensor;
using ::tensorflow::tstring;
using ::tensorflow::data::DatasetBase;
using ::tensorflow::data::DatasetContext;
using ::tensorflow::data::DatasetIterator;
using ::tensorflow::data::IteratorBase;
using ::tensorflow::data::IteratorContext;
using ::tensorflow::data::IteratorStateReader;
using ::tensorflow::data::IteratorStateWriter;
using ::tensorflow::data::SerializationContext;

constexpr size_t kBuffer = 256 << 10;

// [fields] Two inputs, and an attr of our own.
REGISTER_OP("LogfmtDataset")
    .Input("filename: string")
    .Input("keys: string")
    .Output("dataset: variant")
    .Attr("missing: string = ''")
    .Attr("output_types: list({string}) >= 1")
    .Attr("output_shapes: list(shape) >= 1")
    .SetIsStateful()
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      tensorflow::shape_inference::ShapeHandle unused;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 0, &unused));
      TF_RETURN_IF_ERROR(context->WithRank(context->input(1), 1, &unused));
      return tensorflow::shape_inference::ScalarShape(context);
    })
    .Doc(R"doc(
The values of some keys in each line of the form `key=value`, without quotes.

filename: The path of the file, a scalar.
keys: Whose values are wanted, a vector.
dataset: Each element is a vector of strings: the values in the order of `keys`.
missing: Stands for the value of a key that a line does not have.
output_types: string, alone in the list.
output_shapes: The shape of `keys`, alone in the list.
)doc");

class LogfmtDataset : public DatasetBase {
 public:
  LogfmtDataset(OpKernelContext* context, std::string filename,
                std::vector<tstring> keys, tstring missing)
      : DatasetBase(DatasetContext(context)),
        filename_(std::move(filename)),
        keys_(std::move(keys)),
        missing_(std::move(missing)),
        shapes_{PartialTensorShape({static_cast<int64_t>(keys_.size())})} {}

  std::unique_ptr<IteratorBase> MakeIteratorInternal(
      const std::string& prefix) const override {
    return std::make_unique<Iterator>(
        Iterator::Params{this, absl::StrCat(prefix, "::Logfmt")});
  }

  const DataTypeVector& output_dtypes() const override { return dtypes_; }
  const std::vector<PartialTensorShape>& output_shapes() const override {
    return shapes_;
  }
  std::string DebugString() const override { return "LogfmtDataset"; }
  absl::Status InputDatasets(
      std::vector<const DatasetBase*>* /*inputs*/) const override {
    return absl::OkStatus();
  }
  absl::Status CheckExternalState() const override { return absl::OkStatus(); }

 protected:
  // [node] The inputs in their order, and the attrs of our own.
  absl::Status AsGraphDefInternal(SerializationContext* /*context*/,
                                  DatasetGraphDefBuilder* builder,
                                  tensorflow::Node** node) const override {
    tensorflow::Node *filename = nullptr, *keys = nullptr;
    TF_RETURN_IF_ERROR(builder->AddScalar(tstring(filename_), &filename));
    TF_RETURN_IF_ERROR(builder->AddVector(keys_, &keys));
    return builder->AddDataset(
        this, {filename, keys},
        {{"missing", builder->BuildAttrValue(std::string(missing_))}}, node);
  }

 private:
  // [lines] One pass over the lines.
  class Iterator : public DatasetIterator<LogfmtDataset> {
   public:
    using DatasetIterator<LogfmtDataset>::DatasetIterator;

    absl::Status Initialize(IteratorContext* context) override {
      const std::lock_guard<std::mutex> lock(mutex_);
      TF_RETURN_IF_ERROR(OfFile(
          dataset()->filename_,
          context->env()->NewRandomAccessFile(dataset()->filename_, &file_)));
      input_ = std::make_unique<tensorflow::io::BufferedInputStream>(
          file_.get(), kBuffer);
      return absl::OkStatus();
    }

    absl::Status GetNextInternal(IteratorContext* context,
                                 std::vector<Tensor>* out,
                                 bool* end_of_sequence) override {
      const std::lock_guard<std::mutex> lock(mutex_);
      tstring line;
      const absl::Status status = input_->ReadLine(&line);
      *end_of_sequence = failed_ || absl::IsOutOfRange(status);
      if (*end_of_sequence) return absl::OkStatus();
      failed_ = !status.ok();  // what cannot be read fails once, and then ends
      TF_RETURN_IF_ERROR(OfFile(dataset()->filename_, status));
      ++line_;  // before anything can fail: the next call reads the next line
      const std::vector<tstring>& keys = dataset()->keys_;
      Tensor element(context->allocator({}), tensorflow::DT_STRING,
                     {static_cast<int64_t>(keys.size())});
      auto values = element.vec<tstring>();
      values.setConstant(dataset()->missing_);
      for (absl::string_view word :
           absl::StrSplit(absl::string_view(line), ' ', absl::SkipEmpty())) {
        const size_t equals = word.find('=');
        if (equals == absl::string_view::npos || absl::StrContains(word, '"')) {
          return OfFile(dataset()->filename_,
                        absl::InvalidArgumentError(absl::StrCat(
                            "line ", line_,
                            ": unquoted key=value was expected, got ", word)));
        }
        for (size_t i = 0; i < keys.size(); ++i) {
          if (word.substr(0, equals) == absl::string_view(keys[i])) {
            values(i) = word.substr(equals + 1);
          }
        }
      }
      out->push_back(std::move(element));
      return absl::OkStatus();
    }

   protected:
    // [place] Two numbers. Initialize has run when RestoreInternal is called.
    absl::Status SaveInternal(SerializationContext* /*context*/,
                              IteratorStateWriter* writer) override {
      const std::lock_guard<std::mutex> lock(mutex_);
      TF_RETURN_IF_ERROR(writer->WriteScalar(prefix(), "line", line_));
      return writer->WriteScalar(prefix(), "offset", input_->Tell());
    }

    absl::Status RestoreInternal(IteratorContext* /*context*/,
                                 IteratorStateReader* reader) override {
      const std::lock_guard<std::mutex> lock(mutex_);
      int64_t offset;
      TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), "line", &line_));
      TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), "offset", &offset));
      return input_->Seek(offset);
    }

   private:
    std::mutex mutex_;
    std::unique_ptr<tensorflow::RandomAccessFile> file_ ABSL_GUARDED_BY(mutex_);
    std::unique_ptr<tensorflow::io::BufferedInputStream> input_
        ABSL_GUARDED_BY(mutex_);
    int64_t line_ ABSL_GUARDED_BY(mutex_) = 0;
    bool failed_ ABSL_GUARDED_BY(mutex_) = false;
  };

  const std::string filename_;
  const std::vector<tstring> keys_;
  const tstring missing_;
  const DataTypeVector dtypes_{tensorflow::DT_STRING};
  const std::vector<PartialTensorShape> shapes_;
};

class LogfmtDatasetOp : public tensorflow::data::DatasetOpKernel {
 public:
  explicit LogfmtDatasetOp(OpKernelConstruction* context)
      : DatasetOpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("missing", &missing_));
    OP_REQUIRES_OK(context, context->GetAttr("output_types", &dtypes_));
    OP_REQUIRES_OK(context, context->GetAttr("output_shapes", &shapes_));
  }

  void MakeDataset(OpKernelContext* context, DatasetBase** output) override {
    tstring filename;
    OP_REQUIRES_OK(context, tensorflow::data::ParseScalarArgument<tstring>(
                                context, "filename", &filename));
    std::vector<tstring> keys;
    OP_REQUIRES_OK(context, tensorflow::data::ParseVectorArgument<tstring>(
                                context, "keys", &keys));
    const PartialTensorShape row({static_cast<int64_t>(keys.size())});
    OP_REQUIRES(context,
                dtypes_.size() == 1 && shapes_.size() == 1 &&
                    shapes_[0].IsCompatibleWith(row),
                absl::InvalidArgumentError(absl::StrCat(
                    "output_types and output_shapes must have one entry each, "
                    "for vectors of ",
                    keys.size(), " strings")));
    OP_REQUIRES_OK(context,
                   OfFile(filename, context->env()->FileExists(filename)));
    *output = new LogfmtDataset(context, filename, std::move(keys), missing_);
  }

 private:
  tstring missing_;
  DataTypeVector dtypes_;
  std::vector<PartialTensorShape> shapes_;
};

REGISTER_KERNEL_BUILDER(Name("LogfmtDataset").Device(tensorflow::DEVICE_CPU),
                        LogfmtDatasetOp);

}  // namespace
}  // namespace op_by_op
