"""Generated calls: `python -m opcheck fuzz examples/eigen/eigen_fuzz.py`."""

import numpy as np
from eigen import standardize
from eigen_reference import standardize_reference
from hypothesis import strategies as st

from opcheck.strategies import calls, mostly, shapes, tensors


def near(reference):
    """Without numbers so large, small or few that the order of the additions decides."""

    def checked(x, **attrs):
        if x.ndim == 2 and (x.size == 0 or not np.isfinite(x).all()):
            raise NotImplementedError("no mean")
        return reference(x, **attrs)

    return checked


MATRICES = mostly(st.tuples(st.integers(0, 9), st.integers(1, 40)), shapes())
FUZZ = {
    "Standardize": (
        standardize,
        calls(
            tensors(
                st.sampled_from(["float32", "float64"]), MATRICES, st.integers(-9, 9)
            ),
            epsilon=mostly(
                st.sampled_from([1e-6, 1e-3, 1.0]),
                st.sampled_from([-1.0, float("nan")]),
            ),
        ),
        near(standardize_reference),
    ),
    "EigenTable": "has no input",
    "InEigen": "has no input but the number of a row",
    "RowMean": "is wrong for long rows",
    "ScalarAsFloat": "is wrong for most types",
    "TimesRead": "counts",
}
