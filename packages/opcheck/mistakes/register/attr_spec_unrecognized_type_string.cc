// [wrong]
void wrong() {
  REGISTER_OP("YourNewOp").Output("y: float").Attr("mode: {near, far}");
}
// [cured]
void cured() {
  REGISTER_OP("YourNewOp").Output("y: float").Attr("mode: {'near', 'far'}");
}
