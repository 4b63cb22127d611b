// An op whose output is a table of what the calls of an InferenceContext give:
// it makes them. The page on the shape calls shows the tables.

#include <cxxabi.h>
#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/public/version.h"

namespace op_by_op {
namespace {

using tensorflow::OpDef;
using tensorflow::OpRegistry;
using tensorflow::PartialTensorShape;
using tensorflow::Tensor;
using tensorflow::TensorShape;
using tensorflow::shape_inference::DimensionHandle;
using tensorflow::shape_inference::InferenceContext;
using tensorflow::shape_inference::ShapeHandle;

using Row = std::vector<std::string>;

// A context as a shape function gets it, for an op of two inputs and one
// output. Of the value of the second input it may know all or a part.
class Context : public InferenceContext {
 public:
  explicit Context(const PartialTensorShape& first,
                   const PartialTensorShape& second = {},
                   const Tensor* value = nullptr,
                   const PartialTensorShape& part = {})
      : InferenceContext(TF_GRAPH_DEF_VERSION, kNode, Definition(),
                         {first, second}, {nullptr, value}, {{}, part}, {}) {}

 private:
  static const OpDef& Definition() {
    static const auto* const definition = [] {
      auto* made = new OpDef;
      for (const char* name : {"first", "second"}) {
        auto* input = made->add_input_arg();
        input->set_name(name);
        input->set_type(tensorflow::DT_FLOAT);
      }
      auto* output = made->add_output_arg();
      output->set_name("only");
      output->set_type(tensorflow::DT_FLOAT);
      return made;
    }();
    return *definition;
  }

