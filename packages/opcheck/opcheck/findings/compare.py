"""Compare values as a test of an op has to: exactly, or within a tolerance, and NaN equals NaN."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

# (relative, absolute), by the name of the dtype. All others are compared exactly.
TOLERANCES = {
    "bfloat16": (3e-2, 3e-2),
    "float16": (4e-3, 4e-3),
    "float32": (1e-5, 1e-6),
    "float64": (1e-10, 1e-12),
    "complex64": (1e-5, 1e-6),
    "complex128": (1e-10, 1e-12),
}
_EARLY = 256  # times the largest number may be what an intermediate result is
_TELLING = 6  # places along an axis; of fewer, some are wrong by chance
# What NumPy knows only through ml_dtypes has kind "V" or "f", depending on the version.
_INEXACT = frozenset(
    [*TOLERANCES, "float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2fnuz"]
)


def tolerance(dtype: np.dtype, overrides: Mapping | None = None) -> tuple[float, float]:
    """The relative and absolute tolerance of a dtype.

    Args:
      dtype: Of the values.
      overrides: From a dtype's name to (relative, absolute) or to one number for both.
    """
    chosen = (overrides or {}).get(dtype.name, TOLERANCES.get(dtype.name, (0.0, 0.0)))
    return tuple(chosen) if isinstance(chosen, Sequence) else (chosen, chosen)


def is_inexact(dtype: np.dtype) -> bool:
    """Whether the dtype is floating or complex, bfloat16 included."""
    return np.dtype(dtype).name in _INEXACT


def difference(
    expected: Sequence[np.ndarray],
    actual: Sequence[np.ndarray],
    overrides: Mapping | None = None,
    strict: bool = True,
    exact: bool = False,
) -> str:
    """Says where two lists of arrays differ, in one line; nothing if they are equal.

    Args:
      expected: What should be.
      actual: What is. Its dtypes decide on the tolerances.
      overrides: As for `tolerance`.
      strict: Whether dtypes must be equal too.
      exact: Whether the bits must be equal.
    """
    if len(expected) != len(actual):
        return f"{len(actual)} outputs instead of {len(expected)}"
    for number, (wanted, got) in enumerate(zip(expected, actual)):
        name = f"output {number}" if len(actual) > 1 else "the output"
        wanted, got = np.asarray(wanted), np.asarray(got)
        if not strict:
            wanted, got = unwrapped(wanted), unwrapped(got)
        if wanted.shape != got.shape:
            return f"{name} has shape {list(got.shape)} instead of {list(wanted.shape)}"
        if strict and wanted.dtype != got.dtype:
            return f"{name} has dtype {got.dtype} instead of {wanted.dtype}"
        if _same_bits(wanted, got):
            continue
        close = _equal(
            wanted, got, (0.0, 0.0) if exact else tolerance(got.dtype, overrides), exact
        )
        if not close.all():
            first = tuple(int(i) for i in np.argwhere(~close)[0])
            where = f"{name}{list(first)}" if first else name
            count = int(np.size(close) - np.count_nonzero(close))
            shown = _show_both(got[first], wanted[first])
            return (
                f"{where} is {shown[0]} instead of {shown[1]}"
                f" ({count} of {close.size} elements differ)"
            )
    return ""


def observed(
    expected: Sequence[np.ndarray],
    actual: Sequence[np.ndarray],
    overrides: Mapping | None = None,
    inputs: Sequence[np.ndarray] | None = None,
) -> str:
    """What the wrong elements have in common: their values, or their places; nothing where nothing is seen.

    Args:
      expected: What should be.
      actual: What is.
      overrides: As for `tolerance`.
      inputs: What the op was called with, where it is known.
    """
    for wanted, got in zip(expected, actual):
        wanted, got = unwrapped(np.asarray(wanted)), unwrapped(np.asarray(got))
        if wanted.shape != got.shape or object in (wanted.dtype, got.dtype):
            continue
        wrong = ~_equal(wanted, got, tolerance(got.dtype, overrides), False)
        if wrong.any():
            values = _in_values(wanted[wrong], got[wrong], inputs)
            seen = (values, _in_places(wrong))
            return "; ".join(filter(None, seen))
    return ""


def _in_values(wanted: np.ndarray, got: np.ndarray, inputs) -> str:
    """What is common to all of some wrong values."""
    if is_inexact(got.dtype):
        wanted, got = wide(wanted, got)
        nans = np.isnan(wanted), np.isnan(got)
        if nans[1].all():
            return _of_nan(inputs)
        if nans[0].all():
            return "NaN is lost: it is a number where NaN is right"
        if np.isinf(got).all() and np.isfinite(wanted).all():
            return "it is infinite where a number is right"
    elif wanted.dtype.kind in "iu" and got.dtype.kind in "iu":
        wanted, got = wanted.astype(object), got.astype(object)
        if not any((got - wanted) % (1 << 32)):
            return "right but for a multiple of 2**32: a product or a sum overflows in int32"
        wanted, got = wide(wanted, got)
    elif wanted.dtype.kind == got.dtype.kind == "b":
        return ""
    else:
        wanted, got = wide(wanted, got)
    if len(got) < 2 or not np.isfinite([wanted, got]).all():
        return ""
    if not got.any():
        return "it is 0 wherever it is wrong"
    if (wanted == wanted[0]).all():
        return ""
    if wanted.all() and np.ptp(factors := (got / wanted).real) < 1e-3 * abs(factors[0]):
        near = abs(factors[0] - 1) < 0.01  # by so little, it may be anything
        if not near and np.allclose(got, factors[0] * wanted, 1e-3, 0):
            return f"it is {factors[0]:.4g} times what is right wherever it is wrong"
    if np.ptp((added := got - wanted).real) < 1e-3 * abs(added[0]) and added.real.any():
        return (
            f"it is {added[0].real:+.4g} away from what is right wherever it is wrong"
        )
    return ""


def _of_nan(inputs: Sequence[np.ndarray] | None) -> str:
    """Why results may be NaN where numbers are right."""
    told = "it is NaN where a number is right"
    if inputs is None:
        return told
    if any(is_inexact(x.dtype) and np.isnan(wide(x)[0]).any() for x in inputs):
        return f"NaN spreads: {told}"
    return f"{told}, though no input is: 0 / 0, inf - inf or the like in the kernel"


def _in_places(wrong: np.ndarray) -> str:
    """Along which axis wrong elements have places of their own."""
    for axis, size in enumerate(wrong.shape):
        others = tuple(i for i in range(wrong.ndim) if i != axis)
        rows = np.flatnonzero(wrong.any(others))
        if size < _TELLING or len(rows) == size:
            continue
        name = "elements" if wrong.ndim == 1 else f"places of dimension {axis}"
        if len(rows) == 1:
            last = ", the last" if rows[0] == size - 1 else ""
            return f"only at index {rows[0]}{last}, of {size} {name}"
        if rows[-1] == size - 1 and len(rows) == size - rows[0]:
            return f"only from {rows[0]} on, of {size} {name}"
        if len(rows) == rows[-1] + 1:
            return f"only the first {len(rows)} of {size} {name}"
        steps = {*np.diff(rows)}
        if steps == {1}:
            return f"only from {rows[0]} to {rows[-1]}, of {size} {name}"
        if len(steps) == 1 and len(rows) > 2:
            return f"only in steps of {rows[1] - rows[0]}, of {size} {name}"
    return ""


def compared(options: Mapping, expected, actual, **how) -> str:
    """As `difference`, by the options of `opcheck.check`: tolerances, and whether chance is meant."""
    if options.get("nondeterministic") and len(expected) == len(actual):
        expected = [
            got if np.asarray(wanted).shape == got.shape else wanted
            for wanted, got in zip(expected, actual)
        ]
    return difference(expected, actual, options.get("tolerances"), **how)


def unwrapped(array: np.ndarray) -> np.ndarray:
    """The integers of a quantized array, which NumPy has as records of one."""
    return array[array.dtype.names[0]] if array.dtype.names else array


def _same_bits(wanted: np.ndarray, got: np.ndarray) -> bool:
    """The quick way to see that all is well."""
    if wanted.dtype != got.dtype or got.dtype == object:
        return False
    return bool(np.array_equal(_bytes(wanted), _bytes(got)))


def _bytes(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _equal(wanted: np.ndarray, got: np.ndarray, tolerances, exact: bool) -> np.ndarray:
    if object in (got.dtype, wanted.dtype):
        return np.asarray(as_bytes(wanted) == as_bytes(got))
    if exact and wanted.dtype == got.dtype:
        bits = [
            _bytes(_without_signs_of_nan(x)).reshape(-1, got.dtype.itemsize)
            for x in (wanted, got)
        ]
        return np.all(bits[0] == bits[1], axis=-1).reshape(got.shape)
    if is_inexact(got.dtype) or is_inexact(wanted.dtype):
        return close(wanted, got, *tolerances) | _overflows_early(wanted, got)
    return np.asarray(wanted == got)


def _overflows_early(wanted: np.ndarray, got: np.ndarray) -> np.ndarray:
    """Where a result is infinite, and so near the largest number that a step before it may have overflowed."""
    if got.dtype.name not in ("float32", "float64"):
        return np.zeros(got.shape, bool)
    [wanted] = wide(wanted)
    near = np.abs(wanted) > np.finfo(got.dtype).max / _EARLY
    return np.isinf(got) & near & (np.signbit(got) == np.signbit(wanted.real))


def _without_signs_of_nan(x: np.ndarray) -> np.ndarray:
    """An array in which no NaN has a sign: a processor gives it either, by how many elements are computed at once."""
    if not is_inexact(x.dtype) or x.dtype.itemsize < 2:
        return x
    parts = np.ascontiguousarray(x).reshape(-1).view(x.real.dtype)
    return np.where(np.isnan(parts), np.abs(parts), parts)


def close(
    wanted: np.ndarray, got: np.ndarray, relative: float, absolute: float
) -> np.ndarray:
    """Where two arrays, whose dtypes need not have a common one, are equal within a tolerance. NaN equals NaN."""
    wanted, got = wide(wanted, got)
    with np.errstate(all="ignore"):
        equal = np.isclose(got, wanted, relative, absolute, equal_nan=True)
        if got.dtype.kind == "c":  # beside an infinite part, the other is rounded, too
            parts = [
                np.isclose(x, y, relative, absolute, equal_nan=True)
                for x, y in ((got.real, wanted.real), (got.imag, wanted.imag))
            ]
            equal |= np.isinf(got) & np.isinf(wanted) & parts[0] & parts[1]
    return equal


def wide(*arrays: np.ndarray) -> list[np.ndarray]:
    """Arrays in float64, or in complex128 if one of them is complex."""
    dtype = np.complex128 if any(x.dtype.kind == "c" for x in arrays) else np.float64
    with np.errstate(all="ignore"):
        return [x.astype(dtype) for x in arrays]


def as_bytes(array: np.ndarray) -> np.ndarray:
    """An array of strings as TensorFlow has them."""
    flat = [x.encode() if isinstance(x, str) else x for x in array.reshape(-1).tolist()]
    result = np.empty(len(flat), object)
    result[:] = flat
    return result.reshape(array.shape)


def _show_both(*values) -> list[str]:
    """As `_show`, but with as much of the values as tells them apart."""
    shown = [_show(value) for value in values]
    if shown[0] == shown[1] and isinstance(values[0], np.generic):
        shown = [str(value.item()) for value in values]
    if shown[0] == shown[1] and isinstance(values[0], np.generic):
        bits = [value.tobytes()[::-1].hex() for value in values]
        shown = [f"{one} (0x{bit})" for one, bit in zip(shown, bits)]
    return shown


def _show(value) -> str:
    if isinstance(value, bytes | str):
        return repr(value[:40])
    return f"{value:.9g}" if np.asarray(value).dtype.kind == "f" else str(value)


def message_of(error: str) -> str:
    """An error without its class, and without the node and the op that TensorFlow names in it."""
    message = error.split(": ", 1)[-1]
    return re.sub(r"\{\{.*?\}\}|\[Op:.*?\]", "", message)


def mentions(error: str, names: Sequence[str]) -> bool:
    """Whether an error message has one of the names in it, a short one as a word, a plural as a singular.

    The singular of indices is index, too. A space or a hyphen may stand for an underscore.
    """
    message = message_of(error).lower()
    message = re.sub(r"(?<=[a-z0-9])[-\s]+(?=[a-z0-9])", "_", message)
    stems = [re.sub("(?<=..)s$", "", name.lower()) for name in names]
    stems += [re.sub("ice$", "ex", stem) for stem in stems if stem.endswith("indice")]
    return any(
        stem in message
        if len(stem) > 2
        else re.search(rf"(?<![a-z0-9]){re.escape(stem)}s?(?![a-z0-9])", message)
        for stem in stems
    )
