// [wrong]
void wrong() {
  REGISTER_OP("YourNewOp").Output("y: float").Attr("lambda: float = 1");
}
// [cured]
void cured() {
  REGISTER_OP("YourNewOp").Output("y: float").Attr("scale: float = 1");
}
