"""The interface of `opcheck.check`: what it refuses in one line, and what its options do."""

import numpy as np
import pytest
import tensorflow as tf
from python_ops import adds_noise, adds_one, counts_calls, filled, normal

import opcheck


def times(x, factor=2):
    return x * factor


def takes_anything(x, **attrs):
    return x + attrs.get("step", 1)


def raises(x):
    raise IndexError("several\nlines")


@pytest.mark.parametrize(
    ("op", "arguments", "options", "message"),
    [
        (adds_one, [], {"x": normal(2)}, "x is a tensor given by keyword"),
        (adds_one, [], {"x": tf.ones([2])}, "x is a tensor given by keyword"),
        (adds_one, [], {"x": [[1.0, 2.0]]}, r"by position: opcheck.check\(adds_one, …"),
        (adds_one, [], {"attrs": {"x": tf.ones([2])}}, "x is a tensor given"),
        (times, [normal(2)], {"factor": tf.constant(2.0)}, "factor is a tensor given"),
        (adds_one, [normal(2)], {"referense": adds_one}, "mean the option 'reference'"),
        (
            takes_anything,
            [normal(2)],
            {"tolerance": {}},
            "mean the option 'tolerances'",
        ),
        (times, [normal(2)], {"factr": 3}, "mean its argument 'factor'"),
        (times, [normal(2)], {"attrs": {"factor": 1}, "factor": 2}, "given twice"),
        (adds_one, [normal(2)], {"checks": "gradients"}, "did you mean 'gradient'"),
        (3, [normal(2)], {}, "^the op is 3: "),
        (adds_one, [normal(2)], {"reference": "x"}, "'x': it takes a function"),
        (adds_one, [normal(2)], {"checks": 3}, "checks is 3: it takes names"),
        (adds_one, [normal(2)], {"checks": [3]}, "no check 3: there are "),
        (adds_one, [normal(2)], {"skip": 7}, "skip is 7: it takes names"),
        (adds_one, [normal(2)], {"expected_failures": 3}, "3: it takes names"),
        (adds_one, [normal(2)], {"attrs": [1]}, r"attrs is \[1\]: it takes a dict"),
        (adds_one, [normal(2)], {"samples": 3}, "samples is 3: it takes a list"),
        (adds_one, [normal(2)], {"extra": ["empty"]}, "takes a list of functions"),
        (adds_one, [normal(2)], {"op_types": 3}, "op_types is 3: it takes a list"),
        (adds_one, [normal(2)], {"isolate": "no"}, "'no': it takes True or False"),
        (adds_one, [[[1], [1, 2]]], {}, "^input 0: setting an array element"),
        (
            adds_one,
            [tf.raw_ops.OptionalNone()],
            {},
            "^input 0 is a variant, .* write a function that makes it",
        ),
        (
            adds_one,
            [normal(2)],
            {"expected_failures": ["empties"]},
            "no check 'empties'",
        ),
        (
            adds_one,
            [normal(2)],
            {"samples": [3]},
            r"samples\[0\] is a int, and neither",
        ),
        (
            adds_one,
            [normal(2)],
            {"reference": raises},
            r"^the reference raises for the sample: IndexError: several \(interface_test",
        ),
        (adds_one, [normal(2)], {"reference": lambda x: None}, "`return` missing"),
        (
            adds_one,
            [normal(2)],
            {"reference": lambda x, y: x},
            "raises for the sample: T",
        ),
    ],
)
def test_a_mistake_of_the_caller_is_refused_in_one_line(
    op, arguments, options, message
):
    with pytest.raises(ValueError, match=message) as raised:
        opcheck.check(op, *arguments, **options)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("op", "arguments", "options"),
    [
        (filled, [1.0], {"size": 2}),
        (times, [normal(2)], {"attrs": {"factor": 3}}),
        (takes_anything, [normal(2)], {"step": 3}),
        (tf.zeros, [], {"attrs": {"shape": [2, 3]}}),
        (tf.reshape, [normal(2, 3)], {"shape": [3, 2]}),
    ],
)
def test_attrs_that_are_right_are_taken(op, arguments, options):
    opcheck.check(op, *arguments, checks="eager_vs_graph", **options).assert_ok()


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
