// [wrong]
void wrong(perftools::gputools::Stream* stream);
// [cured]
void cured(stream_executor::Stream* stream);
