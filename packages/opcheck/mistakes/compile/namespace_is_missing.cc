// [wrong]
absl::Status shape(shape_inference::InferenceContext* c) {
  return absl::OkStatus();
}
// [cured]
absl::Status shape(tensorflow::shape_inference::InferenceContext* c) {
  return absl::OkStatus();
}
