// [ends] []
// [wrong]
void wrong() { REGISTER_OP("Relu").Input("x: float").Output("y: float"); }
// [cured]
void cured() {
  REGISTER_OP("YourProject>Relu").Input("x: float").Output("y: float");
}
// [call] print([name for name in dir(library) if "relu" in name])
