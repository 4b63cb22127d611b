// stable_op.h: TensorFlow ops on the C kernel API alone, so that one binary
// serves many versions of TensorFlow. It needs C++17 and no other file:
//   c++ -std=c++17 -O2 -fPIC -shared -fvisibility=hidden x.cc -o libx.so
//     -I$TF/include -L$TF -l:libtensorflow_framework.so.2 -pthread
// Errors are exceptions that never leave the library: each callback catches
// what is thrown and hands TensorFlow a status.

#ifndef STABLE_OP_H_
#define STABLE_OP_H_

#include <algorithm>
#include <cstdio>
#include <exception>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"
#include "tensorflow/c/tf_tstring.h"  // TF_TString and its inline functions

namespace stable {

// Require(n > 0, "'n' must be positive, got ", n) refuses bad input.
struct Error : std::runtime_error {
  Error(TF_Code code, const std::string& message)
      : std::runtime_error(message), code(code) {}
  TF_Code code;
};

template <class... Parts>
void Require(bool ok, const Parts&... parts) {
  if (ok) return;
  std::ostringstream text;
  (text << ... << parts);
  throw Error(TF_INVALID_ARGUMENT, text.str());
}

// What f throws goes into the status.
template <class F>
void Guard(TF_Status* status, F f) {
  try {
    f();
  } catch (const Error& error) {
    TF_SetStatus(status, error.code, error.what());
  } catch (const std::bad_alloc&) {
    TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "out of memory");
  } catch (const std::exception& error) {
    TF_SetStatus(status, TF_INTERNAL, error.what());
  } catch (...) {
    TF_SetStatus(status, TF_INTERNAL, "unknown exception");
  }
}

template <class T, void (*kDelete)(T*)>
using Owned = std::unique_ptr<T, std::integral_constant<void (*)(T*), kDelete>>;
using Status = Owned<TF_Status, TF_DeleteStatus>;

// Call(f, a, b) is f(a, b, status), and throws what the status holds.
template <class R, class... P, class... A>
R Call(R (*f)(P...), A... args) {
  thread_local const Status status(TF_NewStatus());
  TF_SetStatus(status.get(), TF_OK, "");
  struct Check {
    ~Check() noexcept(false) {
      const TF_Code code = TF_GetCode(status.get());
      if (code != TF_OK) throw Error(code, TF_Message(status.get()));
    }
  } check;
  return f(args..., status.get());
}

// kType<float> is TF_FLOAT. For half and bfloat16: stable_float16.h.
template <class T>
inline constexpr TF_DataType kType = T::is_no_type_of_tensorflow;
#define STABLE_TYPE(T, TYPE) \
  template <>                \
  inline constexpr TF_DataType kType<T> = TYPE
STABLE_TYPE(float, TF_FLOAT);
STABLE_TYPE(double, TF_DOUBLE);
STABLE_TYPE(int8_t, TF_INT8);
STABLE_TYPE(int16_t, TF_INT16);
STABLE_TYPE(int32_t, TF_INT32);
STABLE_TYPE(int64_t, TF_INT64);
STABLE_TYPE(uint8_t, TF_UINT8);
STABLE_TYPE(uint16_t, TF_UINT16);
STABLE_TYPE(uint32_t, TF_UINT32);
STABLE_TYPE(uint64_t, TF_UINT64);
STABLE_TYPE(bool, TF_BOOL);
STABLE_TYPE(TF_TString, TF_STRING);

// f(T{}) for each T: [](auto zero) { using T = decltype(zero); ... }
template <class... T, class F>
void ForTypes(F f) {
  (f(T{}), ...);
}

// x.flat<float>()[i]; the memory is TensorFlow's.
using Dims = std::vector<int64_t>;
inline std::string Text(const Dims& dims) {
  std::string text;
  for (int64_t d : dims) text += (text.empty() ? "" : ",") + std::to_string(d);
  return "[" + text + "]";
}

template <class T>
struct Span {
  T* data;
  int64_t size;
  T* begin() const { return data; }
  T* end() const { return data + size; }
  T& operator[](int64_t i) const { return data[i]; }
};

using OwnedTensor = Owned<TF_Tensor, TF_DeleteTensor>;
template <bool kWritable>
struct Tensor {
  OwnedTensor tensor;
  std::string name;  // for messages

