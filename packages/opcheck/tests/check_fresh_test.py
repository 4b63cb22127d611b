"""The checks `determinism` and `saved_model`."""

import contextlib
import os
from types import SimpleNamespace

import numpy as np
import pytest
from python_ops import (
    adds_a_random_constant,
    adds_in_some_order,
    adds_noise,
    adds_one,
    adds_threads,
    hour_of,
    normal,
    result,
)

import opcheck
from opcheck import calls
from opcheck.checks import fresh
from opcheck.subject import Subject


def test_threads_are_1_2_and_more():
    counts = f"1, 2, {max(4, os.cpu_count())}"
    found = result("determinism", adds_one, normal(2))
    assert f"with {counts} threads" in found.detail
    found = result("determinism", adds_threads, normal(2))
    assert found.detail.startswith("run 1 with 2 intra-op threads;")
    assert found.cause.startswith("outputs that the kernel does not write; a sum whose")


def test_sums_of_whole_numbers_are_rounded_too():
    found = result("determinism", adds_in_some_order, np.float32([1, 2, 3]))
    assert "a much larger sample" in found.detail


@pytest.mark.parametrize("local", [True, False])
def test_the_time_zone_does_not_count(local):
    found = result("determinism", hour_of, np.int64([0, 3600]), local=local)
    assert ("localtime_r" in found.cause) == local, found.explanation()


def test_a_model_of_what_is_random_on_purpose_is_noted():
    found = result("saved_model", adds_noise, normal(2))
    assert found.verdict == "note", found.explanation()
    assert "gives other values at each call" in found.detail
    assert result("saved_model", adds_a_random_constant, normal(2)).verdict == "fail"


RIGHT = calls.Outcome([normal(2)])
WRONG = calls.Outcome([normal(2) + 1])
UNKNOWN = calls.Outcome(None, "Op type not registered 'ZeroOut'")


@pytest.mark.parametrize(
    ("loaded", "bare", "expected", "seen"),
    [
        (RIGHT, UNKNOWN, "", ""),
        (RIGHT, RIGHT, "Op type not registered 'ZeroOut'", "it ran"),
        (
            RIGHT,
            calls.Outcome(None, "NotFoundError: another"),
            "Op type not registered 'ZeroOut'",
            "NotFoundError: another",
        ),
        (WRONG, UNKNOWN, "the values of the process that saved it", "instead of"),
    ],
)
def test_a_model_gives_the_same_with_the_library_and_an_error_without(
    loaded, bare, expected, seen
):
    class Child:
        def __init__(self, without):
            self.answers = {
                calls.save_model: [normal(2)],
                Subject.describe: SimpleNamespace(op_types=["ZeroOut"]),
                Subject.by_chance: False,
                calls.load_saved_model: bare if without else loaded,
            }

        def ask(self, request, **unused):
            return self.answers[request]

    def make(bare=False):
        return contextlib.nullcontext(Child(bare))

    found = opcheck.Findings("saved_model", "")
    fresh.saved_model(make, SimpleNamespace(inputs=[], options={}), found)
    assert found.result().expected == expected
    assert seen in found.result().seen
