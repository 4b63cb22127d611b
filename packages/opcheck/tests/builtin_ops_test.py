"""What opcheck finds in TensorFlow's own ops, listed with the reason: none is a false alarm.

Messages that do not name the input that is wrong are notes there.
"""

import re

import numpy as np
import pytest
import tensorflow as tf
from python_ops import normal, result, strings

import opcheck
from opcheck.findings.source import line
from opcheck.locations import locate

ZEROS = "its gradient has zeros, not None, for the integer k"
BUILT_IN = {
    "matmul": (
        tf.linalg.matmul,
        [normal(2, 3), normal(3, 4)],
        {"reference": np.matmul},
        {},
    ),
    "max_pool2d": (
        tf.nn.max_pool2d,
        [normal(1, 4, 6, 2)],
        {"ksize": 2, "strides": 2, "padding": "VALID"},
        {
            "empty": ("Negative dimension size", "only the shape function refuses it"),
            "bad_input": ("Negative dimension size", "only the shape function, too"),
        },
    ),
    "reduce_sum": (
        tf.reduce_sum,
        [normal(3, 5)],
        {"axis": 1, "reference": lambda x, axis: x.sum(axis)},
        {"bad_input": ("eager: a result", "eager, the Python int 2**62 becomes 0")},
    ),
    "concat": (
        tf.concat,
        [[normal(2, 3), normal(4, 3)]],
        {"axis": 0, "reference": np.concatenate},
        {"bad_input": ("eager: a result", "the kernel cuts the int64 2**62 to 0")},
    ),
    "where": (
        tf.where,
        [np.eye(2, dtype=bool), normal(2, 2), normal(2, 2)],
        {"reference": np.where},
        {},
    ),
    "conv2d": (
        tf.nn.conv2d,
        [normal(1, 5, 6, 2), normal(3, 3, 2, 4)],
        {
            "strides": 1,
            "padding": "SAME",
            "skip": {"determinism": "Eigen adds in another order with other threads"},
        },
        {
            "empty": ("Number of groups must not be 0", "the shape function alone"),
            "bad_input": (
                "inferred shape",
                "of an unknown rank it infers four dimensions, and the kernel takes more",
            ),
        },
    ),
    "top_k": (
        tf.math.top_k,
        [normal(3, 6)],
        {"k": 2},
        {
            "gradient": ("zeros", ZEROS),
            "bad_input": (
                "eager: a result; in a graph: ValueError",
                "the kernel cuts the int64 k = 2**62 down to the int32 0",
            ),
        },
    ),
    "string_to_number": (
        tf.strings.to_number,
        [strings(b"1.5", b"-2")],
        {},
        {"bad_input": ("UnicodeDecodeError", "its message has the bytes that it got")},
    ),
    "unique": (
        tf.unique,
        [np.int32([3, 1, 3, 2])],
        {},
        {},
    ),
    "sort": (
        tf.sort,
        [normal(3, 5)],
        {"op_types": ["TopKV2"], "reference": np.sort},
        {
            "reference": ("nan", "NumPy puts NaN last, TensorFlow first"),
            "gradient": ("zeros", ZEROS),
            "bad_input": ("nan", "the same"),
        },
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BUILT_IN)
def test_findings_in_built_in_ops(name):
    op, inputs, options, expected = BUILT_IN[name]
    report = opcheck.check(op, *inputs, concurrency_seconds=0.2, repeats=2, **options)
    assert len(report.results) == len(opcheck.NAMES)
    seen = {result.check: result.seen for result in report.failures}
    assert set(seen) == set(expected), report
    for check, (pattern, _) in expected.items():
        assert re.search(pattern, seen[check]), seen[check]


def test_an_unwritten_output_in_tensorflow_itself():
    """Cholesky fills the lower triangle with NaN where it fails, and forgets the upper one."""
    indefinite = np.float64([[1, 2], [2, 1]])
    for _ in range(3):  # other threads may free memory between a filling and a call
        found = result("determinism", tf.linalg.cholesky, indefinite)
        assert "output[0, 1]" in found.seen
        if "not written" in found.cause:
            break
    assert "not written" in found.cause


def look_up(keys):
    initializer = tf.lookup.KeyValueTensorInitializer(tf.constant(["a"]), [1.0])
    return tf.lookup.StaticHashTable(initializer, -1.0).lookup(keys)


def look_up_in_a_new_table(keys):
    table = tf.raw_ops.AnonymousMutableHashTable(
        key_dtype=tf.string, value_dtype=tf.int64
    )
    nothing = tf.constant(-1, tf.int64)
    return tf.raw_ops.LookupTableFindV2(
        table_handle=table, keys=keys, default_value=nothing
    )


def as_list(x):
    shape = tf.zeros([0], "int32")
    return tf.raw_ops.TensorListFromTensor(tensor=x, element_shape=shape)


def double_thrice(x):
    return tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, 2 * y), [0, x])[1]


INDICES = np.int64([[0, 1], [1, 0], [1, 3]])


def soft_values(indices, values):
    return tf.sparse.softmax(tf.SparseTensor(indices, values, [3, 4])).values


def adds_chance(x):
    return x + tf.random.normal([3])


def asserts(x):
    return tf.debugging.Assert(tf.reduce_all(x < 9), [x])


@pytest.mark.parametrize(
    ("op", "sample", "checks"),
    [
        (look_up, strings(b"a"), ["eager_vs_graph"]),
        (look_up_in_a_new_table, strings(b"a"), ["vectorize"]),
        (as_list, normal(3), ["eager_vs_graph", "vectorize", "xla"]),
        (double_thrice, normal(3), ["gradient"]),
        (tf.io.serialize_tensor, normal(3), ["dtypes"]),
        (adds_chance, normal(3), ["immutability"]),
        (asserts, normal(3), ["eager_vs_graph", "concurrency", "vectorize"]),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_no_false_alarm(op, sample, checks):
    options = {"concurrency_seconds": 0.1, "isolate": False}
    report = opcheck.check(op, sample, checks=checks, **options)
    assert not report.failures, str(report)


TABLE = tf.lookup.StaticHashTable(
    tf.lookup.KeyValueTensorInitializer(tf.constant([1, 2]), tf.constant([3, 4])), -1
)


@pytest.mark.slow
def test_a_method_of_a_table_is_called_where_its_module_makes_one():
    report = opcheck.check(TABLE.lookup, np.int32([1, 5]), concurrency_seconds=0.1)
    report.assert_ok()
    assert "no NumPy arrays: AttributeError" in report["immutability"].detail
    assert "capture an EagerTensor" in report["eager_vs_graph"].detail
    assert report["bounds"].verdict == "pass"
    where = locate(TABLE.lookup)
    assert "import TABLE; " in line(where, TABLE.lookup, [np.int32([1])], {})


def test_a_method_of_an_object_without_a_name_is_told_in_the_line():
    class Adds:
        def one(self, x):
            return x.no_such_attribute

    report = opcheck.check(Adds().one, normal(2), checks=["eager_vs_graph", "bounds"])
    assert "a method of a Adds that no module holds" in report["bounds"].detail
    assert report.failures[0].line.endswith("  # one: what you have checked")


@pytest.mark.parametrize(
    ("check", "op", "inputs", "words"),
    [
        ("saved_model", look_up, [strings(b"a")], "which no model tracks"),
        ("gradient", soft_values, [INDICES, normal(3)], "no second order: NotImpl"),
    ],
)
def test_what_tensorflow_cannot_do_is_told(check, op, inputs, words):
    found = result(check, op, *inputs)
    assert found.verdict != "fail", found.explanation()
    assert words in found.detail
