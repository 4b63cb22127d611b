// [wrong]
absl::Status wrong(InferenceContext* c) {
  DimensionHandle size;
  TF_RETURN_IF_ERROR(
      c->Merge(c->Dim(c->input(0), 0), c->Dim(c->input(0), 1), &size));
  c->set_output(0, c->Matrix(size, size));
  return absl::OkStatus();
}
// [call] tf.function(your_op)(tf.ones([2, 3]))
// [cured_call] tf.function(your_op)(tf.ones([3, 3]))
