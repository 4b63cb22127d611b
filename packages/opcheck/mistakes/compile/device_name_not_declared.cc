// [wrong]
const char* wrong() { return DEVICE_CPU; }
// [cured]
const char* cured() { return tensorflow::DEVICE_CPU; }
