// What the CPU and the GPU compute, and the launches on the GPU.

#ifndef SLIDING_MAX_H_
#define SLIDING_MAX_H_

#include <cstdint>

#ifdef __CUDACC__
#define HOST_AND_DEVICE __host__ __device__
#else
#define HOST_AND_DEVICE
#endif

namespace sliding_max {

struct Sizes {
  int64_t rows;
  int64_t n;        // elements of a row
  int64_t window;   // elements of a window
  int64_t windows;  // of a row
};

// NaN is greater than every number, as in NumPy.
template <typename T>
HOST_AND_DEVICE bool Greater(T a, T b) {
  return a > b || (a != a && b == b);
}

// The position of the first maximum of x[first, end).
template <typename T>
HOST_AND_DEVICE int64_t FirstMax(const T* x, int64_t first, int64_t end) {
  int64_t best = first;
  for (int64_t j = first + 1; j < end; ++j) {
    if (Greater(x[j], x[best])) best = j;
  }
  return best;
}

// Both start the work on the stream and return null, or the error's text.
template <typename T>
const char* Launch(void* stream, const T* x, Sizes sizes, T* y,
                   int64_t* position);
template <typename T>
const char* LaunchGrad(void* stream, const T* grad, const int64_t* position,
                       Sizes sizes, T* grad_of_x);

}  // namespace sliding_max

#endif  // SLIDING_MAX_H_
