// [wrong]
void wrong() {
  REGISTER_OP("YourNewOp").Output("y: float").Attr("size: integer");
}
// [cured]
void cured() { REGISTER_OP("YourNewOp").Output("y: float").Attr("size: int"); }
