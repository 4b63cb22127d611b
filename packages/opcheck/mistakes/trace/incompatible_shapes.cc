// clang-format off
// [call] tf.function(lambda x: your_op(x) + tf.ones(your_op(x).shape))(tf.ones([2, 3]))
// clang-format on
// [wrong]
absl::Status wrong(InferenceContext* c) {
  c->set_output(0, c->MakeShape({2, 5}));
  return absl::OkStatus();
}
// [cured]
absl::Status cured(InferenceContext* c) {
  c->set_output(0, c->input(0));
  return absl::OkStatus();
}
