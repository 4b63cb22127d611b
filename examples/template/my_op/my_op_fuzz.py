"""Generated calls: `python -m opcheck fuzz examples/my_op/my_op_fuzz.py`."""

import numpy as np
from hypothesis import strategies as st
from my_op import my_op
from my_op_reference import my_op_reference

from opcheck.strategies import calls, tensors


def reference(x):
    with np.errstate(all="ignore"):  # numbers that are too large
        return my_op_reference(x)


FUZZ = {
    "MyOp": (my_op, calls(tensors(st.sampled_from(["float32", "float64"]))), reference)
}
