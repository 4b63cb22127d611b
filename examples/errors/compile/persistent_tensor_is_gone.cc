// [wrong]
class WrongOp {
  tensorflow::PersistentTensor kept_;
};
// [cured]
class CuredOp {
  tensorflow::Tensor kept_;
};
