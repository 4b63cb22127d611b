// [wrong]
void wrong() {
  REGISTER_OP("YourNewOp").Output("y: float").Attr("size: int = 1.5");
}
// [cured]
void cured() {
  REGISTER_OP("YourNewOp").Output("y: float").Attr("size: float = 1.5");
}