  int rank() const { return TF_NumDims(tensor.get()); }
  // dim(-1) is the last one.
  int64_t dim(int i) const {
    return TF_Dim(tensor.get(), i < 0 ? i + rank() : i);
  }
  Dims shape() const {
    Dims dims(rank());
    for (int i = 0; i < rank(); ++i) dims[i] = dim(i);
    return dims;
  }
  template <class T>
  Span<std::conditional_t<kWritable, T, const T>> flat() const {
    const TF_DataType type = TF_TensorType(tensor.get());
    Require(type == kType<T>, "'", name, "' has data type ", type,
            ", and its kernel reads ", kType<T>);
    return {static_cast<T*>(TF_TensorData(tensor.get())),
            TF_TensorElementCount(tensor.get())};
  }
};
using Input = Tensor<false>;
using Output = Tensor<true>;

// A kernel's constructor takes this: attrs.get<float>("scale").
struct Attrs {
  TF_OpKernelConstruction* c;

  // A is int64_t, float, bool, TF_DataType, std::string, or a vector of
  // int64_t or float.
  template <class A>
  A get(const char* name) const {
    A value{};
    if constexpr (std::is_same_v<A, int64_t>) {
      Call(TF_OpKernelConstruction_GetAttrInt64, c, name, &value);
    } else if constexpr (std::is_same_v<A, float>) {
      Call(TF_OpKernelConstruction_GetAttrFloat, c, name, &value);
    } else if constexpr (std::is_same_v<A, TF_DataType>) {
      Call(TF_OpKernelConstruction_GetAttrType, c, name, &value);
    } else if constexpr (std::is_same_v<A, bool>) {
      TF_Bool byte = 0;
      Call(TF_OpKernelConstruction_GetAttrBool, c, name, &byte);
      value = byte;
    } else {
      int32_t count, bytes;  // -1: no list, no string
      Call(TF_OpKernelConstruction_GetAttrSize, c, name, &count, &bytes);
      value.resize(std::max({count, bytes, 0}));
      auto* const to = value.data();
      const int n = value.size();
      if constexpr (std::is_same_v<A, std::string>) {
        Call(TF_OpKernelConstruction_GetAttrString, c, name, to, n);
      } else if constexpr (std::is_same_v<A, std::vector<float>>) {
        Call(TF_OpKernelConstruction_GetAttrFloatList, c, name, to, n);
      } else {
        Call(TF_OpKernelConstruction_GetAttrInt64List, c, name, to, n);
      }
    }
    return value;
  }
};

// Compute takes this.
struct Context {
  TF_OpKernelContext* c;

  Input input(const char* name) const { return std::move(inputs(name)[0]); }
  std::vector<Input> inputs(const char* name) const {  // of a list, N * T
    const Status status(TF_NewStatus());
    TF_InputRange_Args range{TF_InputRange_Args_STRUCT_SIZE, nullptr, 0, 0,
                             status.get()};
    TF_InputRange(c, name, &range);
    Require(TF_GetCode(range.status) == TF_OK, TF_Message(range.status));
    std::vector<Input> found(range.stop - range.start);
    for (Input& each : found) {
      TF_Tensor* tensor = nullptr;
      Call(TF_GetInput, c, range.start++, &tensor);
      each.tensor.reset(tensor), each.name = name;
    }
    return found;
  }
  Output output(int i, const Dims& dims) const {
    Require(0 <= i && i < TF_NumOutputs(c), "there is no output ", i);
    const TF_DataType type = TF_ExpectedOutputDataType(c, i);
    const int64_t bytes = Bytes(type, dims);
    const int rank = dims.size();
    return {OwnedTensor(
                Call(TF_AllocateOutput, c, i, type, dims.data(), rank, bytes)),
            "output " + std::to_string(i)};
  }
  template <class T>
  Output scratch(const Dims& dims) const {  // memory until the end of its scope
    Bytes(kType<T>, dims);
    TF_AllocatorAttributes host{TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE, 1};
    const int rank = dims.size();
    return {OwnedTensor(
                Call(TF_AllocateTemp, c, kType<T>, dims.data(), rank, &host)),
            "scratch"};
  }
  // Throws where TensorFlow would end the process.
  static int64_t Bytes(TF_DataType type, const Dims& dims) {
    int64_t bytes = TF_DataTypeSize(type);
    bool fits = dims.size() < 255;
    for (int64_t d : dims) {
      fits = fits && d >= 0 && !__builtin_mul_overflow(bytes, d, &bytes);
    }
    Require(fits, "no tensor has the shape ", Text(dims));
    return bytes;
  }
};

// f(begin, end) for all of 0 to n, at least `grain` at once, on new threads:
// the C API has no pool. f may throw.
template <class F>
void Parallel(int64_t n, int64_t grain, F f) {
  static const int64_t cores = std::thread::hardware_concurrency();  // slow
  const int64_t wanted = n / std::max<int64_t>(grain, 1);
  const int64_t parts = std::max<int64_t>(1, std::min(wanted, cores));
  std::vector<std::future<void>> others;  // whose destructors wait
  for (int64_t i = 1; i < parts; ++i) {
    others.push_back(
        std::async(std::launch::async, f, n * i / parts, n * (i + 1) / parts));
  }
  f(int64_t{0}, n / parts);
  for (auto& other : others) other.get();
}

