// An error with what is said of it.

#ifndef TESTS_SEALED_INVALID_H_
#define TESTS_SEALED_INVALID_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

#endif  // TESTS_SEALED_INVALID_H_
