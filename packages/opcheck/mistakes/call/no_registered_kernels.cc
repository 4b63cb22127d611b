// [wrong]
void wrong() { REGISTER_OP("YourNewOp").Input("x: float").Output("y: float"); }
// [cured]
void cured() {
  REGISTER_OP("YourNewOp").Input("x: float").Output("y: float");
  REGISTER_KERNEL_BUILDER(Name("YourNewOp").Device(DEVICE_CPU), YourKernel);
}
// [call] library.your_new_op(tf.ones([3]))
