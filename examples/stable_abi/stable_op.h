// stable_op.h: TensorFlow ops on the C kernel API alone, so that one binary
// serves many versions of TensorFlow. It needs C++17 and no other file:
//   c++ -std=c++17 -O2 -fPIC -shared -fvisibility=hidden x.cc -o libx.so
//     -I$TF/include -L$TF -l:libtensorflow_framework.so.2 -pthread
// Errors are exceptions that never leave the library: each callback catches
// what is thrown and hands TensorFlow a status.

#ifndef STABLE_OP_H_
#define STABLE_OP_H_

#include <algorithm>
#include <exception>
#include <future>
#include <initializer_list>
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

template <class T, void (*kDelete)(T*)>
using Owned = std::unique_ptr<T, std::integral_constant<void (*)(T*), kDelete>>;
using Status = Owned<TF_Status, TF_DeleteStatus>;

// Calls f, and fail with a status of what f throws.
template <class F, class Fail>
void Guard(F f, Fail fail) {
  const Status status(TF_NewStatus());
  try {
    return f();
  } catch (const Error& error) {
    TF_SetStatus(status.get(), error.code, error.what());
  } catch (const std::bad_alloc&) {
    TF_SetStatus(status.get(), TF_RESOURCE_EXHAUSTED, "out of memory");
  } catch (const std::exception& error) {
    TF_SetStatus(status.get(), TF_INTERNAL, error.what());
  } catch (...) {
    TF_SetStatus(status.get(), TF_INTERNAL, "unknown exception");
  }
  fail(status.get());
}

// TF_GetInput(c, 0, &tensor, Check()) throws what the call reports.
struct Check {
  Check() { TF_SetStatus(status.get(), TF_OK, ""); }
  ~Check() noexcept(false) {
    const TF_Code code = TF_GetCode(status.get());
    if (code != TF_OK) throw Error(code, TF_Message(status.get()));
  }
  operator TF_Status*() const { return status.get(); }
  inline static thread_local const Status status{TF_NewStatus()};
};

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

using Dims = std::vector<int64_t>;
inline std::string Text(const Dims& dims) {
  std::string text;
  for (int64_t d : dims) text += (text.empty() ? "" : ",") + std::to_string(d);
  return "[" + text + "]";
}

using OwnedTensor = Owned<TF_Tensor, TF_DeleteTensor>;
// x[0] to x[x.size - 1], row by row; the memory is TensorFlow's.
template <class T>
struct Tensor {
  OwnedTensor tensor;
  T* data = static_cast<T*>(TF_TensorData(tensor.get()));
  int64_t size = TF_TensorElementCount(tensor.get());

  T* begin() const { return data; }
  T* end() const { return data + size; }
  T& operator[](int64_t i) const { return data[i]; }
  Dims shape() const {
    Dims dims(TF_NumDims(tensor.get()));
    for (size_t i = 0; i < dims.size(); ++i) dims[i] = TF_Dim(tensor.get(), i);
    return dims;
  }
};

// A kernel's constructor takes this: attrs.get<float>("scale").
struct Attrs {
  TF_OpKernelConstruction* c;

  // A is int64_t, float, bool, std::string or std::vector<int64_t>.
  template <class A>
  A get(const char* name) const {
    A value{};
    if constexpr (std::is_same_v<A, int64_t>) {
      TF_OpKernelConstruction_GetAttrInt64(c, name, &value, Check());
    } else if constexpr (std::is_same_v<A, float>) {
      TF_OpKernelConstruction_GetAttrFloat(c, name, &value, Check());
    } else if constexpr (std::is_same_v<A, bool>) {
      TF_Bool byte = 0;
      TF_OpKernelConstruction_GetAttrBool(c, name, &byte, Check());
      value = byte;
    } else {
      int32_t count, bytes;  // -1: no list, no string
      TF_OpKernelConstruction_GetAttrSize(c, name, &count, &bytes, Check());
      value.resize(std::max({count, bytes, 0}));
      auto* const to = value.data();
      const int n = value.size();
      if constexpr (std::is_same_v<A, std::string>) {
        TF_OpKernelConstruction_GetAttrString(c, name, to, n, Check());
      } else {
        TF_OpKernelConstruction_GetAttrInt64List(c, name, to, n, Check());
      }
    }
    return value;
  }
};

// Compute takes this. Each tensor of a list is an input of its own.
struct Context {
  TF_OpKernelContext* c;