// A shape function takes this. A size that is not known is -1, and a shape of
// unknown rank has no value.
using Shape = std::optional<Dims>;
struct Shapes {
  TF_ShapeInferenceContext* c;

  Shape input(int i) const {
    const Handle handle(TF_NewShapeHandle());
    Call(TF_ShapeInferenceContextGetInput, c, i, handle.get());
    if (!TF_ShapeInferenceContextRankKnown(c, handle.get())) return {};
    const Owned<TF_DimensionHandle, TF_DeleteDimensionHandle> size(
        TF_NewDimensionHandle());
    Dims dims(TF_ShapeInferenceContextRank(c, handle.get()), -1);
    for (size_t d = 0; d < dims.size(); ++d) {
      TF_ShapeInferenceContextDim(c, handle.get(), d, size.get());
      if (!TF_DimensionHandleValueKnown(size.get())) continue;
      dims[d] = TF_DimensionHandleValue(size.get());
    }
    return dims;
  }
  void output(int i, const Shape& shape) const {
    if (!shape) return;  // then TensorFlow knows nothing of it
    Handle handle(TF_ShapeInferenceContextScalar(c));
    for (int64_t d : *shape) {
      const Handle one(TF_ShapeInferenceContextVectorFromSize(c, d));
      Handle both(TF_NewShapeHandle());
      Call(TF_ShapeInferenceContextConcatenateShapes, c, handle.get(),
           one.get(), both.get());
      handle = std::move(both);
    }
    Call(TF_ShapeInferenceContextSetOutput, c, i, handle.get());
  }

 private:
  using Handle = Owned<TF_ShapeHandle, TF_DeleteShapeHandle>;
};

// static const stable::Registration registration([] { ... });
struct Registration {
  explicit Registration(void (*f)()) {
    const Status status(TF_NewStatus());
    Guard(status.get(), f);
    if (TF_GetCode(status.get()) == TF_OK) return;
    std::fprintf(stderr, "stable_op.h: %s\n", TF_Message(status.get()));
  }
};

struct Op {
  TF_OpDefinitionBuilder* op;
  explicit Op(const char* name) : op(TF_NewOpDefinitionBuilder(name)) {}
  template <class F, class A>
  Op& With(F f, A value) {
    return f(op, value), *this;
  }
  Op& Input(const char* s) { return With(TF_OpDefinitionBuilderAddInput, s); }
  Op& Output(const char* s) { return With(TF_OpDefinitionBuilderAddOutput, s); }
  Op& Attr(const char* s) { return With(TF_OpDefinitionBuilderAddAttr, s); }
  template <class F>
  Op& ShapeFn(F f) {  // a lambda without captures
    static const F function = f;
    return With(
        TF_OpDefinitionBuilderSetShapeInferenceFunction,
        +[](TF_ShapeInferenceContext* c, TF_Status* status) {
          Guard(status, [c] { function(Shapes{c}); });
        });
  }
  void Register() { Call(TF_RegisterOpDefinition, op); }
};

// K has a constructor K(const Attrs&) and void Compute(const Context&) const.
template <class K>
struct Kernel {
  const char* op;
  TF_KernelBuilder* kernel = TF_NewKernelBuilder(op, "CPU", New, Run, Free);
  explicit Kernel(const char* name) : op(name) {}
  Kernel& Type(const char* attr, TF_DataType type) {
    Call(TF_KernelBuilder_TypeConstraint, kernel, attr, type);
    return *this;
  }
  void Register() { Call(TF_RegisterKernelBuilder, op, kernel); }

  static void* New(TF_OpKernelConstruction* c) {
    const Status status(TF_NewStatus());
    K* made = nullptr;
    Guard(status.get(), [&] { made = new K(Attrs{c}); });
    if (!made) TF_OpKernelConstruction_Failure(c, status.get());
    return made;
  }
  static void Run(void* kernel, TF_OpKernelContext* c) {
    const Status status(TF_NewStatus());
    Guard(status.get(), [&] { static_cast<K*>(kernel)->Compute(Context{c}); });
    if (TF_GetCode(status.get()) == TF_OK) return;
    TF_OpKernelContext_Failure(c, status.get());
  }
  static void Free(void* kernel) { delete static_cast<K*>(kernel); }
};

}  // namespace stable

#endif  // STABLE_OP_H_
