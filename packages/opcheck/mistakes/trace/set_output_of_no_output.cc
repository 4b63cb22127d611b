// [ends] timeout
// [wrong]
absl::Status wrong(InferenceContext* c) {
  c->set_output(1, c->input(0));
  return absl::OkStatus();
}
// [cured]
absl::Status cured(InferenceContext* c) {
  c->set_output(0, c->input(0));
  return absl::OkStatus();
}
// [call] tf.function(your_op)(tf.ones([2, 3]))
