"""Generated calls: `python -m opcheck fuzz examples/cpu/cpu_fuzz.py`."""

import numpy as np
from cpu import manhattan_distances
from cpu_reference import manhattan_distances_reference
from hypothesis import strategies as st

from opcheck.strategies import mostly, shapes, tensors


@st.composite
def pairs(draw):
    """Two matrices, most often with as many columns, about as many rows as a panel has."""
    size = draw(st.integers(0, 5))
    rows = st.integers(0, 70)
    fitting = st.tuples(rows, st.just(size))
    return [
        draw(tensors("float32", draw(mostly(fitting, shapes())))) for _ in range(2)
    ], {}


def quiet(points, centers):
    """Without NumPy's warnings of what overflows."""
    with np.errstate(all="ignore"):
        return manhattan_distances_reference(points, centers)


FUZZ = {"ManhattanDistances": (manhattan_distances, pairs(), quiet)}
