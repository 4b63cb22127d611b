"""Generated calls: `python tools/fuzz.py examples/polymorphism/polymorphism_fuzz.py`."""

from pathlib import Path

import numpy as np
import polymorphism
import tensorflow as tf
from hypothesis import strategies as st
from op_library import load_op_library
from polymorphism import (
    cumulative_max,
    deinterleave,
    interleave,
    keep_rows,
    string_to_number,
    weighted_sum,
)

from opcheck.strategies import calls, shapes, tensors

_parse = load_op_library(Path(__file__).with_name("libparse_record.so"), "parse_record")


def parse_record(record, out_types):
    return _parse.parse_record(record, out_types=out_types)


def cumulative_max_classes(values):
    return polymorphism._library.cumulative_max_classes(values)


def cumulative_max_template(values):
    return polymorphism._library.cumulative_max_template(values)


def cumulative_max_macro(values):
    return polymorphism._library.cumulative_max_macro(values)


def cumulative_max_reference(values):
    if values.dtype.kind in "V":
        raise NotImplementedError
    return np.maximum.accumulate(values, axis=-1) if values.ndim else values


def interleave_reference(inputs):
    rows, *row = inputs[0].shape
    return np.stack(inputs, axis=1).reshape([rows * len(inputs), *row])


def deinterleave_reference(interleaved, num):
    return [interleaved[first::num] for first in range(num)]


def keep_rows_reference(tensors, keep):
    return [*(tensor[keep] for tensor in tensors), np.flatnonzero(keep)]


FEW = ["float32", "float64", "int32"]
REAL = [*FEW, "int8", "uint8", "int64", "uint64", "float16", "bfloat16"]
TEXT = st.one_of(
    st.binary(max_size=30),
    st.from_regex(rb"[ \t]*[+-]?[0-9]{0,25}[.]?[0-9]{0,3}([eE][+-]?[0-9]{1,4})?[ ]*"),
    st.sampled_from([b"nan", b"inf", b"0x10", b"1e999", b"-9223372036854775808", b""]),
)
SHAPE = st.shared(shapes(max_rank=3), key="shape")
ROWS = st.shared(st.integers(0, 5), key="rows")
KINDS = st.sampled_from(["float32", "int64", "bool", "string", "bfloat16"])


def lists_of(kind, shape, smallest=0):
    return st.lists(tensors(kind, shape), min_size=smallest, max_size=4)


def dealt(num):
    """Shapes whose number of rows `num` divides."""
    tails = st.lists(st.integers(1, 4), max_size=2)
    return st.tuples(st.integers(1, 3), tails).map(lambda s: (s[0] * num, *s[1]))


def with_rows(kinds):
    """A list of tensors that mostly have the same number of rows."""
    tails = shapes(max_rank=2)
    fitting = st.tuples(ROWS, tails).map(lambda both: (both[0], *both[1]))
    return st.lists(tensors(kinds, fitting | shapes()), min_size=1, max_size=3)


FUZZ = {
    "CumulativeMax": (
        cumulative_max,
        calls(tensors(st.sampled_from(REAL))),
        cumulative_max_reference,
    ),
    "CumulativeMaxClasses": (
        cumulative_max_classes,
        calls(tensors(st.sampled_from(FEW))),
        cumulative_max_reference,
    ),
    "CumulativeMaxTemplate": (
        cumulative_max_template,
        calls(tensors(st.sampled_from(FEW))),
        cumulative_max_reference,
    ),
    "CumulativeMaxMacro": (
        cumulative_max_macro,
        calls(tensors(st.sampled_from(FEW))),
        cumulative_max_reference,
    ),
    "OpByOp>StringToNumber": (
        string_to_number,
        calls(
            tensors("string", elements=TEXT, max_rank=2),
            out_type=st.sampled_from([tf.float32, tf.float64, tf.int32, tf.int64]),
        ),
    ),
    "WeightedSum": (
        weighted_sum,
        st.sampled_from(["float16", "bfloat16", "float32", "float64"]).flatmap(
            lambda kind: calls(
                lists_of(kind, SHAPE | shapes(max_rank=2)),
                tensors(kind, min_rank=1, max_rank=1),
            )
        ),
        None,
        ("eager_vs_graph",),
    ),
    "Interleave": (
        interleave,
        KINDS.flatmap(lambda kind: calls(lists_of(kind, SHAPE, 1))),
        interleave_reference,
    ),
    "Deinterleave": (
        deinterleave,
        st.sampled_from([2, 2, 3, 4, 5, 1]).flatmap(
            lambda num: calls(
                tensors(KINDS, dealt(num) | dealt(num) | dealt(num) | shapes()),
                num=st.just(num),
            )
        ),
        deinterleave_reference,
    ),
    "KeepRows": (
        keep_rows,
        calls(
            with_rows(KINDS),
            tensors("bool", st.tuples(ROWS) | shapes(max_rank=2)),
        ),
        keep_rows_reference,
    ),
    "ParseRecord": (
        parse_record,
        calls(
            tensors(
                "string",
                st.sampled_from([(), (), (), (1,)]),
                st.lists(TEXT, max_size=4).map(b",".join),
            ),
            out_types=st.lists(
                st.sampled_from([tf.float32, tf.int64, tf.string]),
                min_size=1,
                max_size=3,
            ),
        ),
    ),
    "TypesOverlap": "registered wrongly on purpose",
    "TypesMisnamed": "registered wrongly on purpose",
}
