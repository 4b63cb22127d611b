// [wrong]
void wrong() {
  REGISTER_OP("YourNewOp")
      .Input("x: T")
      .Output("y: T")
      .Attr("T: {float, int32}");
  REGISTER_KERNEL_BUILDER(
      Name("YourNewOp").Device(DEVICE_CPU).TypeConstraint<float>("dtype"),
      YourKernel);
}
// [cured]
void cured() {
  REGISTER_OP("YourNewOp")
      .Input("x: T")
      .Output("y: T")
      .Attr("T: {float, int32}");
  REGISTER_KERNEL_BUILDER(
      Name("YourNewOp").Device(DEVICE_CPU).TypeConstraint<float>("T"),
      YourKernel);
}
// [call] library.your_new_op(tf.ones([3]))
