echo 'void f() {}' > op.cc
# [wrong]
$CXX -fsyntax-only -mfpu=neon op.cc
# [cured]
$CXX -fsyntax-only op.cc
