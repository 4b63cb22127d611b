// [ends] shape=(3,)
// [wrong]
absl::Status wrong(InferenceContext* c) {
  ShapeHandle matrix;
  TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 2, &matrix));
  c->set_output(0, matrix);
  return absl::OkStatus();
}
// [call] print(your_op(tf.ones([3])))
