// CallStack and CallStackStateful: both return their input, and record by
// whom their kernel, its constructor and their shape function are called.

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/logging.h"

namespace op_by_op {
namespace {

using tensorflow::Env;
using tensorflow::OpKernel;
using tensorflow::OpKernelConstruction;
using tensorflow::OpKernelContext;
using tensorflow::shape_inference::InferenceContext;

// The stack of a thread: the addresses to which its functions return.
struct Stack {
  const char* recorded_in;
  std::string thread;
  std::vector<void*> addresses;
};

constexpr int kDeepest = 500;
constexpr int kMost = 1000;
std::mutex mutex;
auto* const stacks ABSL_PT_GUARDED_BY(mutex) = new std::deque<Stack>;

void RecordStack(const char* recorded_in) {
  void* addresses[kDeepest];
  const int count = backtrace(addresses, kDeepest);
  Stack stack{recorded_in, "",
              std::vector<void*>(addresses, addresses + count)};
  Env::Default()->GetCurrentThreadName(&stack.thread);
  absl::StrAppend(&stack.thread, "\t", Env::Default()->GetCurrentThreadId());
  const std::lock_guard<std::mutex> lock(mutex);
  stacks->push_back(std::move(stack));
  if (stacks->size() > kMost) stacks->pop_front();
}

// Which function an address lies in, and in which file.
std::string Name(const void* address) {
  Dl_info found;
  if (dladdr(address, &found) == 0) return "?\t?";
  const char* mangled = found.dli_sname == nullptr ? "?" : found.dli_sname;
  int failed;
  char* demangled = abi::__cxa_demangle(mangled, nullptr, nullptr, &failed);
  const std::string name = failed == 0 ? demangled : mangled;
  std::free(demangled);
  return absl::StrCat(name, "\t", found.dli_fname);
}

// The shape function records it, too.
absl::Status ShapeFunction(InferenceContext* context) {
  RecordStack("ShapeFunction");
  return tensorflow::shape_inference::UnchangedShape(context);
}

REGISTER_OP("CallStack")
    .Attr("T: type")
    .Attr("expensive: bool = false")
    .Input("x: T")
    .Output("y: T")
    .SetShapeFn(ShapeFunction);

// The same, and stateful.
REGISTER_OP("CallStackStateful")
    .SetIsStateful()
    .Attr("T: type")
    .Attr("expensive: bool = false")
    .Input("x: T")
    .Output("y: T")
    .SetShapeFn(ShapeFunction);

// Records who makes it and who runs it.
class CallStackOp : public OpKernel {
 public:
  explicit CallStackOp(OpKernelConstruction* context) : OpKernel(context) {
    RecordStack("CallStackOp::CallStackOp");
    LOG(INFO) << "a kernel for " << name();
    OP_REQUIRES_OK(context, context->GetAttr("expensive", &expensive_));
  }

  bool IsExpensive() override { return expensive_; }

  void Compute(OpKernelContext* context) override {
    RecordStack("CallStackOp::Compute");
    VLOG(1) << "an input " << context->input(0).DebugString();
    if (expensive_) Env::Default()->SleepForMicroseconds(1000);
    context->set_output(0, context->input(0));
  }

 private:
  bool expensive_;
};

REGISTER_KERNEL_BUILDER(Name("CallStack").Device(tensorflow::DEVICE_CPU),
                        CallStackOp);
REGISTER_KERNEL_BUILDER(
    Name("CallStackStateful").Device(tensorflow::DEVICE_CPU), CallStackOp);
// Only because the kernel just passes tensors on: under jit_compile they hold
// no numbers.
REGISTER_KERNEL_BUILDER(Name("CallStack").Device("XLA_CPU_JIT"), CallStackOp);

}  // namespace
}  // namespace op_by_op

// For Python's ctypes: the stacks since the last call, each followed by an
// empty line. Each thread has a text of its own, so that no other one changes
// it while Python copies it.
extern "C" __attribute__((visibility("default"))) const char* TakeStacks() {
  thread_local std::string text;
  // dladdr looks through all names of a file.
  static auto* const names = new std::map<const void*, std::string>;
  const std::lock_guard<std::mutex> lock(op_by_op::mutex);
  text.clear();
  for (const op_by_op::Stack& stack : *op_by_op::stacks) {
    absl::StrAppend(&text, stack.recorded_in, "\t", stack.thread, "\n");
    for (void* address : stack.addresses) {
      std::string& name = (*names)[address];
      // A function may end with the call that it is in.
      const void* called_from = static_cast<const char*>(address) - 1;
      if (name.empty()) name = op_by_op::Name(called_from);
      absl::StrAppend(&text, name, "\n");
    }
    absl::StrAppend(&text, "\n");
  }
  op_by_op::stacks->clear();
  return text.c_str();
}
