pack() {
  mkdir -p your_op your_op-1.dist-info
  touch your_op/__init__.py
  printf 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: %s\n' "$1" > your_op-1.dist-info/WHEEL
  printf 'Metadata-Version: 2.1\nName: your_op\nVersion: 1\n' > your_op-1.dist-info/METADATA
  echo your_op/__init__.py,, > your_op-1.dist-info/RECORD
  python -m zipfile -c your_op-1-"$1".whl your_op your_op-1.dist-info
}
# [wrong]
pack cp27-cp27mu-manylinux1_x86_64
python -m pip install --target here --no-index ./*.whl
# [cured]
pack py3-none-any
python -m pip install --target here --no-index ./*.whl
