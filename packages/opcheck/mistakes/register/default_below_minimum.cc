// [wrong]
void wrong() {
  REGISTER_OP("YourNewOp").Output("y: float").Attr("size: int >= 5 = 2");
}
// [cured]
void cured() {
  REGISTER_OP("YourNewOp").Output("y: float").Attr("size: int >= 5 = 7");
}
