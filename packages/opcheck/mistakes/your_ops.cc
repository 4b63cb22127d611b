// The ops that the reproducers call. Which mistake they make, or its cure, is
// chosen by $YOUR_MISTAKE when the library is loaded: "check_failed_dims
// wrong", for example.
#include <cstdlib>
#include <map>
#include <string>

#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/shape_inference.h"

using namespace tensorflow;
using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;
using Async = void(OpKernelContext*, AsyncOpKernel::DoneCallback);

// The function that is chosen, of those with this signature; null if it has
// another one.
template <typename Signature>
struct Mistakes {
  static std::map<std::string, Signature*>& all() {
    static auto* functions = new std::map<std::string, Signature*>();
    return *functions;
  }
  static bool Add(const char* name, Signature* function) {
    return all()[name] = function;
  }
  static Signature* Chosen() {
    const char* name = std::getenv("YOUR_MISTAKE");
    return name ? all()[name] : nullptr;
  }
};

template <typename Signature>
bool Add(const char* name, Signature* function) {
  return Mistakes<Signature>::Add(name, function);
}

class YourKernel : public OpKernel {
 public:
  explicit YourKernel(OpKernelConstruction* ctx) : OpKernel(ctx) {
    if (auto* mistake = Mistakes<void(OpKernelConstruction*)>::Chosen()) {
      mistake(ctx);
    }
  }

  void Compute(OpKernelContext* ctx) override {
    if (auto* mistake = Mistakes<void(OpKernelContext*)>::Chosen()) {
      mistake(ctx);
    } else if (num_outputs()) {
      ctx->set_output(0, ctx->input(0));
    }
  }
};

class YourAsyncKernel : public AsyncOpKernel {
 public:
  using AsyncOpKernel::AsyncOpKernel;

  void ComputeAsync(OpKernelContext* ctx, DoneCallback done) override {
    Mistakes<Async>::Chosen()(ctx, done);
  }
};

absl::Status YourShape(InferenceContext* c) {
  if (auto* mistake = Mistakes<absl::Status(InferenceContext*)>::Chosen()) {
    return mistake(c);
  }
  c->set_output(0, c->input(0));
  return absl::OkStatus();
}

REGISTER_OP("YourOp")
    .Input("x: T")
    .Output("y: T")
    .Attr("T: {float, double}")
    .Attr("size: int >= 1 = 1")
    .Attr("mode: {'nearest', 'linear'} = 'linear'")
    .SetShapeFn(YourShape);
REGISTER_KERNEL_BUILDER(
    Name("YourOp").Device(DEVICE_CPU).TypeConstraint<float>("T"), YourKernel);

REGISTER_OP("YourProject>YourOp")
    .Input("x: float")
    .Output("y: float")
    .SetShapeFn(YourShape);
REGISTER_KERNEL_BUILDER(Name("YourProject>YourOp").Device(DEVICE_CPU),
                        YourKernel);

REGISTER_OP("YourAsyncOp").Input("x: float").Output("y: float");
REGISTER_KERNEL_BUILDER(Name("YourAsyncOp").Device(DEVICE_CPU),
                        YourAsyncKernel);

REGISTER_OP("YourUnshapedOp").Input("x: float").Output("y: float");
REGISTER_KERNEL_BUILDER(Name("YourUnshapedOp").Device(DEVICE_CPU), YourKernel);

REGISTER_OP("YourSum")
    .Input("a: T")
    .Input("b: T")
    .Output("y: T")
    .Attr("T: {float, int32}")
    .SetShapeFn(YourShape);
REGISTER_KERNEL_BUILDER(Name("YourSum").Device(DEVICE_CPU), YourKernel);

REGISTER_OP("YourConcat")
    .Input("inputs: N * float")
    .Output("y: float")
    .Attr("N: int >= 2");
REGISTER_KERNEL_BUILDER(Name("YourConcat").Device(DEVICE_CPU), YourKernel);

REGISTER_OP("YourTensorAttr")
    .Output("y: float")
    .Attr("value: tensor = { dtype: DT_FLOAT tensor_shape {} float_val: 1 }");

class YourTensorAttr : public OpKernel {
 public:
  explicit YourTensorAttr(OpKernelConstruction* ctx) : OpKernel(ctx) {
    OP_REQUIRES_OK(ctx, ctx->GetAttr("value", &value_));
  }

  void Compute(OpKernelContext* ctx) override { ctx->set_output(0, value_); }

 private:
  Tensor value_;
};
REGISTER_KERNEL_BUILDER(Name("YourTensorAttr").Device(DEVICE_CPU),
                        YourTensorAttr);

class Table : public ResourceBase {
 public:
  std::string DebugString() const override { return "a table"; }
};

class YourCreate : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    OP_REQUIRES_OK(ctx,
                   CreateResource(ctx, HandleFromInput(ctx, 0), new Table));
  }
};

class YourLookup : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    core::RefCountPtr<Table> table;
    OP_REQUIRES_OK(ctx, LookupResource(ctx, HandleFromInput(ctx, 0), &table));
  }
};

REGISTER_OP("YourHandle")
    .Output("handle: resource")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful();
REGISTER_OP("YourCreate").Input("handle: resource").SetIsStateful();
REGISTER_OP("YourLookup").Input("handle: resource").SetIsStateful();
REGISTER_KERNEL_BUILDER(Name("YourHandle").Device(DEVICE_CPU),
                        ResourceHandleOp<Table>);
REGISTER_KERNEL_BUILDER(Name("YourCreate").Device(DEVICE_CPU), YourCreate);
REGISTER_KERNEL_BUILDER(Name("YourLookup").Device(DEVICE_CPU), YourLookup);