  template <class T>
  Tensor<const T> input(int i) const {
    TF_Tensor* x = nullptr;
    TF_GetInput(c, i, &x, Check());
    OwnedTensor owned(x);
    RequireType<T>("input ", i, TF_TensorType(x));
    return {std::move(owned)};
  }
  template <class T>
  Tensor<T> output(int i, const Dims& dims) const {
    Require(0 <= i && i < TF_NumOutputs(c), "there is no output ", i);
    const TF_DataType type = TF_ExpectedOutputDataType(c, i);
    RequireType<T>("output ", i, type);
    RequireSize(dims);
    OwnedTensor owned(
        TF_AllocateOutput(c, i, type, dims.data(), dims.size(), 0, Check()));
    return {std::move(owned)};
  }
  template <class T>
  Tensor<T> scratch(const Dims& dims) const {  // until the end of its scope
    RequireSize(dims);
    TF_AllocatorAttributes host{TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE, 1};
    OwnedTensor owned(
        TF_AllocateTemp(c, kType<T>, dims.data(), dims.size(), &host, Check()));
    return {std::move(owned)};
  }

 private:
  template <class T>
  static void RequireType(const char* what, int i, TF_DataType type) {
    Require(type == kType<T>, what, i, " has data type ", type,
            ", and its kernel takes ", kType<T>);
  }
  // Of other shapes TensorFlow would end the process.
  static void RequireSize(const Dims& dims) {
    int64_t size = 1;
    bool fits = dims.size() < 255;
    for (int64_t d : dims) {
      fits = fits && d >= 0 && !__builtin_mul_overflow(size, d, &size);
    }
    Require(fits, "no tensor has the shape ", Text(dims));
  }
};

// f(begin, end) for all of 0 to n, at least `grain` at once, on new threads:
// the C API has no pool. f may throw.
template <class F>
void Parallel(int64_t n, int64_t grain, F f) {
  static const int64_t cores = std::thread::hardware_concurrency();  // slow
  const int64_t wanted = std::min(n / std::max<int64_t>(grain, 1), cores);
  const int64_t parts = std::max<int64_t>(wanted, 1);
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
    TF_ShapeInferenceContextGetInput(c, i, handle.get(), Check());
    if (!TF_ShapeInferenceContextRankKnown(c, handle.get())) return {};
    const Owned<TF_DimensionHandle, TF_DeleteDimensionHandle> size(
        TF_NewDimensionHandle());
    Dims dims(TF_ShapeInferenceContextRank(c, handle.get()), -1);
    for (size_t d = 0; d < dims.size(); ++d) {
      TF_ShapeInferenceContextDim(c, handle.get(), d, size.get());
      if (TF_DimensionHandleValueKnown(size.get()))
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
      TF_ShapeInferenceContextConcatenateShapes(c, handle.get(), one.get(),
                                                both.get(), Check());
      handle = std::move(both);
    }
    TF_ShapeInferenceContextSetOutput(c, i, handle.get(), Check());
  }

 private:
  using Handle = Owned<TF_ShapeHandle, TF_DeleteShapeHandle>;
};

// RegisterOp<ShapeFn>("Op", {"x: T"}, {"y: T"}, {"T: {float, double}"})
using Texts = std::initializer_list<const char*>;
template <void (*kShape)(Shapes)>
void RegisterOp(const char* name, Texts inputs, Texts outputs,
                Texts attrs = {}) {
  TF_OpDefinitionBuilder* const op = TF_NewOpDefinitionBuilder(name);
  for (const char* each : inputs) TF_OpDefinitionBuilderAddInput(op, each);
  for (const char* each : outputs) TF_OpDefinitionBuilderAddOutput(op, each);
  for (const char* each : attrs) TF_OpDefinitionBuilderAddAttr(op, each);
  TF_OpDefinitionBuilderSetShapeInferenceFunction(
      op, [](TF_ShapeInferenceContext* c, TF_Status* status) {
        Guard([c] { kShape(Shapes{c}); },
              [status](TF_Status* s) {
                TF_SetStatus(status, TF_GetCode(s), TF_Message(s));
              });
      });
  TF_RegisterOpDefinition(op, Check());
}

// RegisterKernel<K>("Op", {{"T", kType<float>}}): K has a constructor
// K(const Attrs&) and void Compute(const Context&) const.
template <class K>
void RegisterKernel(
    const char* op,
    std::initializer_list<std::pair<const char*, TF_DataType>> types = {}) {
  TF_KernelBuilder* const builder = TF_NewKernelBuilder(
      op, "CPU",
      [](TF_OpKernelConstruction* c) -> void* {
        K* kernel = nullptr;
        Guard([&] { kernel = new K(Attrs{c}); },
              [c](TF_Status* s) { TF_OpKernelConstruction_Failure(c, s); });
        return kernel;
      },
      [](void* kernel, TF_OpKernelContext* c) {
        Guard([&] { static_cast<K*>(kernel)->Compute(Context{c}); },
              [c](TF_Status* s) { TF_OpKernelContext_Failure(c, s); });
      },
      [](void* kernel) { delete static_cast<K*>(kernel); });
  for (const auto& [attr, type] : types) {
    TF_KernelBuilder_TypeConstraint(builder, attr, type, Check());
  }
  TF_RegisterKernelBuilder(op, builder, Check());
}

}  // namespace stable

#endif  // STABLE_OP_H_
