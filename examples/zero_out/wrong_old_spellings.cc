// [old] How older code says that all went well. It no longer compiles.
#include "tensorflow/core/platform/status.h"

tensorflow::Status AllWell() { return tensorflow::Status::OK(); }
