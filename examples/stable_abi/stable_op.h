// stable_op.h: TensorFlow ops on the C kernel API alone, so that one binary
// serves many versions of TensorFlow. It needs C++17, TensorFlow's headers and
// no other file of the book's:
//   c++ -std=c++17 -O2 -fPIC -shared -fvisibility=hidden x.cc -o libx.so
//     -I$TF/include -L$TF -l:libtensorflow_framework.so.2 -pthread

#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"
#include "tensorflow/c/tf_tstring.h"  // TF_TString and its inline functions

namespace stable {

using Dims = std::vector<int64_t>;
inline std::ostream& operator<<(std::ostream& out, const Dims& dims) {
  for (size_t i = 0; i < dims.size(); ++i) out << (i ? "," : "[") << dims[i];
  return out << (dims.empty() ? "[]" : "]");
}

struct Error : std::runtime_error {
  TF_Code code;
  Error(TF_Code c, const std::string& text) : runtime_error(text), code(c) {}
};

// Require(n > 0, "'n' must be positive, got ", n) refuses bad input.
template <class... Parts>
void Require(bool ok, const Parts&... parts) {
  if (ok) return;
  std::ostringstream text;
  (text << ... << parts);
  throw Error(TF_INVALID_ARGUMENT, text.str());
}

template <class T, void (*kDelete)(T*)>
using Owned = std::unique_ptr<T, std::integral_constant<void (*)(T*), kDelete>>;
using Handle = Owned<TF_ShapeHandle, TF_DeleteShapeHandle>;

inline TF_Status* Set(TF_Code code, const char* message) {  // of this thread
  thread_local const Owned<TF_Status, TF_DeleteStatus> s(TF_NewStatus());
  TF_SetStatus(s.get(), code, message);
  return s.get();
}

// TF_GetInput(c, 0, &tensor, Check()) throws what the call reports. The
// destructor may throw: a Check lives for one call of C, which throws nothing.
struct Check {
  TF_Status* const s = Set(TF_OK, "");
  ~Check() noexcept(false) {
    if (TF_GetCode(s) != TF_OK) throw Error(TF_GetCode(s), TF_Message(s));
  }
  operator TF_Status*() const { return s; }
};

// Calls f, and fail with what f throws: no exception leaves the library.
template <class F, class Fail>
void Try(F f, Fail fail) try {
  f();
} catch (const Error& error) {
  fail(error.code, error.what());
} catch (const std::bad_alloc&) {
  fail(TF_RESOURCE_EXHAUSTED, "out of memory");
} catch (const std::exception& error) {
  fail(TF_INTERNAL, error.what());
} catch (...) {
  fail(TF_INTERNAL, "unknown exception");
}

// kType<float> is TF_FLOAT. For half and bfloat16: stable_float16.h.
constexpr TF_DataType TypeOf(const float*) { return TF_FLOAT; }
constexpr TF_DataType TypeOf(const double*) { return TF_DOUBLE; }
constexpr TF_DataType TypeOf(const int8_t*) { return TF_INT8; }
constexpr TF_DataType TypeOf(const int16_t*) { return TF_INT16; }
constexpr TF_DataType TypeOf(const int32_t*) { return TF_INT32; }
constexpr TF_DataType TypeOf(const int64_t*) { return TF_INT64; }
constexpr TF_DataType TypeOf(const uint8_t*) { return TF_UINT8; }
constexpr TF_DataType TypeOf(const uint16_t*) { return TF_UINT16; }
constexpr TF_DataType TypeOf(const uint32_t*) { return TF_UINT32; }
constexpr TF_DataType TypeOf(const uint64_t*) { return TF_UINT64; }
constexpr TF_DataType TypeOf(const bool*) { return TF_BOOL; }
constexpr TF_DataType TypeOf(const TF_TString*) { return TF_STRING; }
template <class T>
inline constexpr TF_DataType kType = TypeOf(static_cast<T*>(nullptr));

// x[0] to x[x.size - 1], row by row; the memory is TensorFlow's.
template <class T>
struct Tensor {
  Owned<TF_Tensor, TF_DeleteTensor> tensor;
  T* data = static_cast<T*>(TF_TensorData(tensor.get()));
  int64_t size = TF_TensorElementCount(tensor.get());
  Tensor(TF_Tensor* t, const char* name, int i) : tensor(t) {
    Require(TF_TensorType(t) == kType<T>, name, i, " has data type ",
            TF_TensorType(t), ", and its kernel takes ", kType<T>);
  }
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
    std::conditional_t<std::is_same_v<A, bool>, TF_Bool, A> v{};
    int32_t n, size;  // -1: no list, no string
    TF_OpKernelConstruction_GetAttrSize(c, name, &n, &size, Check());
    if constexpr (std::is_class_v<A>) v.resize(std::max({n, size, 0}));
    if constexpr (std::is_same_v<A, int64_t>) {
      TF_OpKernelConstruction_GetAttrInt64(c, name, &v, Check());
    } else if constexpr (std::is_same_v<A, float>) {
      TF_OpKernelConstruction_GetAttrFloat(c, name, &v, Check());
    } else if constexpr (std::is_same_v<A, bool>) {
      TF_OpKernelConstruction_GetAttrBool(c, name, &v, Check());
    } else if constexpr (std::is_same_v<A, std::string>) {
      TF_OpKernelConstruction_GetAttrString(c, name, v.data(), size, Check());
    } else {
      TF_OpKernelConstruction_GetAttrInt64List(c, name, v.data(), n, Check());
    }
    return v;
  }
};

