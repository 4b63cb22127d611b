// [wrong]
void wrong() {
  REGISTER_OP("your_new_op").Input("x: float").Output("y: float");
}
// [cured]
void cured() { REGISTER_OP("YourNewOp").Input("x: float").Output("y: float"); }
