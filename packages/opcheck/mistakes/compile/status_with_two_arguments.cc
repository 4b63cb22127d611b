// [wrong]
absl::Status wrong(int rank) {
  return absl::InvalidArgumentError("x has rank ", rank);
}
// [cured]
absl::Status cured(int rank) {
  return absl::InvalidArgumentError(absl::StrCat("x has rank ", rank));
}
