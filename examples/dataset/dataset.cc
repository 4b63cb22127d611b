// NpyDataset: the rows of a .npy file as a dataset of tf.data.

#include "tensorflow/core/framework/dataset.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "file_error.h"
#include "npy_file.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/partial_tensor_shape.h"

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

constexpr size_t kKept = 8;

// [interface] A dataset is a scalar of dtype variant. Two attrs say what its
// elements are.
REGISTER_OP("NpyDataset")
    .Input("filename: string")
    .Output("dataset: variant")
    .Attr(
        "output_types: list({half, float, double, int8, int16, int32, int64, "
        "uint8, uint16, uint32, uint64, complex64, complex128}) >= 1")
    .Attr("output_shapes: list(shape) >= 1")
    .SetIsStateful()  // the file may change: no constant
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* context) {
      tensorflow::shape_inference::ShapeHandle unused;
      TF_RETURN_IF_ERROR(context->WithRank(context->input(0), 0, &unused));
      return tensorflow::shape_inference::ScalarShape(context);
    })
    .Doc(R"doc(
The rows of a file of NumPy's .npy format, one after the other.

filename: The path of the file, a scalar.
dataset: Its elements are the rows.
output_types: The dtype of the rows, alone in the list.
output_shapes: The shape of each row, alone in the list; sizes may be unknown.
)doc");

// [dataset] What to read: nothing here changes once it is made.
class NpyDataset : public DatasetBase {
 public:
  NpyDataset(OpKernelContext* context, std::string filename,
             DataTypeVector dtypes, std::vector<PartialTensorShape> shapes,
             int64_t rows)
      : DatasetBase(DatasetContext(context)),
        filename_(std::move(filename)),
        dtypes_(std::move(dtypes)),
        shapes_(std::move(shapes)),
        rows_(rows) {}

  std::unique_ptr<IteratorBase> MakeIteratorInternal(
      const std::string& prefix) const override {
    return std::make_unique<Iterator>(
        Iterator::Params{this, absl::StrCat(prefix, "::Npy")});
  }

  const DataTypeVector& output_dtypes() const override { return dtypes_; }
  const std::vector<PartialTensorShape>& output_shapes() const override {
    return shapes_;
  }
  int64_t CardinalityInternal(
      tensorflow::data::CardinalityOptions /*options*/) const override {
    return rows_;
  }

  std::string DebugString() const override {
    return absl::StrCat("NpyDataset of ", filename_);
  }
  // It has no input dataset, and keeps no state elsewhere.
  absl::Status InputDatasets(
      std::vector<const DatasetBase*>* /*inputs*/) const override {
    return absl::OkStatus();
  }
  absl::Status CheckExternalState() const override { return absl::OkStatus(); }

 protected:
  // [graph] The node that would make this dataset again.
  absl::Status AsGraphDefInternal(SerializationContext* /*context*/,
                                  DatasetGraphDefBuilder* builder,
                                  tensorflow::Node** node) const override {
    tensorflow::Node* filename = nullptr;
    TF_RETURN_IF_ERROR(builder->AddScalar(tstring(filename_), &filename));
    return builder->AddDataset(this, {filename}, node);
  }

 private:
  // [iterator] One pass over the file. Many may run at the same time.
  class Iterator : public DatasetIterator<NpyDataset> {
   public:
    using DatasetIterator<NpyDataset>::DatasetIterator;

    absl::Status Initialize(IteratorContext* context) override {
      const std::lock_guard<std::mutex> lock(mutex_);
      const NpyDataset& made = *dataset();
      TF_RETURN_IF_ERROR(NpyFile::Open(context->env(), made.filename_,
                                       made.dtypes_[0], made.shapes_[0],
                                       &file_));
      if (file_->rows() == made.rows_) return absl::OkStatus();
      return OfFile(
          made.filename_,
          absl::FailedPreconditionError(absl::StrCat(
              "had ", made.rows_,
              " rows when the dataset was made, and now has ", file_->rows())));
    }

    absl::Status GetNextInternal(IteratorContext* context,
                                 std::vector<Tensor>* out,
                                 bool* end_of_sequence) override {
      const std::lock_guard<std::mutex> lock(mutex_);
      *end_of_sequence = row_ == dataset()->rows_;
      if (*end_of_sequence) {
        // An iterator may live long after its last row.
        file_.reset();
        kept_.clear();
        return absl::OkStatus();
      }
      Tensor element = MemoryForARow(context);
      if (!element.IsInitialized()) {
        return OfFile(dataset()->filename_,
                      absl::ResourceExhaustedError(
                          absl::StrCat("no memory for a row of shape ",
                                       file_->row_shape().DebugString())));
      }
      // Advance, then read: after an error, ignore_errors calls again.
      TF_RETURN_IF_ERROR(file_->ReadRow(row_++, &element));
      out->push_back(std::move(element));
      return absl::OkStatus();
    }

