// [wrong]
void wrong() { REGISTER_OP("YourNewOp").Input("x: T").Output("y: T"); }
// [cured]
void cured() {
  REGISTER_OP("YourNewOp")
      .Input("x: T")
      .Output("y: T")
      .Attr("T: {float, int32}");
}
