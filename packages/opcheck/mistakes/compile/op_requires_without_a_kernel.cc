// [wrong]
REGISTER_OP("YourOp")
    .Input("x: float")
    .Output("y: float")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* c) {
      OP_REQUIRES(c, c->RankKnown(c->input(0)),
                  absl::InvalidArgumentError("x must have a known rank"));
      c->set_output(0, c->input(0));
      return absl::OkStatus();
    });
// [cured]
REGISTER_OP("YourOp")
    .Input("x: float")
    .Output("y: float")
    .SetShapeFn([](tensorflow::shape_inference::InferenceContext* c) {
      if (!c->RankKnown(c->input(0))) {
        return absl::InvalidArgumentError("x must have a known rank");
      }
      c->set_output(0, c->input(0));
      return absl::OkStatus();
    });
