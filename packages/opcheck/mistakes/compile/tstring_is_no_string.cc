// [wrong]
std::string& wrong(tensorflow::tstring& text) { return text; }
// [cured]
tensorflow::tstring& cured(tensorflow::tstring& text) { return text; }
