"""Generated calls: `python -m opcheck fuzz examples/mat_mul/mat_mul_fuzz.py`."""

from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from mat_mul import loop_mat_mul, mat_mul
from mat_mul_reference import (
    gram_matrix_reference,
    loop_mat_mul_reference,
    mat_mul_reference,
)
from op_library import load_op_library

from opcheck.strategies import calls, mostly, shapes, tensors

_solution = load_op_library(
    Path(__file__).with_name("libsolution_gram_matrix.so"), "gram_matrix"
)
# Whose sums no order of adding changes.
NUMBERS = st.one_of(
    st.integers(-8, 8).map(float), st.sampled_from([np.nan, np.inf, -np.inf, -0.0])
)


def gram_matrix(x):
    return _solution.gram_matrix(x)


def known(reference):
    """Without an answer where the order of the additions matters, and to bfloat16."""

    def silenced(*inputs, **attrs):
        if inputs[0].dtype.kind == "V":
            raise NotImplementedError("bfloat16 is not NumPy's own")
        with np.errstate(all="ignore"):
            product = reference(*inputs, **attrs)
            sizes = (np.abs(x.astype(np.float64)) for x in inputs)
            finite = (np.nan_to_num(x, nan=0, posinf=0) for x in sizes)
            terms = reference(*finite, **attrs)
        if np.any(terms > 1e38):
            raise NotImplementedError("a sum of float32 may overflow on its way")
        if np.any((terms > 1e6) & (np.abs(product) < terms / 2)):
            raise NotImplementedError("large terms cancel")
        return product

    return silenced


@st.composite
def products(draw, dtypes, transposing):
    """Two matrices that mostly fit."""
    dtype = draw(st.sampled_from(dtypes))
    rows, inner, columns = (draw(st.integers(0, 20)) for _ in range(3))
    flags = [draw(st.booleans()) if transposing else False for _ in "ab"]
    chosen = []
    for flag, shape in zip(flags, [(rows, inner), (inner, columns)]):
        fitting = shape[::-1] if flag else shape
        shape = draw(mostly(st.just(fitting), shapes(max_rank=3)))
        chosen.append(tensors(dtype, shape, NUMBERS))
    attrs = dict(zip(["transpose_a", "transpose_b"], flags)) if transposing else {}
    if not transposing:
        attrs["order"] = st.sampled_from(["elements", "rows", "tiles"])
    return draw(calls(*chosen, **attrs))


FUZZ = {
    "OpByOp>MatMul": (
        mat_mul,
        products(["float16", "bfloat16", "float32", "float64"], transposing=True),
        known(mat_mul_reference),
    ),
    "LoopMatMul": (
        loop_mat_mul,
        products(["float32"], transposing=False),
        known(loop_mat_mul_reference),
    ),
    "GramMatrix": (
        gram_matrix,
        calls(tensors("float32", elements=NUMBERS, max_rank=3)),
        known(gram_matrix_reference),
    ),
}
