# [wrong]
cat > main.cc <<'END'
#include <vector>
int main() { return std::vector<int>(3).at(3); }
END
# [cured]
cat > main.cc <<'END'
#include <vector>
int main() { return std::vector<int>(3).at(2); }
END
# [both]
$CXX main.cc -o main
./main
