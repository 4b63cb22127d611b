"""Ops with one bug each, their correct twins, and the tests that a check makes of them."""

from collections.abc import Callable, Mapping

import pytest

import opcheck

ROUND_TO_V1 = """
name: "{}"
input_arg {{ name: "values" type: DT_DOUBLE }}
output_arg {{ name: "rounded" type: DT_DOUBLE }}
"""
ROUND_TO_V2 = (
    ROUND_TO_V1 + 'attr {{ name: "digits" type: "int" default_value {{ i: 0 }} }}'
)
OPTIONS = {
    "round_to": {"old_op_def": ROUND_TO_V1.format("RoundTo")},
    "round_to_new_attr": {"old_op_def": ROUND_TO_V1.format("BrokenRoundToNewAttr")},
    "round_to_new_default": {
        "old_op_def": ROUND_TO_V2.format("BrokenRoundToNewDefault")
    },
}
BY_CHANCE = {"bin_max_empty_bins", "prime_count_no_lock"}
TWINS = [
    *("every_second_row", "reverse_last", "reverse_matrix", "row_sum", "floor_mean"),
    *("cube", "bin_max", "sort_each_row", "row_softmax", "erf_sum", "prefix_sum"),
    *("unit_sum", "look_up", "doubled", "take_rows", "scale_rows", "repeat_flat"),
    *("unit_histogram", "capitalize", "round_to", "next_sum", "difference"),
    *("row_arg_min", "twice", "axis_size", "each_nth", "delayed"),
    *("prime_count", "distinct_count", "rank_order", "log_of_one_and", "initials"),
    *("nesting", "group_max", "quotients", "dequantized", "squared"),
    *("boxed", "add_to_variable"),
]


def twin_of(name: str) -> str:
    twin, *others = [twin for twin in TWINS if f"{name}_".startswith(f"{twin}_")]
    assert not others
    return twin


def check(ops, name: str, checks) -> opcheck.Report:
    """The report on a twin or on one of its broken variants."""
    twin = twin_of(name)
    inputs, attrs = ops.SAMPLES[twin]
    return opcheck.check(
        getattr(ops, name if name == twin else f"broken_{name}"),
        *inputs,
        reference=getattr(ops, f"{twin}_reference", None),
        checks=checks,
        **OPTIONS.get(name, {}),
        **attrs,
    )


def caught(name: str, broken: Mapping[str, str]) -> Callable:
    """A test that a check finds each of these ops, with words of the explanation; all but the first are slow."""
    params = [
        pytest.param(
            *(one, words),
            id=one,
            marks=[pytest.mark.slow] * bool(number)
            + [pytest.mark.gpu] * (name == "devices"),
        )
        for number, (one, words) in enumerate(broken.items())
    ]

    @pytest.mark.parametrize(("broken", "words"), params)
    def test(broken_ops, broken, words):
        # What an op does not write holds by chance, at times, what was expected, and a race may be lost.
        for _ in range(5 if broken in BY_CHANCE else 1):
            report = check(broken_ops, broken, [name])
            result = report[name]
            if result.verdict == "fail":
                break
        if name == "devices" and result.detail == "no GPU":
            pytest.skip("no GPU")
        assert result.verdict == "fail", str(report)
        assert result.expected and result.seen
        assert result.chapter
        assert words in result.explanation(), result.explanation()
        with pytest.raises(opcheck.OpCheckError, match=name):
            report.assert_ok()

    return test


def noted(name: str, broken: Mapping[str, str]) -> Callable:
    """A test that a check notes each of these ops, with words of the note."""

    @pytest.mark.slow
    @pytest.mark.parametrize(("broken", "words"), broken.items(), ids=list(broken))
    def test(broken_ops, broken, words):
        report = check(broken_ops, broken, [name])
        assert report.ok
        assert words in report[name].detail

    return test
