// [wrong]
absl::Status wrong() {
  return absl::Status(tensorflow::error::INVALID_ARGUMENT, "x is empty");
}
// [cured]
absl::Status cured() { return absl::InvalidArgumentError("x is empty"); }
