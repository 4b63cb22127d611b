// Errors that name the file that they are about.

#ifndef OP_BY_OP_EXAMPLES_DATASET_FILE_ERROR_H_
#define OP_BY_OP_EXAMPLES_DATASET_FILE_ERROR_H_

#include <string>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace op_by_op {

// Puts the name before the message. Both may be any bytes, but Python takes
// messages as UTF-8.
inline absl::Status OfFile(absl::string_view name, const absl::Status& status) {
  if (status.ok()) return status;
  const std::string message =
      absl::StrCat("filename ", name, ": ", status.message());
  const bool plain = absl::c_all_of(message, absl::ascii_isascii);
  return absl::Status(status.code(),
                      plain ? message : absl::CHexEscape(message));
}

}  // namespace op_by_op

#endif  // OP_BY_OP_EXAMPLES_DATASET_FILE_ERROR_H_
