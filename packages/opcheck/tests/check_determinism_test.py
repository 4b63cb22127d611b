"""The check `determinism`."""

import contextlib
import os
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf
from broken_twins import caught
from python_ops import adds_one, adds_threads, hour_of, normal, result

from opcheck.checks import fresh
from opcheck.inputs.memory import show_filling
from opcheck.processes import calls
from opcheck.subject import UNREPEATED, UNWRITTEN, Subject

# The broken ops that it must find, and words of the explanation.
CAUGHT = {
    "erf_sum_per_thread": "thread",
    "erf_sum_atomic": "thread",
    "bin_max_empty_bins": "not written",
    "next_sum_random": "SetIsStateful",
}
test_a_broken_op_is_caught = caught("determinism", CAUGHT)


def test_threads_are_1_2_and_more():
    counts = f"1, 2, {max(4, os.cpu_count())}"
    found = result("determinism", adds_one, normal(2))
    assert f"with {counts} threads" in found.detail
    found = result("determinism", adds_threads, normal(2))
    assert found.detail.startswith("run 1 with 2 intra-op threads;")
    assert "it depends on their number" in found.cause


@tf.custom_gradient
def sums_parts_in_its_gradient(x, scale):
    """Each thread stores its part of the gradient of the scale; small ones are computed by one thread."""
    threads = tf.config.threading.get_intra_op_parallelism_threads()

    def grad(dy):
        parts = threads if tf.size(x) > 1 << 12 else 1
        return dy * scale, tf.reduce_sum(dy * x) / tf.cast(parts, x.dtype)

    return x * scale, grad


def test_threads_do_not_change_the_gradient():
    """Beyond rounding."""
    inputs = np.float32([1, 2, 3]), np.float32(2)
    found = result("determinism", sums_parts_in_its_gradient, *inputs)
    assert found.detail.startswith("the gradient with"), found.explanation()
    assert "stores its part" in found.cause


def adds_noise_in_blocks(x, step):
    """Each block of 100 begins one step further in the stream of random numbers."""

    def run(values):
        blocks = values.size // 100 + 1
        stream = np.random.default_rng().normal(size=100 + step * blocks)
        noise = np.concatenate([stream[step * i :][:100] for i in range(blocks)])
        return values + noise[: values.size].astype(values.dtype)

    return tf.ensure_shape(tf.numpy_function(run, [x], x.dtype), x.shape)


@pytest.mark.parametrize("options", [{"nondeterministic": True}, {}])
def test_random_numbers_do_not_come_twice(options):
    for step, verdict in ((4, "fail"), (100, "skip" if options else "note")):
        found = result(
            "determinism", adds_noise_in_blocks, normal(50), step=step, **options
        )
        assert found.verdict == verdict, found.explanation()
        assert verdict != "fail" or "96 elements later" in found.seen


def dithered_by_one_seed(x, seed):
    one, other = (tf.random.stateless_uniform(tf.shape(x), seed) for _ in range(2))
    return x + one + other


def dithered_by_two_seeds(x, seed):
    one, other = (
        tf.random.stateless_uniform(tf.shape(x), some)
        for some in tf.unstack(tf.random.experimental.stateless_split(seed))
    )
    return x + one + other


@pytest.mark.parametrize(
    ("op", "verdict"),
    [(dithered_by_one_seed, "fail"), (dithered_by_two_seeds, "pass")],
)
def test_two_draws_of_one_call_have_two_seeds(op, verdict):
    found = result("determinism", op, normal(4), np.int32([1, 2]))
    assert found.verdict == verdict, found.explanation()
    if verdict == "fail":
        assert "StatelessRandomUniformV2 twice" in found.seen


_WINDOWS = {}


def windowed(x, width, by_width):
    """Multiplies by a window that is made once for each size, and for each width if the key says so."""
    key = (x.shape[-1], width if by_width else None)
    if key not in _WINDOWS:
        places = np.arange(x.shape[-1], dtype=np.float32)
        _WINDOWS[key] = np.exp(-((places / width) ** 2))
    return x * _WINDOWS[key]


