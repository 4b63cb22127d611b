// [wrong]
class WrongOp {
  tensorflow::PersistentTensor kept_;
};
// [cured]
class CuredOp {
  absl::Mutex mutex_;
  tensorflow::Tensor kept_ ABSL_GUARDED_BY(mutex_);
};
