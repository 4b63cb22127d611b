"""The constants that a function's code names: its results may change where its inputs meet them.

Fuzzers call such a list a dictionary, and read it from the program under test:
https://llvm.org/docs/LibFuzzer.html#dictionaries
"""

import contextlib
import datetime
import dis
import functools
import inspect
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import NamedTuple

import numpy as np

_DEEPEST = 4  # functions that call each other
_SIZE = 1 << 12  # a constant that an integer may be set to, even if it is a size
FEW = 8  # integers that may be sizes
_CALENDARS = {"calendar", "date", "datetime", "datetime64", "timedelta", "timegm"}
# Leap years, years that look like them, and the ends of such years, to which weeks of the next belong.
_DATES = (
    "1600-02-29 1900-02-28 1900-03-01 2000-02-29 2000-12-31 "
    "2019-12-30 2024-12-31 2100-02-28 2100-03-01"
).split()
_MOST = 64  # elements of a constant, constants of a kind, or bytes of a text


class Constants(NamedTuple):
    """Numbers other than 0 and ±1, and texts.

    Attributes:
      integers: From the least to the greatest.
      floats: As are these; integers are not among them.
      texts: As bytes.
      solves: Whether it calls numpy.linalg.
    """

    integers: tuple[int, ...] = ()
    floats: tuple[float, ...] = ()
    texts: tuple[bytes, ...] = ()
    solves: bool = False


def constants_of(function: Callable | None) -> Constants:
    """The constants in the code of a function and of the functions of its module that it calls.

    Args:
      function: Written in Python; of others, and for None, there are no constants.
    """
    integers, floats, texts = set(), set(), set()
    for value in _values(function):
        if isinstance(value, bool | np.bool_):
            continue
        if isinstance(value, int | np.integer):
            integers.add(int(value))
        elif isinstance(value, float | np.floating) and np.isfinite(value):
            whole = float(value).is_integer()
            (integers if whole else floats).add(int(value) if whole else float(value))
        elif isinstance(value, str | bytes) and 0 < len(value) <= _MOST:
            texts.add(as_bytes(value))
    integers -= {-1, 0, 1}
    ordered = (tuple(sorted(some)[:_MOST]) for some in (integers, floats, texts))
    code = getattr(_plain(function), "__code__", None)
    return Constants(*ordered, solves=code is not None and "linalg" in _names(code))


def _values(function) -> Iterator:
    """Constants, one by one."""
    done = set()
    waiting = [(_plain(function), 0)]
    while waiting:
        value, depth = waiting.pop()
        if isinstance(value, FunctionType):
            if value.__code__ in done or depth > _DEEPEST:
                continue
            done.add(value.__code__)
            named = {*_names(value.__code__)}
            known = {**value.__globals__, **_closure(value)}
            for one in (_plain(known[name]) for name in sorted(named & known.keys())):
                if getattr(one, "__module__", value.__module__) == value.__module__:
                    waiting.append((one, depth + 1))
            if "pi" in named:
                yield np.pi
            if named & _CALENDARS:
                yield from _dates()
            defaults = value.__defaults__ or ()
            waiting += [(one, depth) for one in (*defaults, *_of(value.__code__))]
        elif isinstance(value, np.ndarray):
            if value.size <= _MOST:
                yield from value.reshape(-1).tolist()
        elif isinstance(value, dict):
            waiting.append(([*value, *value.values()], depth))
        elif isinstance(value, list | tuple | set | frozenset):
            if len(value) <= _MOST:
                waiting += [(one, depth) for one in value]
        else:
            yield value


def _dates() -> Iterator:
    """Dates in their usual forms: days and seconds since 1970, year, month and day in a row, and as a text."""
    for date in map(datetime.date.fromisoformat, _DATES):
        days = (date - datetime.date(1970, 1, 1)).days
        yield from (days, 86400 * days, int(f"{date:%Y%m%d}"), date.isoformat())


def _plain(function):
    """The function inside a decorated one, one with some arguments or a method."""
    while isinstance(function, functools.partial):
        function = function.func
    function = getattr(function, "__func__", function)
    return inspect.unwrap(function) if isinstance(function, FunctionType) else function


