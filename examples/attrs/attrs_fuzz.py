"""Generated calls: `python tools/fuzz.py examples/attrs/attrs_fuzz.py`."""

from pathlib import Path

import tensorflow as tf
from attrs_reference import (
    constrained_attrs_reference,
    every_attr_reference,
    keep_at_reference,
    own_name_reference,
    preserve_index_reference,
)
from hypothesis import strategies as st
from op_library import load_op_library
from preserve_index import preserve_index

from opcheck.strategies import calls, mostly, shapes, tensors

_here = Path(__file__)
_config = tf.compat.v1.ConfigProto()  # a graph of one node needs no optimization
_config.graph_options.rewrite_options.disable_meta_optimizer = True
_config.graph_options.optimizer_options.opt_level = -1
_keep_at = load_op_library(_here.with_name("libsolution_keep_at.so"), "keep_at")
_every = load_op_library(_here.with_name("libevery_attr.so"), "every_attr")


def keep_at(to_zero, index):
    return _keep_at.keep_at(to_zero, index)


def every_attr(**attrs):
    """In a graph: eager execution takes no attr that is a tensor."""
    with tf.Graph().as_default(), tf.compat.v1.Session(config=_config) as session:
        text = session.run(_every.every_attr(**attrs))
    return tf.constant(text)


def constrained_attrs(**attrs):
    return _every.constrained_attrs(**attrs)


def own_name(number, **attrs):
    return _every.own_name(number, **attrs)


FILLED = st.lists(st.integers(1, 4), max_size=3).map(tuple)
FAR = st.sampled_from([-1, 2**31, 2**63 - 1, -(2**63)])
INDICES = mostly(st.sampled_from([0, 0, 0, 1, 1, 2]) | st.integers(0, 9), FAR)
FUZZ = {
    "PreserveIndex": (
        preserve_index,
        calls(
            tensors(
                st.sampled_from(["float32", "float64", "int32"]),
                mostly(FILLED, shapes()),
            ),
            index=INDICES,
        ),
        preserve_index_reference,
    ),
    "KeepAt": (
        keep_at,
        calls(
            tensors(shape=mostly(FILLED, shapes())),
            tensors(
                "int64",
                mostly(st.just(()), shapes(max_rank=1)),
                INDICES,
            ),
        ),
        keep_at_reference,
    ),
    "EveryAttr": (
        every_attr,
        calls(
            a_string=st.sampled_from(["", "kiwi", "x" * 5000]),
            an_int=INDICES,
            ints=st.lists(INDICES, max_size=2),
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
            count=mostly(st.integers(2, 2**63 - 1), INDICES),
        ),
        constrained_attrs_reference,
        ("bad_input", "eager_vs_graph", "static_shape"),
    ),
    "OwnName": (own_name, calls(tensors(max_rank=1)), own_name_reference),
    "EndWith": "ends with the error that it is asked for",
    "LiveInstances": "counts its own kernels and has no input",
    "UnknownDimDefault": "cannot be called without its attrs",
    "KeywordName": "has no generated function",
}
