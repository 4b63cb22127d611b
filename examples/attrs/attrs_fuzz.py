"""Generated calls: `python tools/fuzz.py examples/attrs/attrs_fuzz.py`."""

from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from op_library import load_op_library
from preserve_index import preserve_index

from opcheck.strategies import calls, tensors

_here = Path(__file__)
_keep_at = load_op_library(_here.with_name("libkeep_at.so"), "keep_at")
_every = load_op_library(_here.with_name("libevery_attr.so"), "every_attr")


def keep_at(to_zero, index):
    return _keep_at.keep_at(to_zero, index)


def every_attr(**attrs):
    return _every.every_attr(**attrs)


def constrained_attrs(**attrs):
    return _every.constrained_attrs(**attrs)


def own_name(number, **attrs):
    return _every.own_name(number, **attrs)


def reference(to_zero, index):
    if index not in range(to_zero.size):
        raise ValueError
    zeroed = np.zeros_like(to_zero)
    zeroed.flat[index] = to_zero.flat[index]
    return zeroed


INDICES = [*range(-1, 9), 2**31, 2**63 - 1, -(2**63)]
FUZZ = {
    "PreserveIndex": (
        preserve_index,
        calls(
            tensors(st.sampled_from(["float32", "float64", "int32"])),
            index=st.sampled_from(INDICES),
        ),
        reference,
    ),
    "KeepAt": (
        keep_at,
        calls(
            tensors(),
            tensors(
                "int64",
                st.sampled_from([(), (), (), (1,), (0,)]),
                st.sampled_from(INDICES),
            ),
        ),
        lambda to_zero, index: reference(to_zero, int(index)),
    ),
    "EveryAttr": (
        every_attr,
        calls(
            a_string=st.sampled_from(["", "kiwi", "x" * 5000]),
            an_int=st.sampled_from(INDICES),
            ints=st.lists(st.sampled_from(INDICES), max_size=2),
            floats=st.lists(st.sampled_from([0.0, 1e30, -2.5]), max_size=2),
        ),
        None,
        ("bad_input", "eager_vs_graph", "static_shape"),
    ),
    "ConstrainedAttrs": (
        constrained_attrs,
        calls(
            fruit=st.sampled_from(["apple", "orange", "", "kiwi"]),
            count=st.sampled_from(INDICES),
        ),
        None,
        ("bad_input", "eager_vs_graph", "static_shape"),
    ),
    "OwnName": (own_name, calls(tensors(max_rank=1))),
    "EndWith": "ends with the error that it is asked for",
    "LiveInstances": "counts its own kernels and has no input",
    "UnknownDimDefault": "cannot be called without its attrs",
    "KeywordName": "has no generated function",
}
