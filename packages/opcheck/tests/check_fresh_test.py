"""The checks `determinism` and `saved_model`."""

import contextlib
import os
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf
from python_ops import (
    adds_a_random_constant,
    adds_in_some_order,
    adds_noise,
    adds_noise_in_blocks,
    adds_one,
    adds_threads,
    draws,
    filled_forward_in_blocks,
    hour_of,
    normal,
    of_one_seed,
    result,
    seeded,
    without_seeds,
)

import opcheck
from opcheck.checks import fresh
from opcheck.processes import calls
from opcheck.subject import Subject


def test_threads_are_1_2_and_more():
    counts = f"1, 2, {max(4, os.cpu_count())}"
    found = result("determinism", adds_one, normal(2))
    assert f"with {counts} threads" in found.detail
    found = result("determinism", adds_threads, normal(2))
    assert found.detail.startswith("run 1 with 2 intra-op threads;")
    assert "it depends on their number" in found.cause


@pytest.mark.parametrize("options", [{"nondeterministic": True}, {}])
def test_random_numbers_do_not_come_twice(options):
    for step, verdict in ((4, "fail"), (100, "skip" if options else "note")):
        found = result(
            "determinism", adds_noise_in_blocks, normal(50), step=step, **options
        )
        assert found.verdict == verdict, found.explanation()
        assert verdict != "fail" or "96 elements later" in found.seen


def test_what_is_lost_where_a_block_begins_shows_in_gaps():
    found = result("determinism", filled_forward_in_blocks, normal(2, 3))
    assert "longer rows of NaN" in found.detail, found.explanation()
    assert "it depends on their number" in found.cause


@pytest.mark.parametrize(
    ("op", "seen"),
    [
        (seeded, ""),
        (without_seeds, "equal seeds, and the output"),
        (of_one_seed, "the same values with seed = 7 and with seed = 8"),
    ],
)
def test_seeds_count(op, seen):
    options = {"nondeterministic": True, "op_types": ["RandomStandardNormal"]}
    found = result("determinism", op, normal(4, 5), **options)
    assert found.verdict == ("fail" if seen else "skip"), found.explanation()
    assert found.seen.startswith(seen)


@pytest.mark.parametrize(("advance", "least"), [(1, 0), (0.5, 0), (0.5, 490), (0, 0)])
def test_a_call_does_not_draw_what_the_one_before_has_drawn(advance, least):
    """Of numbers that are nearly all equal, or the same in each call, nothing is said."""
    options = {"nondeterministic": True, "advance": advance, "least": least}
    found = result("determinism", draws, normal(20, 6), **options)
    assert (found.verdict == "fail") == (advance == 0.5 and not least)
    if found.verdict == "fail":
        assert "come in the next one again" in found.seen and "reserves" in found.cause


def pieces_of_a_table(x):
    """Three pieces, of which each row has one."""
    first = tf.random.uniform([tf.shape(x)[0], 1], 0, 3, tf.int32) * 37
    table = np.random.default_rng(1).permutation(997)
    return tf.gather(tf.constant(table), first + tf.range(12))


def one_piece_of_a_table(x):
    first = tf.random.uniform([], 0, 1000, tf.int32)
    return tf.constant(normal(4000))[first : first + 2000]


def no_chance(x):
    return tf.gather(
        tf.constant(normal(20, 32)), tf.random.uniform([40], 0, 20, tf.int32)
    )


@pytest.mark.parametrize(
    "op",
    [
        no_chance,
        pieces_of_a_table,
        one_piece_of_a_table,
        lambda x: tf.random.uniform(tf.shape(x), 0, 500, tf.int32),
        lambda x: tf.sort(tf.random.shuffle(tf.range(1000))[:900]),
        tf.random.shuffle,
        lambda x: tf.nn.dropout(x, 0.3),
        lambda x: x + tf.random.normal([x.shape[0], 1]),
        lambda x: x + tf.repeat(tf.random.normal([x.shape[0] // 2, 8]), 2, 0),
        lambda x: tf.random.uniform(tf.shape(x), dtype=tf.float16),
        lambda x: tf.random.truncated_normal(tf.shape(x)),
        lambda x: tf.cast(tf.random.categorical(x, 50), tf.float32),
    ],
)
def test_chance_that_is_meant_may_repeat_itself(op):
    assert calls.repeated_chance(Subject(op, [normal(32, 8)], {})) == ("", "")


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