def _closure(function: FunctionType) -> dict:
    """The variables of functions around it, as far as these have a value."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        with contextlib.suppress(ValueError):  # empty
            found[name] = cell.cell_contents
    return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _codes(one)


def _names(code: CodeType) -> Iterator[str]:
    for one in _codes(code):
        yield from (*one.co_names, *one.co_freevars)


def _of(code: CodeType) -> Iterator:
    """Those that the instructions load; a docstring is none of these."""
    for one in _codes(code):
        for instruction in dis.get_instructions(one):
            # Python 3.14 has an instruction of its own for small integers.
            if instruction.opname in ("LOAD_CONST", "LOAD_SMALL_INT", "RETURN_CONST"):
                if not isinstance(instruction.argval, CodeType):
                    yield instruction.argval


def met(constants: Constants, x: np.ndarray, random: np.random.Generator):
    """An array some of whose elements are a constant, are beside it or are moved by it; as it is if none fits."""
    if x.dtype.kind == "O":
        return _met_by_texts(constants, x, random)
    floats, numbers = x.dtype.kind == "f", constants.integers
    if floats:
        numbers = (*numbers, *constants.floats)
    elif x.size <= FEW:
        numbers = [c for c in numbers if abs(c) < _SIZE]
    if not numbers or not x.size or x.dtype.kind not in "iuf":
        return x
    wide = x.astype(np.float64 if floats else object)
    each = x.shape if random.random() < 0.5 else ()
    c = np.array(numbers, wide.dtype)[random.integers(len(numbers), size=each)]

    def steps(end):  # in Python's integers, as what they are added to may be
        return np.asarray(random.integers(-1, end, each)).astype(wide.dtype)

    beside = steps(2) * (0.5 if floats else 1)
    multiple = (wide // c + steps(3)) * c
    ways = [c, c + beside, -c, wide + c, wide - c, c - wide]
    ways += [multiple, multiple, multiple, multiple + beside]
    ways = [np.asarray(way, wide.dtype) for way in ways]
    moved = np.choose(random.integers(len(ways), size=each), ways)
    chosen = random.random(x.shape) < random.choice([0.3, 1.0])
    if x.ndim > 1 and random.random() < 0.5:  # in one column
        chosen &= np.arange(x.shape[-1]) == random.integers(x.shape[-1])
    result = np.where(chosen, moved, wide)
    if floats:
        result = np.abs(result) if x.min() >= 0 else result
        with np.errstate(over="ignore"):
            return result.astype(x.dtype)
    held = np.iinfo(x.dtype)
    fits = held.min <= result.min() and result.max() <= held.max
    return result.astype(x.dtype) if fits else x


def met_by_number(constants: Constants, value: int | float, random) -> int | float:
    """A constant in place of a number, or one beside it; the number where there is none."""
    if isinstance(value, float):
        some = (*constants.integers, *constants.floats)
    else:
        some = [c for c in constants.integers if abs(c) < _SIZE]
    if not some:
        return value
    c = some[random.integers(len(some))]
    return type(value)(c if isinstance(value, float) else c + random.integers(-1, 2))


def _met_by_texts(constants: Constants, x: np.ndarray, random) -> np.ndarray:
    """Texts with a constant in place of a part, or with a byte as many times as an integer says, or nearly."""
    result = np.array(x, object)
    lengths = [c for c in constants.integers if 1 < c < _SIZE]
    if not (constants.texts or lengths):
        return result
    for place, text in np.ndenumerate(x):
        text = as_bytes(text)
        begin, end = np.sort(random.integers(0, len(text) + 1, 2))
        begin, end = [(begin, end), (begin, begin), (0, len(text))][random.integers(3)]
        chosen = random.integers(len(constants.texts) + len(lengths))
        if chosen < len(constants.texts):
            put = constants.texts[chosen]
        else:
            times = lengths[chosen - len(constants.texts)] + random.integers(-1, 2)
            put = text[begin : begin + 1] * times or b"a" * times
        result[place] = text[:begin] + put + text[end:]
    return result


def as_bytes(text) -> bytes:
    """A text as TensorFlow holds it."""
    return text if isinstance(text, bytes) else str(text).encode()
