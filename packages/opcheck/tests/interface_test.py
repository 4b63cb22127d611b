"""The interface of `opcheck.check`: what it refuses in one line, and what its options do."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from python_ops import adds_noise, adds_one, counts_calls, filled, has_rows, normal

import opcheck
from opcheck.strategies import calls, tensors


def times(x, factor=2):
    return x * factor


def clipped(x, delta=1.0):
    return tf.clip_by_value(x, -delta, delta)


def takes_anything(x, **attrs):
    return x + attrs.get("step", 1)


def raises(x):
    raise IndexError("several\nlines")


@pytest.mark.parametrize(
    ("message", "options"),
    [
        ("mean the option 'reference'", {"referense": adds_one}),
        ("'x': it takes a function", {"reference": "x"}),
        (
            r"^the reference raises for the sample: IndexError: several \(interface_test",
            {"reference": raises},
        ),
        ("raises for the sample: Type", {"reference": lambda x, y: x}),
        ("`return` missing", {"reference": lambda x: None}),
        ("did you mean 'gradient'", {"checks": "gradients"}),
        ("no check 'refrence', did you mean 'reference'", {"checks": ["refrence"]}),
        ("checks is 3: it takes names", {"checks": 3}),
        ("no check 3: there are ", {"checks": [3]}),
        ("skip is 7: it takes names", {"skip": 7}),
        ("no check 'xl'", {"skip": ["xl"]}),
        ("3: it takes names", {"expected_failures": 3}),
        ("no check 'empties'", {"expected_failures": ["empties"]}),
        (r"attrs is \[1\]: it takes a dict", {"attrs": [1]}),
        ("samples is 3: it takes a list", {"samples": 3}),
        (r"samples\[0\] is a int, and neither", {"samples": [3]}),
        ("takes a list of functions", {"extra": ["empty"]}),
        ("two checks have the name 'has_rows'", {"extra": [has_rows] * 2}),
        ("a child process cannot import", {"extra": [lambda *_: ""]}),
        ("op_types is 3: it takes a list", {"op_types": 3}),
        ("'AdV2', .* did you mean 'AddV2'", {"op_types": ["AdV2"]}),
        ("'no': it takes True or False", {"isolate": "no"}),
        ("tolerances is a dictionary", {"tolerances": 0.1}),
        ("'flaot32'.*mean 'float32'", {"tolerances": {"flaot32": 1}}),
        ("tolerances has '1' for int8", {"tolerances": {"int8": "1"}}),
        ("a pair .relative, absol", {"tolerances": {"int8": (1, -1)}}),
        ("gradient_tolerance is 0: it takes", {"gradient_tolerance": 0}),
        ("delta is 0.0: it takes a number above 0", {"delta": 0.0}),
        ("repeats is 0: it takes a whole number, 1 or", {"repeats": 0}),
        ("repeats is 2.5: it takes a whole number", {"repeats": 2.5}),
        ("concurrency_seconds is -1", {"concurrency_seconds": -1}),
        ("timeout is -1: it takes a number above 0", {"timeout": -1}),
        ("timeout is '9': it takes a number", {"timeout": "9"}),
        ("memory is -1: it takes a whole number, 0 or", {"memory": -1}),
        ("old_op_def is no OpDef: ", {"old_op_def": "garbage {"}),
    ],
)
def test_a_wrong_option_is_refused_in_one_line(message, options):
    refused(adds_one, [normal(2)], options, message)


def refused(op, arguments, options, message):
    with pytest.raises(ValueError, match=message) as raised:
        opcheck.check(op, *arguments, **options)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("op", "message", "arguments", "options"),
    [
        (adds_one, "x is a tensor given by keyword", [], {"x": normal(2)}),
        (adds_one, "x is a tensor given by keyword", [], {"x": tf.ones([2])}),
        (adds_one, r"by position: opcheck.check\(adds_one, …", [], {"x": [[1.0, 2.0]]}),
        (adds_one, "x is a tensor given", [], {"attrs": {"x": tf.ones([2])}}),
        (times, "factor is a tensor given", [normal(2)], {"factor": tf.constant(2.0)}),
        (
            takes_anything,
            "mean the option 'tolerances'",
            [normal(2)],
            {"tolerance": {}},
        ),
        (times, "mean its argument 'factor'", [normal(2)], {"factr": 3}),
        (times, "given twice", [normal(2)], {"attrs": {"factor": 1}, "factor": 2}),
        (
            clipped,
            "^delta is an option of opcheck.check, and an argument of clipped: attrs=",
            [normal(2)],
            {"delta": 2.0},
        ),
        (
            tf.raw_ops.Cumprod,
            r"^tf.raw_ops.Cumprod takes all by keyword, .*: def cumprod\(x, axis, \*\*attrs\): "
            r"return tf.raw_ops.Cumprod\(x=x, axis=axis, \*\*attrs\)$",
            [normal(2), 0],
            {"exclusive": True},
        ),
        (tf.raw_ops.Abs, "Abs takes all by keyword", [], {"x": tf.ones([2])}),
        (3, "^the op is 3: ", [normal(2)], {}),
        (
            adds_one,
            r"adds_one\(x\) cannot be called with 0 inputs and no attrs: missing",
            [],
            {},
        ),
        (adds_one, "^input 0: setting an array element", [[[1], [1, 2]]], {}),
        (
            adds_one,
            "^input 0 is a variant, .* write a function that makes it",
            [tf.raw_ops.OptionalNone()],
            {},
        ),
        (
            adds_one,
            "input 0 is TensorSpec.*give it a generator",
            [tf.TensorSpec([2])],
            {},
        ),
        (adds_one, "input 0 is a object: opcheck takes dense tensors", [object()], {}),
        (
            adds_one,
            r"input 0\[0\] is a RaggedTensor: as an input of its own, and not in a list",
            [[tf.ragged.constant([[1], []])]],
            {},
        ),
        (adds_one, "shape of known rank", [opcheck.Sample(tf.TensorSpec(None))], {}),
        (
            adds_one,
            "needs a generator",
            [opcheck.Sample(tf.TensorSpec([2], tf.string))],
            {},
        ),
    ],
)
def test_a_wrong_call_is_refused_in_one_line(op, message, arguments, options):
    refused(op, arguments, options, message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"examples": 0}, "examples is 0: it takes a whole number, 1 or more"),
        ({"seconds": -1}, "seconds is -1: it takes a number above 0"),
        ({"variations": -1}, "variations is -1: it takes a whole number, 0 or more"),
        ({"thorough": 0}, "thorough is 0"),
        ({"timeout": 0}, "timeout is 0"),
        ({"memory": -1}, "memory is -1"),
        ({"tolerances": {"flaot32": 1}}, "did you mean 'float32'"),
    ],
)
def test_a_wrong_option_of_fuzz_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        opcheck.fuzz(adds_one, calls(tensors()), **options)


@pytest.mark.parametrize(
    ("op", "arguments", "options"),
    [
        (filled, [1.0], {"size": 2}),
        (times, [normal(2)], {"attrs": {"factor": 3}}),
        (clipped, [normal(2)], {"attrs": {"delta": 3.0}}),
        (clipped, [normal(2)], {"attrs": {}, "delta": 0.1}),
        (clipped, [normal(2), 3.0], {"delta": 0.1}),
        (takes_anything, [normal(2)], {"step": 3}),
        (tf.zeros, [], {"attrs": {"shape": [2, 3]}}),
        (tf.reshape, [normal(2, 3)], {"shape": [3, 2]}),
    ],
)
def test_attrs_that_are_right_are_taken(op, arguments, options):
    opcheck.check(op, *arguments, checks="eager_vs_graph", **options).assert_ok()


@pytest.mark.slow
def test_each_sample_is_checked():
    def reference(x, factor=2):
        return x * 2 if factor == 2 else x

    samples = [{"inputs": [normal(3)], "factor": 3}, [normal(2)]]
    options = {"checks": "reference", "reference": reference}
    found = opcheck.check(times, normal(2), samples=samples, **options)["reference"]
    assert found.detail.startswith("sample 1: the sample call")
    opcheck.check(times, samples=samples[1:], **options).assert_ok()
    found = opcheck.check(times, samples=samples[:1], **options)["reference"]
    assert found.detail.startswith("the sample call")


def test_failures_that_are_expected():
    def run(op, known):
        options = {"checks": ["empty", "eager_vs_graph"]}
        return opcheck.check(op, normal(2), expected_failures=known, **options)

    report = run(counts_calls, {"eager_vs_graph": "the values of eager execution"})
    assert report["eager_vs_graph"].verdict == "note"
    assert report["eager_vs_graph"].detail.startswith("fails as expected: in ")
    assert run(counts_calls, "eager_vs_graph").ok
    assert not run(counts_calls, {"eager_vs_graph": "other words"}).ok
    found = run(adds_one, ["empty"])["empty"]
    assert (found.verdict, found.detail) == ("fail", "does not fail")


def test_of_several_failures_those_that_are_not_expected_are_left():
    found = opcheck.Findings("empty", "zero_out")
    found.fail("one", "a", "A", "")
    found.fail("two", "b", "B", "")
    left = opcheck.Report("op", [found.result()]).without({"empty": "expected  a"})
    assert left["empty"].detail == "two"
    assert found.result().detail == "one; 1 more: two"


@pytest.mark.slow
def test_what_chance_gives_is_not_compared():
    options = {"nondeterministic": True, "fast": True}
    report = opcheck.check(adds_noise, normal(3), reference=adds_one, **options)
    assert report.assert_ok()["determinism"].verdict == "skip"
    different = opcheck.check(adds_noise, normal(3), reference=np.sum, **options)
    assert "shape" in different["reference"].seen


def test_it_raises_where_that_is_wanted():
    options = {"checks": "reference", "reference": times}
    with pytest.raises(opcheck.OpCheckError, match="1 failed"):
        opcheck.check(adds_one, normal(2), raise_on_failure=True, **options)


ADD_TO_VARIABLE = """
def add_to_variable(handle, amount, times):
    tf.raw_ops.AssignAddVariableOp(resource=handle, value=amount * times)
"""
CALLED = """
assert add_to_variable(np.float32(1), np.float32(2), times=3)[0] == 7
"""


@pytest.mark.slow
def test_the_examples_of_the_readme_run(tmp_path):
    readme = Path(__file__).parents[1] / "README.md"
    blocks = re.findall(r"(?ms)^```python\n(.*?)^```", readme.read_text())
    ops, check, variables, of_pytest, of_unittest, fuzz, fuzz_file = blocks
    (tmp_path / "my_ops.py").write_text(ops + ADD_TO_VARIABLE)
    others = f"{check.split('if ')[0]}{variables}{CALLED}{of_pytest}{of_unittest}{fuzz_file}{fuzz}"
    for text, told in ((check, "reference +fail"), (others, "OpCheckError: spread")):
        (tmp_path / "readme.py").write_text(text)
        command = [sys.executable, "readme.py"]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert re.search(told, run.stdout + run.stderr), run.stderr
