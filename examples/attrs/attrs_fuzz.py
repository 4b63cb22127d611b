"""Generated calls: `python -m opcheck fuzz examples/attrs/attrs_fuzz.py`."""

from pathlib import Path

from attrs_reference import (
    constrained_attrs_reference,
    every_attr_reference,
    median_filter_reference,
    moving_median_reference,
    own_name_reference,
    quantile_filter_reference,
)
from hypothesis import strategies as st
from median_filter import median_filter
from moving_median import moving_median
from op_library import load_op_library

from opcheck.strategies import calls, mostly, shapes, tensors

_here = Path(__file__)
_solution = load_op_library(
    _here.with_name("libsolution_quantile_filter.so"), "quantile_filter"
)
_every = load_op_library(_here.with_name("libevery_attr.so"), "every_attr")


def quantile_filter(signal, **attrs):
    return _solution.quantile_filter(signal, **attrs)


def every_attr(**attrs):
    return _every.every_attr(**attrs)


def constrained_attrs(**attrs):
    return _every.constrained_attrs(**attrs)


def own_name(number, **attrs):
    return _every.own_name(number, **attrs)


FAR = st.sampled_from([-1, 0, 2**31, 2**63 - 1, -(2**63)])
SIGNALS = mostly(
    st.tuples(*[st.integers(0, 3)] * 2, st.integers(1, 9)).flatmap(
        lambda sides: st.sampled_from([sides, sides[1:], sides[2:]])
    ),
    shapes(),
)
VECTORS = mostly(st.tuples(st.integers(1, 9)), shapes())
FUZZ = {
    "MovingMedian": (
        moving_median,
        calls(
            tensors(st.sampled_from(["float32", "float64"]), SIGNALS),
            window=mostly(st.sampled_from([1, 3, 5]), st.integers(0, 9) | FAR),
        ),
        moving_median_reference,
    ),
    "MedianFilter": (
        median_filter,
        calls(
            tensors(st.sampled_from(["float32", "float64"]), SIGNALS),
            window=mostly(st.sampled_from([1, 3, 5]), st.integers(0, 9) | FAR),
            ends=mostly(st.sampled_from(["repeat", "drop"]), st.just("mirror")),
        ),
        median_filter_reference,
    ),
    "QuantileFilter": (
        quantile_filter,
        calls(
            tensors(shape=VECTORS),
            window=mostly(st.integers(1, 5), FAR),
            quantile=mostly(
                st.sampled_from([0.0, 0.25, 0.5, 1.0]),
                st.sampled_from([-0.1, 1.5, float("nan")]),
            ),
        ),
        quantile_filter_reference,
    ),
    "EveryAttr": (
        every_attr,
        calls(
            a_string=st.sampled_from(["", "kiwi", "x" * 5000]),
            an_int=st.integers(0, 9) | FAR,
            ints=st.lists(st.integers(0, 9) | FAR, max_size=2),
            floats=st.lists(st.sampled_from([0.0, 1e30, -2.5]), max_size=2),
        ),
        every_attr_reference,
        ("bad_input", "eager_vs_graph", "static_shape"),
    ),
    "ConstrainedAttrs": (
        constrained_attrs,
        calls(
            fruit=mostly(
                st.sampled_from(["apple", "orange"]), st.sampled_from(["", "kiwi"])
            ),
            count=mostly(st.integers(2, 2**63 - 1), FAR),
        ),
        constrained_attrs_reference,
        ("bad_input", "eager_vs_graph", "static_shape"),
    ),
    "OwnName": (own_name, calls(tensors(max_rank=1)), own_name_reference),
    "AttrRecipes": "has no input, and kinds of attrs that the others have",
    "TensorAttrs": "fails in eager execution",
    "EndWith": "ends with the error that it is asked for",
    "LiveInstances": "counts its own kernels and has no input",
    "UnknownDimDefault": "cannot be called without its attrs",
    "KeywordName": "has no generated function",
}
