"""The constants in a function's code."""

import datetime
import functools

import numpy as np
import pytest

from opcheck.inputs.constants import Constants, constants_of, met

SIZES = {"small": 12, "large": 1 << 10}
STEPS = np.float32([0.25, 0.5])


def by_name(name):
    """A docstring is no constant of the code, 99 neither."""
    return SIZES[name]


def with_many(x, *, limit=40):
    def nearest(x):
        return [3.5 if one > limit else by_name("large") for one in x]

    return nearest(x) + 7 * STEPS[0] + 0 + True


@pytest.mark.parametrize(
    "function", [with_many, functools.partial(with_many, limit=3), lambda: with_many(5)]
)
def test_constants_come_from_the_module_s_own_functions(function):
    found = constants_of(function)
    assert {7, 12, 1024} <= {*found.integers}
    assert {0.25, 0.5, 3.5} == {*found.floats}
    assert {b"small", b"large"} == {*found.texts}
    assert not {0, 1, 99} & {*found.integers}


@pytest.mark.parametrize("function", [None, np.add, lambda x: np.sort(x)])
def test_other_functions_have_none(function):
    assert not any(constants_of(function))


def test_a_function_that_calls_itself_ends():
    def halved(x):
        return halved(x // 2) if x > 5 else x

    assert constants_of(halved).integers == (2, 5)


@pytest.mark.parametrize(
    "x",
    [
        np.uint8([3, 250]),
        np.int64([[-5, 1 << 62]]),
        np.arange(-4, 5),
        np.float16([1, 2]),
        np.ones(0),
    ],
)
def test_numbers_stay_in_their_dtype(x):
    random = np.random.default_rng(0)
    for _ in range(100):
        changed = met(Constants((-300, 100, 1 << 40, 1 << 64), (0.5,)), x, random)
        assert (changed.dtype, changed.shape) == (x.dtype, x.shape)
        if x.dtype.kind != "f" and x.min() >= 0:
            assert (changed.astype(object) >= 0).all()


def test_a_function_that_reads_a_calendar_meets_its_exceptions():
    def year_of(days):
        return (datetime.date(1970, 1, 1) + datetime.timedelta(int(days))).year

    found = constants_of(year_of)
    assert {11016, 20000229, 951782400} <= {*found.integers}
    assert b"2000-02-29" in found.texts


def test_without_constants_nothing_changes():
    x = np.float32([1, 2])
    assert met(Constants(), x, np.random.default_rng(0)) is x


def test_texts_become_as_long_as_integers_say():
    x = np.array([b"a\0b"], object)
    constants, random = Constants((254, 1 << 40)), np.random.default_rng(0)
    made = [met(constants, x, random)[0] for _ in range(200)]
    runs = {len(one.split(b"\0")[0]) for one in made}
    assert {253, 254, 255, 256} <= runs
    assert max(map(len, made)) < 300
