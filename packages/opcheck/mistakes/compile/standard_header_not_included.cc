// [wrong]
#include <string>
bool wrong(const std::string& name) {
  return std::regex_match(name, std::regex("[a-z]+"));
}
// [cured]
#include <regex>
bool cured(const std::string& name) {
  return std::regex_match(name, std::regex("[a-z]+"));
}
