// [wrong]
void wrong() { REGISTER_OP("YourNewOp").Input("X: float").Output("y: float"); }
// [cured]
void cured() { REGISTER_OP("YourNewOp").Input("x: float").Output("y: float"); }
