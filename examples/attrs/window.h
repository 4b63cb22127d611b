// The checks of a window that an interface cannot express.

#ifndef OP_BY_OP_EXAMPLES_ATTRS_WINDOW_H_
#define OP_BY_OP_EXAMPLES_ATTRS_WINDOW_H_

#include <cstdint>

#include "absl/status/status.h"

namespace op_by_op {

absl::Status CheckOdd(int64_t window);
absl::Status CheckFits(int64_t window, int64_t length);

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_ATTRS_WINDOW_H_
