// [ends] SIGSEGV
// [wrong]
absl::Status wrong(InferenceContext* c) {
  c->set_output(0, c->Vector(c->Dim(c->input(0), 0)));
  return absl::OkStatus();
}
// [cured]
absl::Status cured(InferenceContext* c) {
  ShapeHandle x;
  TF_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &x));
  c->set_output(0, c->Vector(c->Dim(x, 0)));
  return absl::OkStatus();
}
// [call] tf.function(your_op)(1.0)
