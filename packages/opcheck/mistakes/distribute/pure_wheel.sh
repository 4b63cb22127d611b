# [needs] auditwheel
echo 'void f() {}' > op.cc
mkdir your_op your_op-1.dist-info
tag=py3-none-linux_$(uname -m)
printf 'Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: %s\n' $tag > your_op-1.dist-info/WHEEL
printf 'Metadata-Version: 2.1\nName: your_op\nVersion: 1\n' > your_op-1.dist-info/METADATA
# [wrong]
touch your_op/__init__.py
# [cured]
$CXX -shared -fPIC op.cc -o your_op/libyour_op.so
# [both]
printf '%s,,\n' your_op/* > your_op-1.dist-info/RECORD
python -m zipfile -c your_op-1-$tag.whl your_op your_op-1.dist-info
auditwheel repair *.whl
