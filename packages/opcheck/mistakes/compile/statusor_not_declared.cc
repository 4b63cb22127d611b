// [wrong]
StatusOr<int> wrong();
// [cured]
absl::StatusOr<int> cured();
