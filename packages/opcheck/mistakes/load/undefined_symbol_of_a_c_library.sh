cat > op.cc <<'END'
#include <omp.h>
int threads() { return omp_get_max_threads(); }
END
# [wrong]
$CXX -shared -fPIC op.cc -o op.so
# [cured]
$CXX -shared -fPIC -fopenmp op.cc -o op.so
