// What the C kernel API can and cannot do: one op for each thing that limits.py
// tries.

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "stable_op.h"
#include "stable_parallel.h"

namespace {

using stable::Attrs;
using stable::Context;
using stable::Shapes;

// Gives each attr back, of every type that stable_op.h reads.
struct LimitAttrs {
  std::string text;
  explicit LimitAttrs(const Attrs& attrs) {
    std::ostringstream all;
    all << attrs.get<int64_t>("i") << " " << attrs.get<float>("f") << " "
        << attrs.get<bool>("b") << " " << attrs.get<std::string>("s");
    for (int64_t i : attrs.get<std::vector<int64_t>>("li")) all << " " << i;
    text = all.str();
  }
  void Compute(const Context& context) const {
    const auto out = context.output<TF_TString>(0, {});
    TF_TString_Copy(&out[0], text.data(), text.size());
  }
};

// Gives the node with all its attrs, as the bytes of a NodeDef.
struct LimitNode {
  std::string node;
  explicit LimitNode(const Attrs& attrs) {
    TF_Buffer* const bytes =
        TF_OpKernelConstruction_GetNodeDef(attrs.c, stable::Check());
    node.assign(static_cast<const char*>(bytes->data), bytes->length);
    TF_DeleteBuffer(bytes);
  }
  void Compute(const Context& context) const {
    const auto out = context.output<TF_TString>(0, {});
    TF_TString_Copy(&out[0], node.data(), node.size());
  }
};

// Joins all the strings of a list of tensors.
struct LimitJoin {
  explicit LimitJoin(const Attrs&) {}
  void Compute(const Context& context) const {
    std::string all;
    for (int i = 1; i < TF_NumInputs(context.c); ++i) {
      for (const TF_TString& s : context.input<TF_TString>(i)) {
        all.append(TF_TString_GetDataPointer(&s), TF_TString_GetSize(&s));
      }
    }
    const auto out = context.output<TF_TString>(0, {});
    TF_TString_Copy(&out[0], all.data(), all.size());
  }
};

// Throws on purpose: 0 as a thread does, 1 a std::exception, 2 out of memory;
// 3 asks for a tensor that is too large, 4 for an output that is not there, 5
// for an input that is not there, 6 for another type, 7 for an attr, 8 throws
// what is no std::exception, 9 asks for an output of another type.
struct LimitFailure {
  int64_t how;
  explicit LimitFailure(const Attrs& attrs) : how(attrs.get<int64_t>("how")) {
    if (how == 7) attrs.get<float>("nowhere");
  }
  void Compute(const Context& context) const {
    if (how == 0) {
      stable::Parallel(8, 1, [](int64_t, int64_t end) {
        stable::Require(end != 8, "the last thread refuses");
      });
    }
    if (how == 1) throw std::runtime_error("thrown by a library");
    if (how == 2) throw std::bad_alloc();
    if (how == 3)
      context.output<float>(0, {int64_t{1} << 40, int64_t{1} << 40});
    if (how == 4) context.output<float>(1, {});
    if (how == 5) context.input<float>(1);
    if (how == 6) context.input<double>(0);
    if (how == 9) context.output<double>(0, {});
    if (how == 8) throw 42;  // NOLINT(bugprone-std-exception-baseclass)
  }
};

// Asks the C API itself, without the layer, for an output of a wrong type (0)
// or a wrong number (1).
struct LimitUnchecked {
  int64_t how;
  explicit LimitUnchecked(const Attrs& attrs)
      : how(attrs.get<int64_t>("how")) {}
  void Compute(const Context& context) const {
    if (how == 0) {
      const int64_t dims[] = {1};
      TF_DeleteTensor(TF_AllocateOutput(context.c, 0, TF_INT32, dims, 1, 4,
                                        stable::Check()));
    } else {
      TF_ExpectedOutputDataType(context.c, 7);
    }
  }
};

// Shares "parts" parts of no work; y is how many of them other threads ran.
struct LimitParallel {
  int64_t parts;
  explicit LimitParallel(const Attrs& attrs)
      : parts(attrs.get<int64_t>("parts")) {}
  void Compute(const Context& context) const {
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<int64_t> others = 0;
    stable::Parallel(parts, 1, [&](int64_t, int64_t) {
      others += std::this_thread::get_id() != caller;
    });
    context.output<float>(0, {})[0] = others;
  }
};

// Finishes before ("now") or after ("later") its function has returned.
void WaitNow(void*, TF_OpKernelContext* c, TF_AsyncOpKernelDoneCallback* done) {
  Context{c}.output<float>(0, {})[0] = 1;
  TF_RunAsyncOpKernelDoneCallback(done);
}
void WaitLater(void*, TF_OpKernelContext* c,
               TF_AsyncOpKernelDoneCallback* done) {
  std::thread([=] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    WaitNow(nullptr, c, done);
  }).detach();
}

void Scalar(Shapes shapes) { shapes.output(0, stable::Dims{}); }
void Unknown(Shapes) {}
// Forgets that -1 is unknown.
void TwoFewer(Shapes shapes) {
  shapes.output(0, {{shapes.input(0)->at(0) - 2}});
}
void ThreeColumns(Shapes shapes) { shapes.output(0, {{-1, 3}}); }

__attribute__((constructor)) void Register() noexcept {
  stable::RegisterOp<Scalar>(
      "LimitAttrs", {}, {"y: string"},
      {"i: int", "f: float", "b: bool", "s: string", "li: list(int)"});
  stable::RegisterKernel<LimitAttrs>("LimitAttrs");
  stable::RegisterOp<Scalar>("LimitNode", {}, {"y: string"}, {"size: shape"});
  stable::RegisterKernel<LimitNode>("LimitNode");
  stable::RegisterOp<Scalar>("LimitJoin",
                             {"before: float", "parts: N * string"},
                             {"y: string"}, {"N: int"});
  stable::RegisterKernel<LimitJoin>("LimitJoin");
  stable::RegisterOp<Unknown>("LimitFailure", {"x: float"}, {"y: float"},
                              {"how: int"});
  stable::RegisterKernel<LimitFailure>("LimitFailure");
  stable::RegisterOp<TwoFewer>("LimitShape", {"x: float"}, {"y: float"});
  stable::RegisterOp<ThreeColumns>("LimitUnchecked", {}, {"y: float"},
                                   {"how: int"});
  stable::RegisterKernel<LimitUnchecked>("LimitUnchecked");
  stable::RegisterOp<Scalar>("LimitParallel", {"x: float"}, {"y: float"},
                             {"parts: int"});
  stable::RegisterKernel<LimitParallel>("LimitParallel");
  stable::RegisterOp<Unknown>("LimitNow", {}, {"y: float"});
  TF_RegisterKernelBuilder(
      "LimitNow",
      TF_NewAsyncKernelBuilder("LimitNow", "CPU", nullptr, WaitNow, nullptr),
      stable::Check());
  stable::RegisterOp<Unknown>("LimitLater", {}, {"y: float"});
  TF_RegisterKernelBuilder(
      "LimitLater",
      TF_NewAsyncKernelBuilder("LimitLater", "CPU", nullptr, WaitLater,
                               nullptr),
      stable::Check());
}

}  // namespace
