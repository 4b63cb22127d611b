// [old] As the guide has it, six times, and -std=c++14. Neither compiles today.
#include "tensorflow/core/platform/status.h"

tensorflow::Status AllWell() { return tensorflow::Status::OK(); }
