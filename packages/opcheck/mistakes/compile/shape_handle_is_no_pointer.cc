// [wrong]
void wrong(tensorflow::shape_inference::InferenceContext* c) {
  const tensorflow::shape_inference::Shape* shape = c->input(0);
}
// [cured]
void cured(tensorflow::shape_inference::InferenceContext* c) {
  tensorflow::shape_inference::ShapeHandle shape = c->input(0);
}
