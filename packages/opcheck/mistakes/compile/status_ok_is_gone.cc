// [wrong]
absl::Status wrong() { return tensorflow::Status::OK(); }
// [cured]
absl::Status cured() { return absl::OkStatus(); }
