"""Generated calls: `python -m opcheck fuzz examples/threads/threads_fuzz.py`."""

from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from op_library import load_op_library
from threads import play_backwards, sort_rows, steady_sum
from threads_reference import (
    even_part_reference,
    first_highest_reference,
    play_backwards_reference,
    sort_rows_reference,
    steady_sum_reference,
)

from opcheck.strategies import calls, mostly, shapes, tensors

_solution, _of_eigen = (
    load_op_library(Path(__file__).with_name(f"libsolution_{op}.so"), op)
    for op in ("first_highest", "even_part")
)


def first_highest(x):
    return _solution.first_highest(x=x)


def even_part(signal):
    return _of_eigen.even_part(signal=signal)


def quiet(reference):
    """Without NumPy's warnings of what overflows."""

    def silenced(*inputs, **attrs):
        with np.errstate(all="ignore"):
            return reference(*inputs, **attrs)

    return silenced


def without_nan(x):
    if np.isnan(x).any():
        raise NotImplementedError("nothing is larger than NaN, nor smaller")
    return first_highest_reference(x)


@st.composite
def rows(draw):
    """Values and where their rows begin, most often in ascending order."""
    size = draw(mostly(st.integers(0, 20), st.just(20_000)))
    between = st.lists(st.integers(0, size), max_size=9)
    inner = draw(mostly(between.map(sorted), between))
    splits = draw(mostly(st.just([0, *inner, size]), st.just(inner)))
    values = draw(tensors("int64", (size,)))
    return [values, np.int64(splits)], {}


FLOATS = st.sampled_from(["float32", "float64"])
SIGNALS = mostly(st.integers(0, 50).map(lambda n: (n,)), shapes())
LONG = st.sampled_from([(4095,), (4096,), (4097,), (2, 6000)])
FUZZ = {
    "SteadySum": (
        steady_sum,
        calls(tensors(FLOATS, mostly(shapes(), LONG))),
        quiet(steady_sum_reference),
    ),
    "SortRows": (sort_rows, rows(), sort_rows_reference),
    "PlayBackwards": (
        play_backwards,
        calls(
            tensors(FLOATS, SIGNALS),
            gain=st.sampled_from([1.0, 0.0, -2.5, 0.1]),
        ),
        quiet(play_backwards_reference),
    ),
    "EvenPart": (
        even_part,
        calls(tensors("float32", SIGNALS)),
        quiet(even_part_reference),
    ),
    "FirstHighest": (
        first_highest,
        calls(tensors("float32", mostly(shapes(), LONG), st.integers(-9, 9))),
        without_nan,
    ),
    "SumBy": "wrong on purpose",
    "SortRowsBy": "slow on purpose",
    "PlayBackwardsBy": "wrong on purpose",
    "HowOftenEvaluated": "counts",
    "CountAtOnce": "sleeps",
    "LongWork": "sleeps",
    "Nested": "may never end",
    "BlocksDone": "counts",
}
