"""The values of the op, against the reference, in calls drawn near the sample."""

import string
from collections.abc import Callable

import numpy as np

from opcheck.checks.dtypes import have_kernels
from opcheck.checks.numbers import every_second_next, surely
from opcheck.findings.compare import difference, is_inexact, observed
from opcheck.findings.report import Findings
from opcheck.findings.wanted import (
    EXACTLY,
    WANTED,
    blamed_or_kept,
    reference_of,
    replaced,
)
from opcheck.inputs.constants import as_bytes, met, met_by_number
from opcheck.processes.budget import Budget
from opcheck.subject import Subject, attrs_of_call, is_sorted, sizes_of

_CALLS, _SECONDS = 800, 2.0
_LARGER, _MOST = 4, 1 << 8  # times the elements of an input, or so many
_SLOW = 0.3  # seconds of a call, after which there is no other one
_KNOWN = 1 << 12  # an attr up to which others are tried
_TOO_LARGE = 1 << 24  # bytes of results, to compute them again
_HUGE = 1 << 31  # of which no columns are drawn by themselves
_OFTEN, _SELDOM = 0.5, 0.25
_LETTERS = string.ascii_letters.encode()
_STEPS = 16  # between 0 and numbers that are on a grid
_TIMES = 8  # a size, for more elements that meet constants
_WHOLE = 8  # numbers halfway between whole ones are up to so many
_PRECISE = (("float32", "float64"), ("int32", "int64"))


def drawn_calls(subject: Subject, found: Findings) -> None:
    """Draws calls that differ from the sample in some or all sizes, dtypes, attrs and numbers, the same in each run.

    What the op or the reference refuses does not count, nor does a number that the reference computes differently from
    the numbers' neighbors. Then come calls with constants of the reference's code.
    """
    if subject.describe().takes_variants or not subject.flat:
        return
    draw = Draw(subject)
    _compare(subject, found, draw.call)
    if any(subject.constants) and not found.failures and not draw.solves:
        _compare(subject, found, draw.at_constants)


def _compare(subject: Subject, found: Findings, draw: Callable) -> None:
    """Makes up to 800 drawn calls, and reports the first that is wrong."""
    budget = subject.budget(_SECONDS)
    for _ in range(_CALLS):
        if budget.is_spent():
            return
        flat, attrs = draw()
        of_this_call = Budget(_SLOW)
        if both := _wrong(subject, flat, attrs):
            _fail(subject, found, *_nearer(subject, flat, attrs, both))
            return
        if of_this_call.is_spent():
            return


