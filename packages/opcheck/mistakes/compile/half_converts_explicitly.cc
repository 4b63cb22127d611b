// [wrong]
Eigen::half wrong(float x) {
  Eigen::half y = x;
  return y;
}
// [cured]
Eigen::half cured(float x) {
  Eigen::half y(x);
  return y;
}
