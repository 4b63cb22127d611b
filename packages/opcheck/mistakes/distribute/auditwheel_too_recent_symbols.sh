# [needs] auditwheel
echo '#include <sys/random.h>' > op.cc
echo 'long f(void* to) { return getrandom(to, 8, 0); }  // of glibc 2.25' >> op.cc
mkdir your_op your_op-1.dist-info
$CXX -shared -fPIC op.cc -o your_op/libyour_op.so
tag=py3-none-linux_$(uname -m)
printf 'Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: %s\n' $tag > your_op-1.dist-info/WHEEL
printf 'Metadata-Version: 2.1\nName: your_op\nVersion: 1\n' > your_op-1.dist-info/METADATA
echo your_op/libyour_op.so,, > your_op-1.dist-info/RECORD
python -m zipfile -c your_op-1-$tag.whl your_op your_op-1.dist-info
# [wrong]
auditwheel repair --plat manylinux2014_$(uname -m) *.whl
# [cured]
auditwheel repair --plat auto *.whl
