"""What an op's interface tells about calls of it."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.framework import op_def_pb2
from tensorflow.python.framework import op_def_registry
from tensorflow.python.ops import gen_math_ops

from opcheck.inputs.guesses import combined, guesses, named
from opcheck.library import look_at_function
from opcheck.locations import locate


def op_def(text: str) -> op_def_pb2.OpDef:
    from google.protobuf import text_format

    return text_format.Parse(text, op_def_pb2.OpDef())


def test_inputs_and_attrs_are_guessed():
    some = op_def("""
    name: "Some"
    input_arg { name: "x" type_attr: "T" }
    input_arg { name: "texts" type: DT_STRING number_attr: "N" }
    attr { name: "T" type: "type" allowed_values { list { type: DT_INT64 type: DT_DOUBLE } } }
    attr { name: "N" type: "int" has_minimum: true minimum: 1 }
    attr { name: "size" type: "int" has_minimum: true minimum: 4 }
    attr { name: "mode" type: "string" allowed_values { list { s: "NEAR" } } }
    attr { name: "left" type: "bool" default_value { b: true } }
    """)
    calls = list(guesses(some))
    assert len(calls) == 4 * 25
    (x, texts), attrs = calls[0]
    assert (x.dtype, x.shape) == ("int64", (3,))
    assert [text.shape for text in texts] == [(3,), (3,)]
    assert attrs == {"size": 4, "mode": "NEAR"}
    assert calls[4][0][0].shape == (3, 4, 2, 5)
    assert calls[29][0][0].shape == (3, 3, 3, 3)
    of_few_ranks = list(guesses(some, [[2], [0, 1]]))
    assert [x.ndim for (x, _), _ in of_few_ranks[:2]] == [2, 2]
    assert [text[0].ndim for (_, text), _ in of_few_ranks[:2]] == [0, 1]


def test_dtypes_are_guessed_for_which_there_is_a_kernel():
    text = """
    name: "Betainc"
    input_arg { name: "a" type_attr: "T" }
    attr { name: "T" type: "type" allowed_values { list { type: DT_INT32 type: DT_DOUBLE } } }
    """
    (a,), _ = next(guesses(op_def(text)))
    assert a.dtype == "float64"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('input_arg { name: "table" type: DT_RESOURCE }', "table is a resource"),
        ('attr { name: "f" type: "func" }', "attr f is a func"),
        ('input_arg { name: "v" type: DT_FLOAT is_ref: true }', "a reference to a var"),
    ],
)
def test_what_cannot_be_guessed_is_told(text, message):
    with pytest.raises(LookupError, match=message):
        list(guesses(op_def(text)))


def of_name(name: str) -> op_def_pb2.OpDef:
    return op_def_registry.get(name)


def first(name: str, rank: int) -> tuple[list, dict]:
    """The likeliest inputs where data has a rank, and attrs."""
    for candidates, attrs in named(of_name(name)):
        inputs = [some[0] for some in candidates]
        if any(getattr(x, "ndim", None) == rank for x in inputs):
            return inputs, attrs
    raise AssertionError(f"nothing of rank {rank}")


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("AvgPool", 4),
        ("Conv2D", 4),
        ("Conv3D", 5),
        ("CropAndResize", 4),
        ("Gather", 2),
        ("MaxPoolV2", 4),
        ("NonMaxSuppression", 2),
        ("Pad", 2),
        ("ResizeBilinear", 4),
        ("SparseDenseCwiseAdd", 2),
        ("SparseReorder", 2),
        ("StatelessRandomUniform", 1),
        ("StridedSlice", 2),
        ("Cumsum", 2),
        ("Transpose", 2),
        ("UnsortedSegmentSum", 2),
    ],
)
def test_names_tell_a_call_that_the_op_takes(name, rank):
    inputs, attrs = first(name, rank)
    names = [arg.name for arg in of_name(name).input_arg]
    assert (
        getattr(tf.raw_ops, name)(**dict(zip(names, inputs, strict=True)), **attrs)
        is not None
    )


def test_attrs_follow_the_rank_of_the_data():
    _, attrs = first("MaxPool3D", 5)
    assert attrs["ksize"] == [1, 2, 2, 2, 1]
    assert attrs["strides"] == [1] * 5
    assert attrs["padding"] == "SAME"
    assert first("UnicodeTranscode", 1)[1]["input_encoding"] == "UTF-8"


def test_a_sparse_tensor_fits_together():
    (indices, values, shape, dense), _ = first("SparseDenseCwiseAdd", 2)
    assert indices.shape == (len(values), 2)
    assert (indices < shape).all()
    assert dense.shape == tuple(shape)


def test_the_likeliest_come_first_together():
    some = list(combined([["a", "b"], [1, 2]]))
    assert some == [["a", 1], ["a", 2], ["b", 1], ["b", 2]]
    many = list(combined([range(3)] * 9, most=50))
    assert many[0] == [0] * 9
    assert many[1] == [1] + [0] * 8
    assert len(many) == 19


def test_a_given_sample_is_not_guessed():
    sample = [np.array([4.0], "float32")], {}
    found = look_at_function(
        gen_math_ops.sqrt, of_name("Sqrt"), 60.0, sample, checks=["empty"]
    )
    assert "4.0" in found.sample
    assert not found.failures
    bad = [np.array(["a"], object)], {}
    found = look_at_function(
        gen_math_ops.sqrt, of_name("Sqrt"), 60.0, bad, checks=["empty"]
    )
    assert found.left_out.startswith("no call was guessed: ")


def test_a_name_of_tensorflow_1_leads_to_no_function():
    where = locate(gen_math_ops.arg_max)  # tf.arg_max, which TensorFlow 2 does not have
    assert where.load() is gen_math_ops.arg_max