class Draw:
    """Draws calls; with `smooth=True`, in the sample's dtypes, and with floats that are seldom equal or on a grid.

    They are not on a grid either where the reference calls numpy.linalg: whether a matrix is singular is then decided
    by rounding.
    """

    def __init__(self, subject: Subject, smooth: bool = False):
        own = subject.describe().all_of("attr")
        known = {x.name for x in own} | subject.attrs.keys()
        of_call = attrs_of_call(subject.op, subject.attrs, own)
        self._attrs = {name: of_call[name] for name in of_call if name in known}
        self._names = {
            x.name: [
                name.decode()
                for name in x.allowed_values.list.s  # of a string
            ]
            for x in own
        }
        self._subject = subject
        self._smooth = smooth
        self.solves = subject.constants.solves
        self._dtypes = {} if smooth else _other_dtypes(subject)
        self._random = np.random.default_rng(0)
        self._on_a_grid = False  # all floats, so that some are equal, or meet exactly

    def call(self) -> tuple[list[np.ndarray], dict]:
        """Flat inputs and attrs."""
        sizes = self._sizes()
        self._on_a_grid = self._with(_SELDOM) and not (self._smooth or self.solves)
        flat = [self._input(x, sizes) for x in self._subject.flat]
        for attr, dtype in self._dtypes.items():
            if self._with(_SELDOM):
                flat = self._in_dtype(flat, attr, dtype)
        attrs = self.attrs()
        if self._on_a_grid and self._with(_SELDOM):
            self._put_halfway(flat, attrs)
        return flat, attrs

    def attrs(self) -> dict:
        """Attrs alone."""
        attrs = dict(self._subject.attrs)
        for name, value in self._attrs.items():
            if self._with(_SELDOM):
                attrs[name] = self._attr(name, value)
        return attrs

    def _with(self, probability: float) -> bool:
        return self._random.random() < probability

    def _in_dtype(self, flat: list, attr: str, dtype: np.dtype) -> list[np.ndarray]:
        """The inputs whose dtype an attr sets, in another dtype if it holds their numbers."""
        own = self._subject.describe().type_attrs
        with np.errstate(all="ignore"):
            cast = [x.astype(dtype) if a == attr else x for x, a in zip(flat, own)]
        held = dtype.kind == "f" or all(map(np.array_equal, flat, cast))
        return cast if held else flat

    def _put_halfway(self, flat: list[np.ndarray], attrs: dict) -> None:
        """Puts floats halfway between multiples of another input or attr, or of 1: only a rule for ties rounds these.

        The other one is a power of two, so that products and quotients are exact.
        """
        floats = [i for i, x in enumerate(flat) if x.size and x.dtype.kind == "f"]
        if not floats:
            return
        chosen = self._random.choice(floats)
        units = {i: flat[i] for i in floats if i != chosen} | {None: 1.0}
        units |= {k: x for k, x in self._attrs.items() if isinstance(x, float)}
        other = [*units][self._random.integers(len(units))]
        size = float(np.median(np.abs(units[other])))
        unit = float(2.0 ** np.round(np.log2(size))) if 0 < size < np.inf else 1.0
        if isinstance(other, str):
            attrs[other] = unit
        elif other is not None:
            flat[other] = np.full_like(flat[other], unit)
        x = flat[chosen]
        whole = self._random.integers(-_WHOLE * (x.min() < 0), _WHOLE, x.shape)
        flat[chosen] = ((whole + 0.5) * unit).astype(x.dtype)

    def at_constants(self) -> tuple[list[np.ndarray], dict]:
        """As `call`; in inputs and attrs stands what the reference's code names, where the results may change."""
        constants, random = self._subject.constants, self._random
        self._on_a_grid, sizes = False, {n: n * _TIMES for n in self._sizes()}
        flat = [self._input(x, sizes) for x in self._subject.flat]
        attrs = self.attrs() if self._with(_OFTEN) else dict(self._subject.attrs)
        chosen = random.integers(len(flat))
        for i, own in enumerate(self._subject.flat):
            if i == chosen or self._with(_SELDOM):
                x = met(constants, flat[i], random)
                if not _are_different(own) or _are_different(x):
                    flat[i] = _in_order_of(own, x)
        for name, value in self._attrs.items():
            if type(value) in (int, float) and self._with(_SELDOM):
                attrs[name] = met_by_number(constants, value, random)
        return flat, attrs

    def _sizes(self) -> dict[int, int]:
        """Other sizes for those of the sample, equal for equal ones; now and then for none of them."""
        sizes = sizes_of(self._subject.flat)
        if self._with(_SELDOM):
            return {}
        return {n: self._integer(n) for n in sizes if self._with(_OFTEN)}

    def _integer(self, n: int) -> int:
        """A number from 1 to twice as many, and often one that is close."""
        near = [n - 1, n + 1, 2 * n, 1, *self._random.integers(1, 2 * n + 2, 3)]
        return max(1, int(self._random.choice(near)))

    def _input(self, x: np.ndarray, sizes: dict[int, int]) -> np.ndarray:
        if not x.size:
            return x
        shape = tuple(sizes.get(n, n) for n in x.shape)
        if np.prod(shape) > max(_LARGER * x.size, _MOST):
            shape = x.shape
        moved = self._on_a_grid and is_inexact(x.dtype)
        if shape == x.shape and not moved and self._with(_OFTEN):
            return x
        if self._has_columns(x, shape):
            return self._columns(x, shape)
        picked = self._random.integers(x.size, size=shape)
        if x.shape and not self._with(_OFTEN):  # what there is, once more or cut off
            picked = np.arange(int(np.prod(shape))).reshape(shape) % x.size
        drawn = x.reshape(-1)[picked]
        if is_inexact(x.dtype) and x.dtype.kind != "c":
            with np.errstate(all="ignore"):  # some may be infinite
                drawn = self._floats(x, drawn)
        elif x.dtype.kind in "iu":
            drawn = self._integers(x, shape, drawn)
        elif x.dtype.kind == "O":
            drawn = self._texts(x, drawn)
        elif x.dtype.kind == "b" and self._with(_OFTEN):
            drawn = self._random.random(shape) < self._random.choice([0.2, 0.5, 0.8])
        elif x.dtype.kind == "c" and self._with(_OFTEN):
            spread = float(np.std(x)) or 1.0
            moved = self._random.normal(size=(2, *shape)) * spread
            drawn = drawn + moved[0] + 1j * moved[1]
        return np.asarray(_in_order_of(x, drawn), x.dtype)

    def _floats(self, x: np.ndarray, drawn: np.ndarray) -> np.ndarray:
        """Near those of the sample, or far from them; none below 0 if the sample has none there."""
        wide = np.asarray(drawn, np.float64)
        spread = float(np.std(np.asarray(x, np.float64))) or 1.0
        if self._smooth or self.solves or self._with(_OFTEN):
            wide = wide + self._random.normal(size=wide.shape) * spread
        if self._on_a_grid:
            step = 2.0 ** np.floor(np.log2(spread))
            wide = np.round(wide / step) * step
        elif self._with(_SELDOM):
            wide = wide * self._random.choice([0.1, 4.0, 100.0])
        least = float(np.min(np.asarray(x, np.float64), initial=0))
        return wide if least < 0 else np.abs(wide)

    def _integers(self, x: np.ndarray, shape, drawn: np.ndarray) -> np.ndarray:
        """Between the least and the greatest of the sample, or a little beyond; all different if the sample's are."""
        least, most = int(x.min()), int(x.max())
        if self._with(_SELDOM):
            most = self._integer(max(most, 1)) if most < 1 << 20 else most
            most = min(most, np.iinfo(x.dtype).max)
        if self._with(_OFTEN) and least <= most:
            count = int(np.prod(shape))
            if x.size > 1 and len(np.unique(x)) == x.size and most - least < _KNOWN:
                order = self._random.permutation(np.arange(least, most + 1))
                if order.size >= count:
                    return order[:count].reshape(shape)
                return drawn
            drawn = self._random.integers(least, most, shape, x.dtype, endpoint=True)
        if least > 0 and drawn.size and self._with(_SELDOM):  # where it may be special
            drawn = np.array(drawn)
            drawn.reshape(-1)[self._random.integers(drawn.size)] = 0
        return drawn

    def _has_columns(self, x: np.ndarray, shape) -> bool:
        """Whether columns are drawn separately: often, if they have nothing in common, like years and months."""
        numbers = x.dtype.kind in "iu" or is_inexact(x.dtype) and x.dtype.kind != "c"
        rows = x.ndim > 1 and x.size > x.shape[-1] == shape[-1]
        if self._smooth or not numbers or not rows or not _are_apart(x):
            return False
        # Pairs that fall, as latitude and longitude may, are not meant to be sorted.
        falling_pairs = x.shape[-1] == 2 and x.flat[0] > x.flat[1]
        sorted_rows = is_sorted(x) and not falling_pairs
        return not sorted_rows and self._with(_OFTEN)

    def _columns(self, x: np.ndarray, shape) -> np.ndarray:
        """Between the least and the greatest of their column; in one column often far beyond, floats of either sign."""
        rows, floats = x.reshape(-1, x.shape[-1]), is_inexact(x.dtype)
        least, most = rows.min(0).astype(np.float64), rows.max(0).astype(np.float64)
        far, times = self._random.integers(len(least)), 16 if floats else 2
        if self._with(_OFTEN) and abs(most[far]) < _KNOWN:
            most[far] = times * max(abs(least[far]), abs(most[far]))
            least[far] = -most[far] if floats else min(0, times * least[far])
        if floats:
            return self._random.uniform(least, most, shape).astype(x.dtype)
        held = np.iinfo(x.dtype)
        drawn = np.floor(self._random.uniform(least, most + 1, shape))
        return np.clip(drawn, held.min, held.max).astype(x.dtype)

    def _texts(self, x: np.ndarray, drawn: np.ndarray) -> np.ndarray:
        letters = [bytes([one]) for one in b"".join(map(as_bytes, x.reshape(-1)))]
        letters += [letter.encode() for letter in " .,;-0aZ\né€😀"] + [b"\x80", b"\xff"]
        texts = np.array(drawn, object)
        for place, text in np.ndenumerate(drawn):
            text = as_bytes(text)
            how = self._random.integers(8)
            begin, end = np.sort(self._random.integers(0, len(text) + 1, 2))
            if how == 0:
                text = text[begin:end]
            elif how == 1:
                times = int(self._random.integers(2, 6))
                text = text[:begin] + text[begin:end] * times + text[end:]
            elif how == 2:
                some = self._random.integers(len(letters), size=end - begin + 1)
                text = text[:begin] + b"".join(letters[i] for i in some) + text[end:]
            elif how == 3:
                other = as_bytes(x.reshape(-1)[self._random.integers(x.size)])
                text = text[:begin] + other + text[end:]
            elif how == 4:  # characters of two to four bytes
                some = "".join(self._random.choice([*"é€😀"], 3))
                text = text[:begin] + some.encode() + text[end:]
            elif how == 5:
                text = b"" if self._with(_SELDOM) else text + text[begin:end]
            elif how == 6 and end > begin:  # again, behind a letter
                letter = bytes([self._random.choice([*_LETTERS])])
                begin = end - 1 if self._with(_OFTEN) else begin
                text = text[:end] + letter + text[begin:]
            elif how == 7:
                text = text[:begin] + text[begin:end].swapcase() + text[end:]
            texts[place] = text
        return texts

    def _attr(self, name: str, value):
        if isinstance(value, bool | np.bool_):
            return not value
        if isinstance(value, int | np.integer):
            return self._other_integer(int(value))
        if isinstance(value, float | np.floating):
            return float(self._random.choice([0.5, 2.0, 0.1, 1.5])) * value
        if isinstance(value, str | bytes) and self._names.get(name):
            return str(self._random.choice(self._names[name]))
        if isinstance(value, list | tuple) and value:
            if all(type(x) is int for x in value):
                changed = [
                    self._other_integer(x) if self._with(_OFTEN) else x for x in value
                ]
                return type(value)(changed)
            if all(type(x) is float for x in value):
                return type(value)(x * self._random.choice([0.5, 2.0]) for x in value)
        return value

    def _other_integer(self, n: int) -> int:
        if abs(n) > _KNOWN:
            return n
        if n <= 0:
            return n + int(self._random.integers(-1, 3))
        return self._integer(n)