  inline static const tensorflow::NodeDef kNode;
};

std::string Kind(bool) { return "bool"; }
std::string Kind(int32_t) { return "int32_t"; }
std::string Kind(int64_t) { return "int64_t"; }
std::string Kind(const std::string&) { return "string"; }
std::string Kind(ShapeHandle) { return "shape"; }
std::string Kind(DimensionHandle) { return "dimension"; }

std::string Text(InferenceContext&, bool value) {
  return value ? "true" : "false";
}
std::string Text(InferenceContext&, int32_t value) {
  return absl::StrCat(value);
}
std::string Text(InferenceContext&, int64_t value) {
  return absl::StrCat(value);
}
std::string Text(InferenceContext&, std::string value) { return value; }
template <typename Handle>
std::string Text(InferenceContext& context, Handle handle) {
  return context.DebugString(handle);
}

// Adds a call's text, the kind of its result, and the result or the message of
// its error.
template <typename Result>
void AddRow(std::vector<Row>& rows, InferenceContext& context, const char* call,
            const Result& result, const absl::Status& status = {}) {
  rows.push_back(
      {call, Kind(result),
       status.ok() ? Text(context, result) : std::string(status.message())});
}

#define GIVES(call) AddRow(rows, context, #call, context.call)

#define TRIES(Type, call)                      \
  do {                                         \
    Type out;                                  \
    const absl::Status status = context.call;  \
    AddRow(rows, context, #call, out, status); \
  } while (false)

#define SHAPE(call) TRIES(ShapeHandle, call)
#define DIMENSION(call) TRIES(DimensionHandle, call)

// s is [2,3], [?,3] or ?, and d its first dimension; t is [2,?].
std::vector<Row> Demands(Context& context) {
  const ShapeHandle s = context.input(0), t = context.input(1);
  const DimensionHandle d = context.Dim(s, 0), five = context.MakeDim(5);
  const ShapeHandle prefix = context.Vector(2);
  ShapeHandle prefix_out;
  std::vector<Row> rows;
  SHAPE(WithRank(s, 2, &out));
  SHAPE(WithRank(s, 3, &out));
  SHAPE(WithRankAtLeast(s, 1, &out));
  SHAPE(WithRankAtLeast(s, 3, &out));
  SHAPE(WithRankAtMost(s, 2, &out));
  SHAPE(WithRankAtMost(s, 1, &out));
  DIMENSION(WithValue(d, 2, &out));
  DIMENSION(WithValue(d, 5, &out));
  SHAPE(Merge(s, t, &out));
  DIMENSION(Merge(d, five, &out));
  SHAPE(MergePrefix(s, prefix, &out, &prefix_out));
  return rows;
}

std::vector<Row> Combinations(Context& context) {
  const ShapeHandle s = context.input(0), t = context.input(1);
  const DimensionHandle d = context.Dim(s, 0), four = context.MakeDim(4);
  const int64_t stride = 2;
  std::vector<Row> rows;
  DIMENSION(Add(d, 4, &out));
  DIMENSION(Subtract(d, 1, &out));
  DIMENSION(Subtract(d, 5, &out));
  DIMENSION(Multiply(d, 4, &out));
  DIMENSION(Multiply(d, 0, &out));
  DIMENSION(Divide(d, 4, false, &out));
  DIMENSION(Divide(d, 4, true, &out));
  DIMENSION(Min(d, 1, &out));
  DIMENSION(Min(d, 0, &out));
  DIMENSION(Max(d, 4, &out));
  SHAPE(Concatenate(s, t, &out));
  SHAPE(Subshape(s, 1, &out));
  SHAPE(Subshape(s, 0, -1, &out));
  SHAPE(Subshape(s, 1, -3, &out));
  SHAPE(Subshape(s, 0, 2, stride, &out));
  SHAPE(ReplaceDim(s, -1, four, &out));
  SHAPE(ReplaceDim(s, 2, four, &out));
  return rows;
}

std::vector<Row> Makers(Context& context) {
  const DimensionHandle d = context.Dim(context.input(0), 0);
  const DimensionHandle unknown = context.UnknownDim();
  std::vector<Row> rows;
  GIVES(Scalar());
  GIVES(Vector(d));
  GIVES(Vector(4));
  GIVES(Matrix(d, 4));
  GIVES(MakeShape({d, 4, unknown}));
  GIVES(UnknownShape());
  GIVES(UnknownShapeOfRank(2));
  GIVES(MakeDim(4));
  GIVES(UnknownDim());
  SHAPE(MakeShapeFromTensorShape(TensorShape({2, 3}), &out));
  SHAPE(MakeShapeFromPartialTensorShape(PartialTensorShape({2, -1}), &out));
  const tensorflow::TensorShapeProto proto = TensorShape({2, 3}).AsProto();
  SHAPE(MakeShapeFromShapeProto(proto, &out));
  return rows;
}

std::vector<Row> Questions(Context& context) {
  const ShapeHandle s = context.input(0);
  const DimensionHandle d = context.Dim(s, 0);
  std::vector<Row> rows;
  GIVES(num_inputs());
  GIVES(num_outputs());
  GIVES(input(0));
  GIVES(RankKnown(s));
  GIVES(Rank(s));
  GIVES(Dim(s, 0));
  GIVES(Dim(s, -1));
  GIVES(ValueKnown(d));
  GIVES(Value(d));
  GIVES(FullyDefined(s));
  GIVES(NumElements(s));
  GIVES(DebugString(s));
  return rows;
}

// What can be learned of the second input, of which all, a part or
// nothing is known.
std::vector<Row> Values() {
  Tensor vector(tensorflow::DT_INT32, {2}), free(tensorflow::DT_INT32, {2});
  vector.vec<int32_t>().setValues({2, 3});
  free.vec<int32_t>().setValues({2, -1});
  Tensor four(int64_t{4}), minus_one(int64_t{-1});
  struct Case {
    std::string known;
    PartialTensorShape shape;
    const Tensor* value = nullptr;
    PartialTensorShape part = {};
  };
  std::vector<Row> table;
  for (const Case& known : std::vector<Case>{
           {"(2, 3)", PartialTensorShape({2}), &vector},
           {"(2, -1)", PartialTensorShape({2}), &free},
           {"(2, ?)", PartialTensorShape({2}), nullptr,
            PartialTensorShape({2, -1})},
           {"a vector of two", PartialTensorShape({2})},
           {"4", PartialTensorShape({}), &four},
           {"-1", PartialTensorShape({}), &minus_one},
           {"a scalar", PartialTensorShape({})},
           {"nothing", {}},
       }) {
    Context context({}, known.shape, known.value, known.part);
    std::vector<Row> rows;
    rows.push_back(
        {"input_tensor(1)", "const Tensor*",
         context.input_tensor(1) == nullptr ? "nullptr" : "the tensor"});
    SHAPE(MakeShapeFromShapeTensor(1, &out));
    SHAPE(MakeShapeFromShapeTensorTreatScalarAsUnknownShape(1, &out));
    DIMENSION(MakeDimForScalarInput(1, &out));
    DIMENSION(MakeDimForScalarInputWithNegativeIndexing(1, 3, &out));
    if (table.empty()) {
      table = {{"call", "kind"}};
      for (const Row& row : rows) table.push_back({row[0], row[1]});
    }
    table[0].push_back(known.known);
    for (size_t i = 0; i < rows.size(); ++i) {
      table[i + 1].push_back(rows[i][2]);
    }
  }
  return table;
}

// TensorFlow's functions that registered ops have as their shape function,
// and these ops.
using ShapeFunction = absl::Status (*)(InferenceContext*);

std::vector<Row> Ready() {
  std::map<std::string, std::vector<std::string>> users;
  std::vector<OpDef> ops;
  OpRegistry::Global()->GetRegisteredOps(&ops);
  for (const OpDef& op : ops) {
    const tensorflow::OpRegistrationData* data = nullptr;
    TF_CHECK_OK(OpRegistry::Global()->LookUp(op.name(), &data));
    const auto* function = data->shape_inference_fn.target<ShapeFunction>();
    if (function == nullptr) continue;
    auto* const address = reinterpret_cast<void*>(*function);
    Dl_info symbol;
    if (dladdr(address, &symbol) == 0 || symbol.dli_saddr != address) continue;
    int status = 0;
    char* name =
        abi::__cxa_demangle(symbol.dli_sname, nullptr, nullptr, &status);
    if (status == 0) users[name].push_back(op.name());
    std::free(name);
  }
  std::vector<Row> rows;
  rows.reserve(users.size());
  for (const auto& [name, names] : users) {
    rows.push_back({name, absl::StrJoin(names, " ")});
  }
  return rows;
}

// What a call that ends the process writes before it does: it is made
// in a process of its own.
std::string LastWords(const std::function<void()>& call) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    const rlimit no_dump = {0, 0};
    setrlimit(RLIMIT_CORE, &no_dump);
    std::signal(SIGABRT, SIG_DFL);
    dup2(ends[1], STDERR_FILENO);
    call();
    _exit(0);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return "no process";
  }
  std::string words;
  char buffer[4096];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;) {
    words.append(buffer, got);
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? words : "goes on";
}

std::vector<Row> Fatal() {
  std::vector<Row> rows;
  const int64_t huge = int64_t{1} << 62;
#define ENDS(call, with_status)                                              \
  do {                                                                       \
    TensorShape shape({2, 3});                                               \
    const std::string words = LastWords([&] { call; });                      \
    rows.push_back(                                                          \
        {#call, words, #with_status, std::string((with_status).message())}); \
  } while (false)
  ENDS(TensorShape({-1}), TensorShape::BuildTensorShape({-1}, &shape));
  ENDS(TensorShape({huge, 2}),
       TensorShape::BuildTensorShape({huge, 2}, &shape));
  ENDS(TensorShape({huge, 2, 0}),
       TensorShape::BuildTensorShape({huge, 2, 0}, &shape));
  ENDS(TensorShape({0, huge, 2}),
       TensorShape::BuildTensorShape({0, huge, 2}, &shape));
  ENDS(shape.set_dim(0, -1), shape.SetDimWithStatus(0, -1));
  ENDS(shape.set_dim(2, 1), shape.SetDimWithStatus(2, 1));
  ENDS(shape.AddDim(-1), shape.AddDimWithStatus(-1));
  ENDS(shape.AddDim(huge), shape.AddDimWithStatus(huge));
  ENDS(shape.InsertDim(3, 1), shape.InsertDimWithStatus(3, 1));
  ENDS(shape.AppendShape(TensorShape({huge})),
       shape.AppendShapeWithStatus(TensorShape({huge})));
  ENDS(shape.RemoveDim(2), shape.RemoveDimWithStatus(2));
  ENDS(shape.RemoveLastDims(3), shape.RemoveLastDimsWithStatus(3));
#undef ENDS
  return rows;
}

// The calls on s, one column for each s; or one of the other tables.
std::vector<Row> OnEachShape(std::vector<Row> (*calls)(Context&)) {
  std::vector<Row> table;
  for (const PartialTensorShape& s :
       {PartialTensorShape({2, 3}), PartialTensorShape({-1, 3}),
        PartialTensorShape()}) {
    Context context(s, PartialTensorShape({2, -1}));
    const std::vector<Row> rows = calls(context);
    table.resize(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      if (table[i].empty()) table[i] = {rows[i][0], rows[i][1]};
      table[i].push_back(rows[i][2]);
    }
  }
  return table;
}

REGISTER_OP("ShapeCalls")
    .Attr(
        "table: {'demand', 'combine', 'make', 'ask', 'value', 'ready', "
        "'fatal'}")
    .Output("rows: string")
    .SetIsStateful()  // libraries that are loaded later add to 'ready'
    .SetShapeFn([](InferenceContext* context) {
      context->set_output(0, context->UnknownShapeOfRank(2));
      return absl::OkStatus();
    });

class ShapeCallsOp : public tensorflow::OpKernel {
 public:
  explicit ShapeCallsOp(tensorflow::OpKernelConstruction* context)
      : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("table", &table_));
  }

  void Compute(tensorflow::OpKernelContext* context) override {
    const std::vector<Row> rows = Table();
    Tensor* output = nullptr;
    const int64_t height = rows.size(), width = rows[0].size();
    OP_REQUIRES_OK(context, context->allocate_output(
                                0, TensorShape({height, width}), &output));
    for (int64_t r = 0; r < height; ++r) {
      for (int64_t c = 0; c < width; ++c) {
        output->matrix<tensorflow::tstring>()(r, c) = rows[r][c];
      }
    }
  }

 private:
  std::vector<Row> Table() const {
    if (table_ == "demand") return OnEachShape(Demands);
    if (table_ == "combine") return OnEachShape(Combinations);
    if (table_ == "make") return OnEachShape(Makers);
    if (table_ == "ask") return OnEachShape(Questions);
    if (table_ == "value") return Values();
    return table_ == "ready" ? Ready() : Fatal();
  }

  std::string table_;
};

REGISTER_KERNEL_BUILDER(Name("ShapeCalls").Device(tensorflow::DEVICE_CPU),
                        ShapeCallsOp);

}  // namespace
}  // namespace op_by_op
