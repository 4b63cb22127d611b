// [needs] TensorFlow 2.22
// [wrong]
bool wrong(const absl::Status& status) {
  return tensorflow::errors::IsNotFound(status);
}
// [cured]
bool cured(const absl::Status& status) { return absl::IsNotFound(status); }
