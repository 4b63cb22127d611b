// [wrong]
absl::Status wrong(shape_inference::InferenceContext* c) {
  return absl::OkStatus();
}
// [cured]
absl::Status cured(tensorflow::shape_inference::InferenceContext* c) {
  return absl::OkStatus();
}
