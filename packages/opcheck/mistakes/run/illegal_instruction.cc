// [ends] SIGILL
// [wrong]
void wrong(OpKernelContext* ctx) { __builtin_trap(); }