@pytest.mark.parametrize("by_width", [False, True])
def test_what_is_kept_for_one_attr_is_not_taken_for_another(by_width):
    found = result("determinism", windowed, normal(4), width=2.0, by_width=by_width)
    assert found.verdict == ("pass" if by_width else "fail"), found.explanation()
    if not by_width:
        assert found.detail == "with width = 1.0, after calls with other attrs"
        assert "whose key lacks one" in found.cause


def jittered(x, seed):
    start = tf.random.stateless_uniform([], seed)
    return x + start * tf.random.uniform(tf.shape(x))


def jittered_by_seed(x, seed):
    start = tf.random.stateless_uniform([], seed)
    return x + start * tf.random.stateless_uniform(tf.shape(x), seed + 1)


def test_one_seed_gives_the_same_numbers_in_each_call():
    seed = np.int32([1, 2])
    found = result("determinism", jittered, normal(4), seed)
    assert found.detail == "two calls with one seed", found.explanation()
    assert "not from the seed: RandomUniform" in found.cause
    meant = result("determinism", jittered, normal(4), seed, nondeterministic=True)
    assert meant.verdict == "skip"
    kept = result("determinism", jittered_by_seed, normal(4), seed)
    assert kept.verdict == "pass", kept.explanation()


_CALLS = []


def totals(x, reset, stateful):
    """Running sums that go on from the call before, unless they are reset."""

    def run(values, reset):
        sums = np.cumsum(np.r_[_CALLS[-1:] if not reset else [], values])
        _CALLS.append(sums[-1])
        return sums[-values.size :].astype(values.dtype)

    y = tf.numpy_function(run, [x, reset], x.dtype, stateful=stateful)
    return tf.ensure_shape(y, x.shape)


@pytest.mark.parametrize("reset", [np.array(True), np.int32(1)])
@pytest.mark.parametrize("stateful", [False, True])
def test_what_is_kept_in_another_position_of_a_switch_is_state(reset, stateful):
    found = result("determinism", totals, normal(4), reset, stateful=stateful)
    assert found.verdict == ("pass" if stateful else "fail"), found.explanation()
    if not stateful:
        assert "with another reset" in found.detail
        assert "SetIsStateful" in found.cause


def test_an_attr_is_a_switch_too():
    found = result("determinism", totals, normal(4), reset=True, stateful=False)
    assert found.detail.endswith("with another reset"), found.explanation()


def filled_forward_in_blocks(x):
    """The last number that is not NaN, of a block of the row for each thread."""

    def run(values):
        columns = values.shape[-1]
        blocks = tf.config.threading.get_intra_op_parallelism_threads() or 1
        place = np.where(np.isnan(values), 0, np.arange(columns))
        begin = np.arange(columns) // -(-columns // blocks) * -(-columns // blocks)
        last = np.maximum(np.maximum.accumulate(place, -1), begin)
        return np.take_along_axis(values, last, -1)

    return tf.ensure_shape(tf.numpy_function(run, [x], x.dtype), x.shape)


def test_what_is_lost_where_a_block_begins_shows_in_gaps():
    found = result("determinism", filled_forward_in_blocks, normal(2, 3))
    assert "longer rows of NaN" in found.detail, found.explanation()
    assert "it depends on their number" in found.cause


def seeded(x, seed=0, seed2=0, counts=lambda seed: seed):
    seeds = {"seed": counts(seed), "seed2": counts(seed2)}
    return tf.raw_ops.RandomStandardNormal(shape=tf.shape(x), dtype=x.dtype, **seeds)


def without_seeds(x, seed=0, seed2=0):
    return seeded(x, seed, seed2, lambda _: 0)


def of_one_seed(x, seed=0, seed2=0):
    return seeded(x, seed, seed2, lambda _: 3)


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


