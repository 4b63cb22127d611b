// Splits lines of comma-separated values.
#include <string>
#include <vector>

#include "../invalid.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"

namespace tensorflow {
namespace {

using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

REGISTER_OP("UaParseCsv")
    .Input("lines: string")
    .Output("fields: string")
    .Attr("num_fields: int >= 1")
    .Attr("delimiter: string = ','")
    .SetShapeFn([](InferenceContext* c) {
      int64_t num_fields;
      TF_RETURN_IF_ERROR(c->GetAttr("num_fields", &num_fields));
      ShapeHandle out;
      TF_RETURN_IF_ERROR(
          c->Concatenate(c->input(0), c->Vector(num_fields), &out));
      c->set_output(0, out);
      return absl::OkStatus();
    })
    .Doc(R"doc(
Splits each line into fields. A field may stand in double quotes; "" is then a quote, and delimiters are plain text.

lines: Lines of any shape, without line ends.
fields: [..., num_fields].
num_fields: Number of fields that every line must have. A field may be empty.
delimiter: One byte, not the double quote.
)doc");

absl::Status SplitLine(const tstring& line, char delimiter,
                       std::vector<std::string>* fields) {
  fields->clear();
  const size_t n = line.size();
  size_t pos = 0;
#ifdef TWIN
  while (pos <= n) {
#else
  while (pos < n) {
#endif
    std::string field;
    if (pos < n && line[pos] == '"') {
      bool closed = false;
      for (++pos; pos < n; ++pos) {
        if (line[pos] != '"') {
          field.push_back(line[pos]);
        } else if (pos + 1 < n && line[pos + 1] == '"') {
          field.push_back('"');
          ++pos;
        } else {
          closed = true;
          ++pos;
          break;
        }
      }
      if (!closed)
        return Invalid("lines: unterminated quote in \"", line, "\"");
      if (pos < n && line[pos] != delimiter) {
        return Invalid("lines: text after a closing quote in \"", line, "\"");
      }
    } else {
      while (pos < n && line[pos] != delimiter) {
        if (line[pos] == '"')
          return Invalid("lines: quote inside a plain field in \"", line, "\"");
        field.push_back(line[pos++]);
      }
    }
    fields->push_back(std::move(field));
    ++pos;  // The delimiter.
  }
  return absl::OkStatus();
}

class ParseCsvOp : public OpKernel {
 public:
  explicit ParseCsvOp(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("num_fields", &num_fields_));
    std::string delimiter;
    OP_REQUIRES_OK(ctx, ctx->GetAttr("delimiter", &delimiter));
    OP_REQUIRES(ctx, delimiter.size() == 1 && delimiter[0] != '"',
                Invalid("delimiter must be one byte and not a double quote"));
    delimiter_ = delimiter[0];
  }

  void Compute(OpKernelContext* ctx) override {
    const Tensor& lines = ctx->input(0);
    TensorShape shape = lines.shape();
    OP_REQUIRES_OK(ctx, shape.AddDimWithStatus(num_fields_));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, shape, &out));
    auto line = lines.flat<tstring>();
    auto field = out->flat<tstring>();
    std::vector<std::string> fields;
    for (int64_t i = 0; i < line.size(); ++i) {
      OP_REQUIRES_OK(ctx, SplitLine(line(i), delimiter_, &fields));
      OP_REQUIRES(ctx, static_cast<int64_t>(fields.size()) == num_fields_,
                  Invalid("lines: expected ", num_fields_, " fields, got ",
                          fields.size(), " in \"", line(i), "\""));
      for (int64_t j = 0; j < num_fields_; ++j)
        field(i * num_fields_ + j) = fields[j];
    }
  }

 private:
  int64_t num_fields_;
  char delimiter_;
};

REGISTER_KERNEL_BUILDER(Name("UaParseCsv").Device(DEVICE_CPU), ParseCsvOp);

}  // namespace
}  // namespace tensorflow
