// [wrong]
std::string wrong(const absl::Status& status) { return status.error_message(); }
// [cured]
std::string cured(const absl::Status& status) {
  return std::string(status.message());
}