def draws(x, advance, least=0, whole=1):
    """Numbers below 500 of one stream, of which a call takes so many as it has elements and skips some.

    What it skips is a whole number of groups of some size.
    """

    def run(values):
        begin = len(_CALLS) * (int(advance * values.size) // whole * whole)
        _CALLS.append(begin)
        stream = np.random.default_rng(7).integers(500, size=begin + values.size)
        return np.maximum(stream[begin:], least).reshape(values.shape)

    return tf.ensure_shape(tf.numpy_function(run, [x], tf.int64), x.shape)


@pytest.mark.parametrize(("advance", "least"), [(1, 0), (0.5, 0), (0.5, 490), (0, 0)])
def test_a_call_does_not_draw_what_the_one_before_has_drawn(advance, least):
    """Of numbers that are nearly all equal, or the same in each call, nothing is said."""
    options = {"nondeterministic": True, "advance": advance, "least": least}
    found = result("determinism", draws, normal(20, 6), **options)
    assert (found.verdict == "fail") == (advance == 0.5 and not least)
    if found.verdict == "fail":
        assert "come in the next one again" in found.seen and "reserves" in found.cause


@pytest.mark.parametrize("shape", [(8,), (2, 4), (20, 6)])
def test_a_call_skips_the_group_of_numbers_that_it_has_begun(shape):
    options = {"nondeterministic": True, "advance": 1, "whole": 4}
    found = result("determinism", draws, normal(*shape), **options)
    assert found.seen.endswith("of the 7 numbers of a call come first in the next one")
    assert "3" in found.seen and "reserves" in found.cause


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


def adds_in_some_order(x):
    """Of large vectors, every second call adds the last element first."""

    def run(values):
        _CALLS.append(values.size)
        other = values.size > 1 << 10 and len(_CALLS) % 2
        return np.add.accumulate(values[:: -1 if other else 1])[-1]

    return tf.numpy_function(run, [x], x.dtype, stateful=False)


def test_sums_of_whole_numbers_are_rounded_too():
    found = result("determinism", adds_in_some_order, np.float32([1, 2, 3]))
    assert "a much larger sample" in found.detail


@pytest.mark.parametrize("local", [True, False])
def test_the_time_zone_does_not_count(local):
    found = result("determinism", hour_of, np.int64([0, 3600]), local=local)
    assert ("localtime_r" in found.cause) == local, found.explanation()


@pytest.mark.parametrize(
    ("dtype", "bytes_of_runs", "told"),
    [
        ("float32", (0x5A, 0xA5), True),
        ("float32", (0x5A, 0x5A), False),
        ("float32", (0x5A, 0x33), False),
        ("int64", (0xA5, 0x01, 0x01), True),
        ("int8", (0x5A, 0xA5), False),  # numbers as any other
    ],
)
def test_what_holds_two_fillings_is_not_written(dtype, bytes_of_runs, told):
    """However other threads mix up which run has which."""
    runs = []
    for byte in bytes_of_runs:
        tail = np.full(2 * np.dtype(dtype).itemsize, byte, np.uint8).view(dtype)
        runs.append([np.concatenate([np.ones(3, dtype), tail])])
    assert show_filling(*runs) == told
    texts = [np.array([b"a", b"b"], object)]
    assert show_filling(*([*run, *texts] for run in runs)) == told
    (wanted,), (flat, *rest) = runs[:1], runs
    make = given([[one] for one in (*rest, flat)])  # never as in the runs before
    cause = fresh._by_threads(make, 1, flat, wanted, runs)
    if not told and len({*bytes_of_runs}) > 1:
        assert cause == UNREPEATED
    else:
        assert cause == UNWRITTEN


def given(answer):
    """A child process that answers so."""

    @contextlib.contextmanager
    def make(threads):
        yield SimpleNamespace(ask=lambda *_, **__: answer)

    return make
