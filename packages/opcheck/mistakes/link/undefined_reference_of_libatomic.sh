cat > main.cc <<'END'
#include <atomic>
struct Pair { long first, second; };
std::atomic<Pair> pair;
int main() { return pair.load().first; }
END
# [wrong]
$CXX main.cc -o main
# [cured]
$CXX main.cc -o main -latomic
