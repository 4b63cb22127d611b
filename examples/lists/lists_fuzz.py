"""Generated calls: `python -m opcheck fuzz examples/lists/lists_fuzz.py`."""

from pathlib import Path

import tensorflow as tf
from hypothesis import strategies as st
from lists import keep_rows, weighted_sum
from lists_reference import (
    NUMBER,
    keep_rows_reference,
    parse_record_reference,
    weighted_sum_reference,
)
from op_library import load_op_library

from opcheck.strategies import calls, mostly, shapes, tensors

_parse = load_op_library(
    Path(__file__).with_name("libsolution_parse_record.so"), "parse_record"
)


def parse_record(record, out_types):
    return _parse.parse_record(record, out_types=out_types)


INTEGERS = st.integers(-(2**31), 2**31 - 1).map(lambda number: b"%d" % number)
STRANGE = st.one_of(
    st.binary(max_size=30),
    st.from_regex(rb"[ \t]*[+-]?[0-9]{0,25}[.]?[0-9]{0,3}([eE][+-]?[0-9]{1,4})?[ ]*"),
    st.sampled_from([b"nan", b"-Inf", b"0x10", b"1e999", b"-9223372036854775808", b""]),
)
TEXTS = {
    tf.int32: INTEGERS | st.from_regex(rb"[ \n]?[+-]?[0-9]{1,9}\t?", fullmatch=True),
    tf.int64: INTEGERS | st.from_regex(rb"[ \n]?[+-]?[0-9]{1,18}\t?", fullmatch=True),
    tf.float32: st.from_regex(NUMBER, fullmatch=True),
    tf.float64: st.from_regex(NUMBER, fullmatch=True),
    tf.string: st.binary(max_size=30).filter(lambda text: b"," not in text),
}
SHAPE = st.shared(shapes(max_rank=3), key="shape")
ROWS = st.shared(st.integers(0, 5), key="rows")
KINDS = st.sampled_from(["float32", "int64", "bool", "string", "bfloat16"])


@st.composite
def records(draw):
    types = draw(
        st.lists(
            st.sampled_from([tf.float32, tf.int64, tf.string]), min_size=1, max_size=3
        )
    )
    fields = [draw(mostly(TEXTS[dtype], STRANGE)) for dtype in types]
    fields = draw(mostly(st.just(fields), st.lists(STRANGE, max_size=4)))
    shape = mostly(st.just(()), shapes(max_rank=1))
    record = tensors("string", shape, st.just(b",".join(fields)))
    return draw(calls(record, out_types=st.just(types)))


@st.composite
def sums(draw):
    kind = draw(st.sampled_from(["float16", "bfloat16", "float32", "float64"]))
    inputs = draw(lists_of(kind, mostly(SHAPE, shapes(max_rank=2))))
    weights = mostly(st.just((len(inputs),)), shapes(max_rank=2))
    return draw(calls(st.just(inputs), tensors(kind, weights)))


def lists_of(kind, shape, smallest=0):
    return st.lists(tensors(kind, shape), min_size=smallest, max_size=4)


def with_rows(kinds):
    """A list of tensors that mostly have the same number of rows."""
    tails = shapes(max_rank=2)
    fitting = st.tuples(ROWS, tails).map(lambda both: (both[0], *both[1]))
    return st.lists(tensors(kinds, mostly(fitting, shapes())), min_size=1, max_size=3)


FUZZ = {
    "WeightedSum": (weighted_sum, sums(), weighted_sum_reference, ("eager_vs_graph",)),
    "KeepRows": (
        keep_rows,
        calls(
            with_rows(KINDS),
            tensors("bool", mostly(st.tuples(ROWS), shapes(max_rank=2))),
        ),
        keep_rows_reference,
    ),
    "ParseRecord": (parse_record, records(), parse_record_reference),
}