def _are_different(x: np.ndarray) -> bool:
    """Whether these are integers of which no two are equal, such as a permutation."""
    return x.dtype.kind in "iu" and x.size > 1 and len(np.unique(x)) == x.size


def _in_order_of(x: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """Numbers in ascending or descending order if those of the sample are."""
    if not x.ndim or x.size < 2 or not is_sorted(x):
        return drawn
    drawn = np.sort(drawn, -1)
    return np.flip(drawn, -1) if x.reshape(-1)[0] > x.reshape(-1)[-1] else drawn


def _are_apart(x: np.ndarray) -> bool:
    """Whether all numbers of one column are less than those of another, and none is huge or NaN."""
    rows = x.reshape(-1, x.shape[-1]).astype(np.float64)
    return bool(np.abs(rows).max() < _HUGE and rows.min(0).max() > rows.max(0).min())


def _other_dtypes(subject: Subject) -> dict[str, np.dtype]:
    """For each attr, a dtype that is as precise as the sample's and has a kernel, too."""
    described = subject.describe()
    given = {*subject.attrs, *subject.parameters()[len(subject.inputs) :]}
    found = {}
    for attr in {*described.type_attrs} - {""} - given:
        all_flat = zip(subject.flat, described.type_attrs)
        own = {x.dtype.name for x, a in all_flat if a == attr}
        for names in _PRECISE:
            other = {*names} - own
            if own <= {*names} and len(other) == 1:  # not of a list of both
                (name,) = other
                if have_kernels(described, attr, name):
                    found[attr] = np.dtype(name)
    return dict(sorted(found.items()))


def _wrong(subject: Subject, flat, attrs) -> tuple[list, list] | None:
    """What is seen, corrected where it is surely wrong, and what is seen; None if the call may be right."""
    subject.progress("a drawn call", flat, attrs)
    try:
        seen = subject.eager(flat, attrs)
        if sum(x.nbytes for x in seen) > _TOO_LARGE:
            return None
        wanted = reference_of(subject, flat, attrs)
    except Exception:
        return None
    if not subject.difference(wanted, seen, strict=False):
        return None
    sure = _sure(subject, flat, attrs, wanted, seen)
    return (sure, seen) if difference(sure, seen, EXACTLY, strict=False) else None


def _sure(subject: Subject, flat, attrs, wanted, seen) -> list[np.ndarray]:
    """What is seen, except where it is surely wrong: there, what is wanted."""
    near, wide = [], []
    for x in flat:
        own = x.dtype in (np.float32, np.float64)
        moved = own and not _is_coarse(x)  # else it is what is meant
        with np.errstate(all="ignore"):
            near.append(every_second_next(x) if moved else np.array(x))
        wide.append(x.astype(np.float64) if own else x)
    try:
        same = [reference_of(subject, some, attrs) for some in (near, wide)]
    except Exception:
        return list(seen)
    most = max(
        (float(np.abs(x).max()) for x in wide if x.dtype == np.float64 and x.size),
        default=0,
    )
    return surely(subject, "", wanted, seen, same, most)


def _is_coarse(x: np.ndarray) -> bool:
    """Whether all floats are multiples of a number such that sums and products are exact."""
    most = float(np.max(np.abs(x), initial=0, where=np.isfinite(x)))
    step = 2.0 ** np.floor(np.log2(most)) / _STEPS if most else 1.0
    return bool(np.all(x / step == np.round(x / step)))


def _nearer(subject: Subject, flat, attrs, both: tuple) -> tuple:
    """A wrong call with as much of the sample in it as possible, and what is wanted and seen there."""
    with np.errstate(all="ignore"):
        own = [x.astype(y.dtype) for x, y in zip(flat, subject.flat)]
    other = any(x.dtype != y.dtype for x, y in zip(own, flat))
    if other and (wrong := _wrong(subject, own, attrs)):
        flat, both = own, wrong
    for name in [*attrs]:
        own = {k: v for k, v in attrs.items() if k != name}
        if name in subject.attrs:
            own[name] = subject.attrs[name]
        if own != attrs and (wrong := _wrong(subject, flat, own)):
            attrs, both = own, wrong
    for i, x in enumerate(subject.flat):
        changed = replaced(flat, i, x)
        if wrong := _wrong(subject, changed, attrs):
            flat, both = changed, wrong
    return flat, attrs, both


def what_differs(subject: Subject, flat, attrs) -> str:
    """How a call differs from that of the sample."""
    labels = subject.describe().labels
    some = [
        f"{name} = {value!r}"
        for name, value in attrs.items()
        if name not in subject.attrs or subject.attrs[name] != value
    ]
    for label, x, own in zip(labels, flat, subject.flat):
        if x.dtype != own.dtype:
            some.append(f"{label} in {x.dtype.name}")
        if x.shape != own.shape:
            some.append(f"{label} of shape {[*x.shape]}")
        elif not np.array_equal(x, own.astype(x.dtype)):
            some.append(f"other values in {label}")
    return ", ".join(some)


def _fail(subject: Subject, found: Findings, flat, attrs, both: tuple) -> None:
    found.fail(
        f"with {what_differs(subject, flat, attrs)}",
        WANTED,
        difference(*both, EXACTLY, strict=False),
        **blamed_or_kept(subject, observed(*both, inputs=flat), *both, flat, attrs),
    )
