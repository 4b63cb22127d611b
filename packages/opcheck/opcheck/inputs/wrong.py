"""Calls with empty tensors, and with wrong inputs and attrs."""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from opcheck.findings.compare import is_inexact
from opcheck.inputs.samples import flattened
from opcheck.subject import attrs_of_call, sizes_of

_FEW = 4  # elements of an input that is as an attr is
_LEFT_OUT = 16  # values of attrs that the sample leaves at their defaults
_SIZES = 3  # of the sample, the largest, which an attr exceeds by one
_RANK = 4  # the highest whose axes are all tried
_OPENING = (b"(", b"[", b"{", b"<")  # what a parser may nest
_COLUMNS = 4  # of places in several dimensions
_MARKS, _CUT, _LONG_TEXT = 6, 3, 100  # bytes and texts that are tried, and their length
_TOO_LARGE = b"99999999999999999999"


@dataclass(frozen=True)
class Case:
    """A call to try.

    Attributes:
      label: What is special about it.
      inputs: Arrays and lists of arrays.
      attrs: The keyword arguments.
      culprits: The numbers of the inputs, or the names of the attrs, that are wrong.
      named: Whether an error has to name a culprit.
      compared: Whether a result has to be the reference's.
      huge: Whether there are numbers among the inputs that drown others.
      special: Whether there are NaN or infinities among them.
    """

    label: str
    inputs: list
    attrs: dict
    culprits: tuple
    named: bool = True
    compared: bool = True
    huge: bool = False
    special: bool = False

    @property
    def largest(self) -> int:
        """The largest integer of a call, by absolute value, or the length of its longest string."""
        found = []
        for array in flattened(self.inputs):
            if array.dtype.kind in "iu" and array.size:
                found += [abs(int(array.min())), abs(int(array.max()))]
            found += map(len, array.flat) if array.dtype == object else []
        for value in self.attrs.values():
            for x in value if isinstance(value, list | tuple) else [value]:
                found += [abs(x)] if isinstance(x, int) else []
                found += [len(x)] if isinstance(x, str | bytes) else []
        return max(found, default=0)


def empty_cases(sample, description) -> Iterator[Case]:
    names = description.labels
    flat = sample.flat
    seen = set()

    def case(label: str, changed: list) -> Iterator[Case]:
        key = tuple(x.shape for x in changed)
        if key not in seen:
            seen.add(key)
            yield Case(label, sample.pack(changed), sample.attrs, ())

    for i, array in enumerate(flat):
        for axis in range(array.ndim):
            changed = list(flat)
            changed[i] = np.take(array, [], axis)
            yield from case(f"dimension {axis} of {names[i]} is 0", changed)
    for size in sorted({n for x in flat for n in x.shape}):
        changed = []
        for array in flat:
            for axis in (axis for axis, n in enumerate(array.shape) if n == size):
                array = np.take(array, [], axis)
            changed.append(array)
        yield from case(f"all dimensions of size {size} are 0", changed)
    for axis in range(max((x.ndim for x in flat), default=0)):
        changed = [np.take(x, [], axis) if x.ndim > axis else x for x in flat]
        yield from case(f"dimension {axis} of all inputs is 0", changed)
    scalars = [x.reshape(-1)[0:1].reshape(()) if x.size else x for x in flat]
    for i, scalar in enumerate(scalars):
        yield from case(f"{names[i]} is a scalar", [*flat[:i], scalar, *flat[i + 1 :]])
    yield from case("all inputs are scalars", scalars)
    first = 0  # of the tensors of an input
    for i, some in enumerate(sample.inputs):
        if isinstance(some, list) and some:
            inputs = [*sample.inputs[:i], [], *sample.inputs[i + 1 :]]
            label = f"{names[first].partition('[')[0]} is a list without tensors"
            yield Case(label, inputs, sample.attrs, ())
        first += len(some) if isinstance(some, list) else 1


