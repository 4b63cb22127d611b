// [wrong]
void wrong() { REGISTER_OP("YourNewOp").Input("x: float").Output("x: float"); }
// [cured]
void cured() { REGISTER_OP("YourNewOp").Input("x: float").Output("y: float"); }
