"""Generated calls: `python -m opcheck fuzz examples/sketch/sketch_fuzz.py`."""

from hypothesis import strategies as st
from sketch import count_hashes
from sketch_reference import count_hashes_reference

from opcheck.strategies import calls, mostly, tensors

PRECISION = mostly(st.integers(4, 8), st.integers(-1, 20))
COUNTED = (
    count_hashes,
    calls(tensors("uint64"), precision=PRECISION),
    count_hashes_reference,
)
FUZZ = {
    "SketchHashes": COUNTED,
    "CountSketch": COUNTED,
    "SketchRegisters": "takes a sketch: sketch_test.py compares the registers",
    "MakeLargest": "makes an object, for LargestValue",
    "LargestValue": "needs an object",
}