def _value_cases(
    sample, names: Sequence[str], attrs: Mapping, other: str = ""
) -> Iterator[Case]:
    """Wrong values in each input; with another attr, named in the label, only in inputs of few elements."""
    for i, array in enumerate(sample.flat):
        if other and array.size > _FEW:
            continue
        for what, wrong, named in wrong_values(array):
            if other and (wrong.shape, wrong.dtype) != (array.shape, array.dtype):
                continue
            flat = [*sample.flat[:i], wrong, *sample.flat[i + 1 :]]
            culprits = (i,) if named != "any" else tuple(range(len(flat)))
            special = any(word in what for word in ("NaN", "Inf"))
            yield Case(
                f"{names[i]} {what}{other}",
                sample.pack(flat),
                attrs,
                culprits,
                bool(named) and not other,
                compared="dtype" not in what
                and "16 MB" not in what
                and (sample.options["special_values"] or not special),
                huge=what.endswith("1e30") or wrong.dtype.kind in "iu",
                special=special,
            )


def bad_cases(sample, description) -> Iterator[Case]:
    names = description.labels
    yield from _value_cases(sample, names, sample.attrs)
    everything = tuple(range(len(sample.flat)))
    for label, flat in (
        *_least_by_minus_one(sample.flat, names),
        *_other_order(sample.flat),
    ):
        yield Case(label, sample.pack(flat), sample.attrs, everything, huge=True)
    for label, inputs in other_lists(sample.inputs, names):
        yield Case(label, inputs, sample.attrs, everything, named=False)
    for label, flat in broadcasts(sample.flat, names):
        yield Case(label, sample.pack(flat), sample.attrs, everything, named=False)
    own = description.all_of("attr")
    known = {x.name for x in own} | sample.attrs.keys()
    lengths = {x.number_attr for x in description.all_of("output_arg")}
    of_call = attrs_of_call(sample.op, sample.attrs, own)
    sizes = sizes_of(sample.flat)[-_SIZES:]
    rank = min(_RANK, max((x.ndim for x in sample.flat), default=0))
    axes = range(-rank, rank)
    left_out = (known & of_call.keys()) - sample.attrs.keys()
    for name, value in of_call.items():
        if name not in known:
            continue
        for other in description.other_words(name, value):
            attrs = {**sample.attrs, name: other}
            for what, flat in {"": sample.flat, **_cubes(sample.flat)}.items():
                label = f"{name} = {other!r}{what}"
                named = name in sample.attrs
                yield Case(label, sample.pack(flat), attrs, (name, *everything), named)
            yield from _value_cases(sample, names, attrs, f", {name} = {other!r}")
        some = _wrong_attrs(value)
        if name in left_out:
            some = some[: max(4, _LEFT_OUT // len(left_out))]
        if type(value) is int:  # one that fits no more, by little
            some += [n + 1 for n in sizes if n + 1 != value and n + 1 not in some]
        if type(value) is int and value in axes:  # it may be one
            some += [n for n in axes if n != value and n not in some]
        for wrong in some:
            if name in lengths and abs(wrong) > 1 << 10:
                continue  # so many outputs overwhelm TensorFlow, not the op
            shown = repr(wrong) if len(repr(wrong)) < 30 else f"of length {len(wrong)}"
            attrs = {**sample.attrs, name: wrong}
            # Some are not wrong in themselves, but the inputs may not fit them.
            fits = isinstance(wrong, bool) or wrong in (0, 1, 0.5, "")
            fits = fits or (isinstance(wrong, int) and wrong - 1 in (value, *sizes))
            fits = fits or wrong in _with_one_more(value)
            fits = fits or (wrong in axes and wrong != -1)
            culprits = (name, *everything) if fits else (name,)
            yield Case(
                f"{name} = {shown}",
                sample.inputs,
                attrs,
                culprits,
                compared=_is_small(wrong),
            )


def _least_by_minus_one(
    flat: Sequence[np.ndarray], names: Sequence[str]
) -> Iterator[tuple[str, list]]:
    """The least integer in one input and -1 in another: their quotient does not fit, and the processor traps."""
    for (i, x), (j, y) in itertools.islice(
        itertools.permutations(enumerate(flat), 2), 6
    ):
        if x.dtype == y.dtype and x.dtype.kind == "i" and x.size and y.size:
            least = np.iinfo(x.dtype).min
            changed = list(flat)
            changed[i], changed[j] = np.full_like(x, least), np.full_like(y, -1)
            yield f"{names[i]} is all {least}, {names[j]} all -1", changed


def _other_order(flat: Sequence[np.ndarray]) -> Iterator[tuple[str, list]]:
    """Rows that belong together, like a sparse tensor's indices and values, with the first one moved to the end."""
    for rows in sorted({len(x) for x in flat if x.ndim}):
        alike = [x.ndim and len(x) == rows for x in flat]
        kinds = {x.dtype.kind for x, one in zip(flat, alike) if one}
        if rows > 2 and sum(alike) > 1 and "i" in kinds:
            changed = [np.roll(x, -1, 0) if one else x for x, one in zip(flat, alike)]
            yield f"the first of {rows} rows is at the end, in all inputs", changed


def broadcasts(
    flat: Sequence[np.ndarray], names: Sequence[str]
) -> Iterator[tuple[str, list]]:
    """Inputs that may be broadcast to larger ones: in all shapes with a size of 1 in some dimensions.

    An index that wraps around at the end of such an input is right for a row and for the whole, but not for a column.
    """
    tried = {(i, x.shape) for i, x in enumerate(flat)}
    for i, x in enumerate(flat):
        larger = {y.shape for j, y in enumerate(flat) if j != i and _fits(x, y)}
        for whole in sorted(larger, key=len, reverse=True)[:2]:
            for ones in itertools.product((False, True), repeat=len(whole)):
                shape = tuple(1 if one else n for one, n in zip(ones, whole))
                if (i, shape) not in tried:
                    tried.add((i, shape))
                    changed = [*flat[:i], _spread(x, shape), *flat[i + 1 :]]
                    yield f"{names[i]} has shape {list(shape)}", changed
    for (i, x), (j, y) in itertools.combinations(enumerate(flat), 2):
        if x.shape == y.shape and x.ndim > 1 and min(x.shape[0], x.shape[-1]) > 1:
            changed = list(flat)
            changed[i], changed[j] = np.take(x, [0], 0), np.take(y, [0], -1)
            yield f"{names[i]} is one row, {names[j]} one column", changed


def _fits(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether an array can be broadcast to the shape of another one, which has at most three dimensions."""
    if not x.size or y.size <= 1 or not x.ndim <= y.ndim <= 3:
        return False
    pairs = zip(x.shape[::-1], y.shape[::-1])
    return all(n in (1, m) for n, m in pairs)


def _spread(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The elements of an array in another shape, no row being like the one before."""
    size = int(np.prod(shape))
    places = np.arange(size)
    spread = x.reshape(-1)[(places + places // x.size) % x.size]
    if is_inexact(x.dtype):
        spread = (spread * np.linspace(1, 0.5, size)).astype(x.dtype)
    return spread.reshape(shape)


def other_lists(inputs: Sequence, names: Sequence[str]) -> Iterator[tuple[str, list]]:
    """Lists with one tensor more and with one less: each list alone, and all lists of one length together."""
    lists, first = {}, 0
    for i, some in enumerate(inputs):
        if isinstance(some, list) and some:
            lists[i] = names[first].partition("[")[0]
        first += len(some) if isinstance(some, list) else 1
    alike = [[j for j in lists if len(inputs[j]) == len(inputs[i])] for i in lists]
    for chosen in [[i] for i in lists] + [some for some in alike if len(some) > 1]:
        for more in (1, -1):
            changed = list(inputs)
            for i in chosen:
                changed[i] = inputs[i] + inputs[i][:1] if more > 0 else inputs[i][:-1]
            count = len(changed[chosen[0]])
            if count:
                label = " and ".join(lists[i] for i in chosen)
                yield f"{label} of {count} tensor{'s' * (count > 1)}", changed


def _cubes(flat: Sequence[np.ndarray]) -> dict[str, list[np.ndarray]]:
    """The inputs with the same size in all dimensions, which can then stand in for each other."""
    sizes = sizes_of(flat)
    if len(sizes) < 2:
        return {}
    least = sizes[0]
    cut = [x[tuple(slice(least) for _ in x.shape)] for x in flat]
    return {f", all sizes {least}": cut}


def _is_small(value) -> bool:
    """Whether a reference can count that far, or take a text that long."""
    if isinstance(value, list | tuple):
        return all(map(_is_small, value))
    if isinstance(value, str | bytes):
        return len(value) < 1 << 10
    return not isinstance(value, int) or abs(value) <= 1 << 16


def wrong_values(array: np.ndarray) -> Iterator[tuple[str, np.ndarray, object]]:
    """What can be wrong with an input, and whether the error has to name it, or "any" input."""
    rank = array.ndim
    first = array.reshape(-1)[:1]
    for wrong in sorted({0, 1, rank - 1, rank + 1, 5, 8} - {rank, -1}):
        if wrong < rank:
            if not array.size:
                continue
            changed = array[(0,) * (rank - wrong) + (...,)]
        else:
            changed = array.reshape((1,) * (wrong - rank) + array.shape)
        yield f"has rank {wrong}", changed, "any"
    if not rank:
        yield "has two elements", np.stack([array, array]), False
    for dtype in ("int8", "complex64", "object"):
        if array.dtype != dtype:
            changed = np.zeros(array.shape, dtype)
            if dtype == "object":
                changed[...] = b"text"
            yield (
                f"has dtype {'string' if dtype == 'object' else dtype}",
                changed,
                False,
            )
    if rank and array.shape[0]:
        longer = np.concatenate([array, array[:1]])
        yield f"has {len(longer)} rows", longer, "any"
        if len(array) > 1:
            yield f"has {len(array) - 1} rows", array[:-1], "any"
    for axis in (axis for axis in range(rank) if array.shape[axis] > 2 - bool(axis)):
        yield f"has size 1 in dimension {axis}", np.take(array, [0], axis), "any"
    if not first.size:
        return
    yield from _wrong_in_columns(array)
    if array.dtype.kind in "iu":  # it may hold indices
        twice = np.array(array)
        twice.reshape(-1)[1:2] = first
        reverse = array.reshape(-1)[::-1].reshape(array.shape)
        for what, changed in (
            ("has its first element twice", twice),
            ("is in reverse order", reverse),
        ):
            if not np.array_equal(array, changed):
                yield what, changed, False
    for what, value in _wrong_values(array.dtype):
        one = np.array(array)
        one.reshape(-1)[0] = value
        yield f"starts with {what}", one, True
        if array.size > 1:
            every = np.array(array)
            every.reshape(-1)[:] = [value] * array.size
            yield f"is all {what}", every, True
        if array.size > 2 and array.dtype.kind in "iu" and value in (-1, 1 << 16):
            one = np.array(array)  # both ends may be all that is checked
            one.reshape(-1)[array.size // 2] = value
            yield f"has {what} in the middle", one, "any"
    opening = first.item()[:1] if array.dtype == object else b""
    if opening in _OPENING:
        one = np.array(array)
        one.reshape(-1)[0] = opening * (1 << 24)
        yield f"starts with 16 MB of {opening.decode()!r}", one, True
    if array.dtype == object:
        for place, what, text in _broken_texts(array.reshape(-1)):
            one = np.array(array)
            one.reshape(-1)[place] = text
            yield what, one, True


def _wrong_in_columns(array: np.ndarray) -> Iterator[tuple[str, np.ndarray, str]]:
    """Integers in rows of a few, such as rows and columns: a wrong one in each column but the first."""
    few = array.ndim > 1 and 1 < array.shape[-1] <= _COLUMNS
    if not few or array.dtype not in (np.int32, np.int64):
        return
    for column in range(1, array.shape[-1]):
        for value in (-1, 1 << 16):
            one = np.array(array)
            one.reshape(-1)[column] = value
            yield f"has {value} in column {column}", one, "any"


def _broken_texts(texts: np.ndarray) -> Iterator[tuple[int, str, bytes]]:
    """Texts of an input that a parser may refuse: their place, what is special about them, and what they become.

    Of some bytes that are neither letters nor digits, the first is left out, doubled, and made the last byte. Numbers
    become 0, which has a sign all the same, or larger than 64 bits hold. Something stands before a text or behind it,
    or before its first number.
    """
    marks, tried = set(), {*texts}
    for place, text in enumerate(texts):
        if not isinstance(text, bytes) or len(text) > _LONG_TEXT:
            continue
        for i, byte in enumerate(text):
            mark = text[i : i + 1]
            if mark.isalnum() or byte > 127 or mark in marks or len(marks) >= _MARKS:
                continue
            marks.add(mark)
            for what, changed in (
                (f"without {mark!r}", text[:i] + text[i + 1 :]),
                (f"with {mark!r} twice", text[:i] + mark + text[i:]),
                (f"up to {mark!r}", text[: i + 1]),
            ):
                if changed not in tried:
                    tried.add(changed)
                    yield place, f"has {text!r} {what}", changed
        if 0 < len(text) and place < _CUT and text[:-1] not in tried:
            tried.add(text[:-1])
            yield place, f"has {text!r} without its last byte", text[:-1]
        number = re.search(rb"\d", text)
        at = number.start() if number else 0
        for changed in (
            text + b"x",
            text + b" ",
            b" " + text,
            text[:at] + b"0" + text[at:],
            text[:at] + b"+" + text[at:],
        ):
            if place == 0 and text and changed not in tried:
                tried.add(changed)
                yield place, f"has {changed!r} for {text!r}", changed
        for number in itertools.islice(re.finditer(rb"\d+", text), _CUT):
            for other in (_TOO_LARGE, b"0"):
                changed = text[: number.start()] + other + text[number.end() :]
                if place < _CUT and changed not in tried:
                    tried.add(changed)
                    what = f"with {other.decode()} for {number[0].decode()}"
                    yield place, f"has {text!r} {what}", changed


def _wrong_values(dtype: np.dtype) -> list[tuple[str, object]]:
    if is_inexact(dtype):
        return [("NaN", np.nan), ("Inf", np.inf), ("-Inf", -np.inf), ("1e30", 1e30)]
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        numbers = [
            -1,
            limits.min,
            limits.max,
            1 << 16,
            1 << 30,
            (1 << 24) + 1,
            (1 << 32) + 1,
            (1 << 53) + 1,
            1 << 62,
            -(1 << 31),
        ]
        fitting = dict.fromkeys(n for n in numbers if limits.min <= n <= limits.max)
        return [(str(n), n) for n in fitting]
    if dtype.kind == "O":
        return [
            ("an empty string", b""),
            ("letters of several bytes", "🦉äöü€字".encode()),
            ("bytes that are no UTF-8", b"\xff\xfe\x80"),
            ("a string with a NUL", b"a\0b"),
            ("a string of 16 MB", b"7" * (1 << 24)),
        ]
    if dtype.names:  # quantized: an integer in a record
        limits = np.iinfo(dtype[0])
        return [(str(n), n) for n in (limits.min, limits.max)]
    return []


def _with_one_more(value) -> list[list[int]]:
    """A list of integers with each in turn increased by one: it may be the only one that the kernel looks at."""
    if not isinstance(value, list | tuple) or not all(type(x) is int for x in value):
        return []
    return [[*value[:i], x + 1, *value[i + 1 :]] for i, x in enumerate(value[:8])]


def _wrong_attrs(value) -> list:
    if isinstance(value, bool | np.bool_):
        return [not value]
    if isinstance(value, int | np.integer):
        near = dict.fromkeys([0, int(value) + 1, 1, -1])
        far = [1 << 16, (1 << 31) - 1, 1 << 62, -(1 << 63)]
        return [n for n in near if n != value] + far
    if isinstance(value, float | np.floating):
        return [0.5, float("nan"), float("inf"), -1.0, 0.0, 1e30]
    if isinstance(value, str | bytes):
        return ["", "x" * (1 << 24)]
    if isinstance(value, list | tuple) and value:
        if all(isinstance(x, int) and not isinstance(x, bool) for x in value):
            wrong = [[], [*value, 1], [-1] * len(value), [1 << 30] * len(value)]
            return wrong + _with_one_more(value)
        return [[], [*value, value[-1]]]
    return []
