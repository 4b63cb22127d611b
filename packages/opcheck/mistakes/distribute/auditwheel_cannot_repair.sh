# [needs] auditwheel
echo 'extern "C" void* TF_NewStatus(); void* f() { return TF_NewStatus(); }' > op.cc
mkdir your_op your_op-1.dist-info
$CXX -shared -fPIC op.cc -o your_op/libyour_op.so $LFLAGS
tag=py3-none-linux_$(uname -m)
printf 'Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: %s\n' $tag > your_op-1.dist-info/WHEEL
printf 'Metadata-Version: 2.1\nName: your_op\nVersion: 1\n' > your_op-1.dist-info/METADATA
echo your_op/libyour_op.so,, > your_op-1.dist-info/RECORD
python -m zipfile -c your_op-1-$tag.whl your_op your_op-1.dist-info
# [wrong]
auditwheel repair *.whl
# [cured]
auditwheel repair --exclude libtensorflow_framework.so.2 *.whl