    // [skip] All rows have one length, so skipping only moves the counter.
    absl::Status SkipInternal(IteratorContext* /*context*/, int num_to_skip,
                              bool* end_of_sequence,
                              int* num_skipped) override {
      const std::lock_guard<std::mutex> lock(mutex_);
      // Negative if TensorFlow has narrowed 2^31 or more to an int: skip none,
      // as the function that this one overrides does. Nobody asks again.
      *num_skipped = static_cast<int>(
          std::clamp<int64_t>(num_to_skip, 0, dataset()->rows_ - row_));
      row_ += *num_skipped;
      *end_of_sequence = *num_skipped < num_to_skip;
      return absl::OkStatus();
    }

   protected:
    // [state] All that an iterator has to remember is a number.
    absl::Status SaveInternal(SerializationContext* /*context*/,
                              IteratorStateWriter* writer) override {
      const std::lock_guard<std::mutex> lock(mutex_);
      return writer->WriteScalar(prefix(), "row", row_);
    }

    absl::Status RestoreInternal(IteratorContext* /*context*/,
                                 IteratorStateReader* reader) override {
      const std::lock_guard<std::mutex> lock(mutex_);
      int64_t row;
      TF_RETURN_IF_ERROR(reader->ReadScalar(prefix(), "row", &row));
      if (row < 0 || row > dataset()->rows_) {
        return OfFile(
            dataset()->filename_,
            absl::FailedPreconditionError(absl::StrCat(
                "cannot go on at row ", row, " of ", dataset()->rows_)));
      }
      row_ = row;
      return absl::OkStatus();
    }

    // After each row, SaveInternal tells the place of the next. An
    // iterator that itself reads ahead of an input leaves this out.
    bool SymbolicCheckpointCompatible() const override { return true; }

    std::shared_ptr<tensorflow::data::model::Node> CreateNode(
        IteratorContext* /*context*/,
        tensorflow::data::model::Node::Args args) const override {
      return tensorflow::data::model::MakeSourceNode(std::move(args));
    }

   private:
    // [memory] The memory of a row that nobody uses any more: the system need
    // not clear it again.
    Tensor MemoryForARow(IteratorContext* context)
        ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      for (const Tensor& kept : kept_) {
        if (kept.RefCountIsOne()) return kept;
      }
      Tensor made(context->allocator({}), dataset()->dtypes_[0],
                  file_->row_shape());
      if (made.IsInitialized() && kept_.size() < kKept) kept_.push_back(made);
      return made;
    }

    // The file and its next row.
    std::mutex mutex_;
    std::vector<Tensor> kept_ ABSL_GUARDED_BY(mutex_);
    std::unique_ptr<NpyFile> file_ ABSL_GUARDED_BY(mutex_);
    int64_t row_ ABSL_GUARDED_BY(mutex_) = 0;
  };

  const std::string filename_;
  const DataTypeVector dtypes_;
  const std::vector<PartialTensorShape> shapes_;
  const int64_t rows_;
};

// [kernel] Looks at the header, and makes the dataset. No row is read yet.
class NpyDatasetOp : public tensorflow::data::DatasetOpKernel {
 public:
  explicit NpyDatasetOp(OpKernelConstruction* context)
      : DatasetOpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("output_types", &dtypes_));
    OP_REQUIRES_OK(context, context->GetAttr("output_shapes", &shapes_));
    OP_REQUIRES(context, dtypes_.size() == 1 && shapes_.size() == 1,
                absl::InvalidArgumentError(absl::StrCat(
                    "output_types and output_shapes must have one entry each, "
                    "for the rows, got ",
                    dtypes_.size(), " and ", shapes_.size())));
  }

  void MakeDataset(OpKernelContext* context, DatasetBase** output) override {
    tstring filename;
    OP_REQUIRES_OK(context, tensorflow::data::ParseScalarArgument<tstring>(
                                context, "filename", &filename));
    std::unique_ptr<NpyFile> file;
    OP_REQUIRES_OK(context, NpyFile::Open(context->env(), filename, dtypes_[0],
                                          shapes_[0], &file));
    *output = new NpyDataset(context, filename, dtypes_, shapes_, file->rows());
  }

 private:
  DataTypeVector dtypes_;
  std::vector<PartialTensorShape> shapes_;
};

// Datasets are made on the CPU.
REGISTER_KERNEL_BUILDER(Name("NpyDataset").Device(tensorflow::DEVICE_CPU),
                        NpyDatasetOp);

}  // namespace
}  // namespace op_by_op
