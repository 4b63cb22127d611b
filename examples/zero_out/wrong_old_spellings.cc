// [old] The guide's absl::OkStatus(), six times, and -std=c++14. Both fail.
#include "tensorflow/core/platform/status.h"

tensorflow::Status AllWell() { return tensorflow::Status::OK(); }