// Of other shapes TensorFlow would end the process.
inline const int64_t* Checked(const Dims& dims) {
  int64_t n = 1;
  bool fits = dims.size() < 255;
  for (int64_t d : dims) fits &= d >= 0 && !__builtin_mul_overflow(n, d, &n);
  Require(fits, "no tensor has the shape ", dims);
  return dims.data();
}

// Compute takes this. Each tensor of a list is an input of its own.
struct Context {
  TF_OpKernelContext* c;
  template <class T>
  Tensor<const T> input(int i) const {
    TF_Tensor* x = nullptr;
    TF_GetInput(c, i, &x, Check());
    return {x, "input ", i};
  }
  template <class T>
  Tensor<T> output(int i, const Dims& dims) const {
    Require(0 <= i && i < TF_NumOutputs(c), "there is no output ", i);
    TF_Tensor* const y = TF_AllocateOutput(c, i, kType<T>, Checked(dims),
                                           dims.size(), 0, Check());
    return {y, "output ", i};
  }
  template <class T>
  Tensor<T> scratch(const Dims& dims) const {  // until the end of its scope
    TF_Tensor* const z = TF_AllocateTemp(c, kType<T>, Checked(dims),
                                         dims.size(), nullptr, Check());
    return {z, "scratch ", 0};
  }
};

// A shape function takes this. A size that is not known is -1.
using Shape = std::optional<Dims>;  // of unknown rank: no value
struct Shapes {
  TF_ShapeInferenceContext* c;
  Shape input(int i) const {
    const Handle handle(TF_NewShapeHandle());
    TF_ShapeInferenceContextGetInput(c, i, handle.get(), Check());
    if (!TF_ShapeInferenceContextRankKnown(c, handle.get())) return {};
    const Owned<TF_DimensionHandle, TF_DeleteDimensionHandle> size(
        TF_NewDimensionHandle());
    Dims dims(TF_ShapeInferenceContextRank(c, handle.get()));
    for (size_t d = 0; d < dims.size(); ++d) {
      TF_ShapeInferenceContextDim(c, handle.get(), d, size.get());
      dims[d] = TF_DimensionHandleValue(size.get());
    }
    return dims;
  }
  void output(int i, const Shape& shape) const {
    if (!shape) return;  // then TensorFlow knows nothing of it
    const Handle all(TF_ShapeInferenceContextScalar(c));
    for (int64_t d : *shape) {
      Require(d >= -1, "output ", i, " cannot have the shape ", *shape);
      const Handle one(TF_ShapeInferenceContextVectorFromSize(c, d));
      TF_ShapeInferenceContextConcatenateShapes(c, all.get(), one.get(),
                                                all.get(), Check());
    }
    TF_ShapeInferenceContextSetOutput(c, i, all.get(), Check());
  }
};

// Adds to a shape what another knows of it; false if they differ.
inline bool Merge(Shape from, Shape* into) {
  if (!from) return true;
  if (!*into) *into = from;
  Dims &a = *from, &b = **into;
  for (size_t d = 0; d < std::min(a.size(), b.size()); ++d) {
    if (a[d] < 0) a[d] = b[d];
    if (b[d] < 0) b[d] = a[d];
  }
  return a == b;
}

// Makes tf.load_op_library fail with the error, by a name that no op can have:
// an exception would leave dlopen locked, and the next load would hang.
inline void Refuse(const std::string& registration, const char* error) {
  const std::string name = registration + ": " + error;
  TF_RegisterOpDefinition(TF_NewOpDefinitionBuilder(name.c_str()),
                          Set(TF_OK, ""));
}

// RegisterOp<ShapeFn>("Op", {"x: T"}, {"y: T"}, {"T: {float, double}"})
using Texts = std::initializer_list<const char*>;
template <void (*kShape)(Shapes)>
void RegisterOp(const char* name, Texts in, Texts out, Texts attrs = {}) {
  TF_OpDefinitionBuilder* const op = TF_NewOpDefinitionBuilder(name);
  for (const char* each : in) TF_OpDefinitionBuilderAddInput(op, each);
  for (const char* each : out) TF_OpDefinitionBuilderAddOutput(op, each);
  for (const char* each : attrs) TF_OpDefinitionBuilderAddAttr(op, each);
  TF_OpDefinitionBuilderSetShapeInferenceFunction(
      op, [](TF_ShapeInferenceContext* c, TF_Status* s) {
        Try([c] { kShape({c}); }, [s](auto... e) { TF_SetStatus(s, e...); });
      });
  TF_RegisterOpDefinition(op, Set(TF_OK, ""));  // load_op_library tells
}

// RegisterKernel<K>("Op", {{"T", kType<float>}}): K(attrs) and Compute(context)
using Types = std::initializer_list<std::pair<const char*, TF_DataType>>;
template <class K>
void RegisterKernel(const char* op, Types types = {}) {
  TF_KernelBuilder* const builder = TF_NewKernelBuilder(
      op, "CPU",
      [](TF_OpKernelConstruction* c) -> void* {
        K* kernel = nullptr;
        Try([&] { kernel = new K(Attrs{c}); },
            [c](auto... e) { TF_OpKernelConstruction_Failure(c, Set(e...)); });
        return kernel;
      },
      [](void* kernel, TF_OpKernelContext* c) {
        Try([&] { static_cast<K*>(kernel)->Compute(Context{c}); },
            [c](auto... e) { TF_OpKernelContext_Failure(c, Set(e...)); });
      },
      [](void* kernel) { delete static_cast<K*>(kernel); });
  Try(
      [&] {
        for (const auto& [attr, type] : types)
          TF_KernelBuilder_TypeConstraint(builder, attr, type, Check());
        TF_RegisterKernelBuilder(op, builder, Check());
      },
      [op](TF_Code, const char* e) { Refuse(op, e); });
}

}  // namespace stable
