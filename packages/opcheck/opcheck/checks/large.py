"""Tensors with more elements than an `int` can count."""

import contextlib
import itertools
import math
import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tensorflow as tf

from opcheck.findings.report import Findings, Skip, describe_error
from opcheck.inputs.memory import after_zeros, in_place
from opcheck.subject import CLEAN_ERRORS, Subject
from opcheck.tensors import arrays, constant

_LEAST, _MOST = 11, 31  # elements, as powers of two
_KNOWN = (0, 2, 4)  # beyond the least: calls that tell what follows
_BLOCK, _MANY = 64, 1 << 9  # rows
_LONGEST = 60.0  # seconds of a call
_CAUSE = "an index, a size or an offset that is an `int`: `int64_t` holds all"


@dataclass(frozen=True)
class _Longer:
    """Some of the flat inputs, placed after rows of zeros along an axis."""

    subject: Subject
    axis: int
    chosen: tuple[int, ...]

    @property
    def largest(self) -> int:
        """The input with the most elements."""
        return max(self.chosen, key=lambda i: self.subject.flat[i].size)

    @property
    def least(self) -> int:
        """The exponent of a power of two that is at least the number of the sample's elements."""
        size = self.subject.flat[self.largest].size
        return max(_LEAST, size.bit_length())

    def zeros_for(self, elements: int) -> int:
        """How many rows give the largest input at least that many elements: whole blocks, if there are many."""
        x = self.subject.flat[self.largest]
        rows = -(-elements * x.shape[self.axis] // x.size)
        return rows if rows < _MANY else -(-rows // _BLOCK) * _BLOCK

    def tensors(self, zeros: int) -> list[tf.Tensor]:
        """All flat inputs."""
        return [
            in_place(after_zeros(x, zeros, self.axis))
            if i in self.chosen
            else constant(x)
            for i, x in enumerate(self.subject.flat)
        ]


@dataclass(frozen=True)
class _Called:
    """What a call gave: the shapes of its outputs, and the last elements of each, as many as the sample's have."""

    zeros: int
    shapes: list[tuple]
    ends: list[np.ndarray]
    took: float

    @property
    def size(self) -> int:
        """How many bytes all outputs take up, at least 1."""
        each = zip(self.shapes, self.ends)
        return sum(math.prod(shape) * x.itemsize for shape, x in each) or 1


def large_tensors(subject: Subject, found: Findings) -> str:
    """Calls the op with up to 2**31 elements, one more than an `int` can count. Runs only if `checks` names it.

    Zeros stand before the sample, in memory that is only read and so takes up no space. Results do take up space, at
    most what the option `memory` allows, so a sample of a small dtype goes further. Calls with few zeros show how each
    result ends: more zeros must not change its last elements, except for integers that grow with the number of zeros,
    which have to keep growing. The shape has to be the one that follows from these calls, and to fit the inferred one.
    """
    if not subject.repeats():
        raise Skip("no two calls give the same")
    longer, known = _grows(subject)
    label = subject.describe().labels[longer.largest]
    took = known[-1].took
    # A call that gets no memory may end the process, and means nothing.
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
    of_shapes, of_ends = _by_output(known, "shapes"), _by_output(known, "ends")
    last = longer.least + _KNOWN[-1]
    for before, power in itertools.pairwise([*range(last, _MOST, 2), _MOST]):
        zeros = longer.zeros_for(1 << power)
        so_far = f"up to 2**{before} elements in {label}"
        if too_much := _too_much(subject, known, zeros, 4 * took):
            found.note(f"{so_far}: {too_much}")
            return ""
        doing = f"2**{power} elements in {label}, zeros before the sample"
        subject.progress(doing)
        try:
            tensors = longer.tensors(zeros)
            made = _call(subject, tensors, zeros)
            graph = subject.traced([tf.TensorSpec(x.shape, x.dtype) for x in tensors])
        except (tf.errors.ResourceExhaustedError, MemoryError):
            found.note(f"{so_far}: there is no memory for more")
            return ""
        except CLEAN_ERRORS as error:
            found.note(f"{so_far}: it refuses more, {describe_error(error)}")
            return ""
        shapes, ends = (
            [_expected(x, zeros) for x in some] for some in (of_shapes, of_ends)
        )
        if wrong := _wrong(subject, made, graph.outputs, shapes, ends):
            found.fail(doing, *wrong, _CAUSE)
            return ""
        took = made.took
    return f"2**{_MOST} elements in {label}"


def _grows(subject: Subject) -> tuple[_Longer, list[_Called]]:
    """Inputs that the op takes after zeros, and some calls with them."""
    sizes = {
        i: x.size
        for i, x in enumerate(subject.flat)
        if x.size and x.ndim and x.dtype.kind in "iufcV" and not x.dtype.names
    }
    if not sizes:
        raise Skip("no input holds numbers, in one dimension or more")
    by_size = sorted(sizes, key=sizes.get, reverse=True)
    shapes = {i: subject.flat[i].shape for i in by_size}
    alike = [[k for k in sizes if shapes[k] == shapes[i]] for i in by_size]
    for axis, chosen in itertools.product(
        (0, -1), ([*sizes], *alike, *([i] for i in by_size))
    ):
        longer = _Longer(subject, axis, tuple(chosen))
        try:
            known = []
            for more in _KNOWN:
                zeros = longer.zeros_for(1 << longer.least + more)
                subject.progress(f"{zeros} rows of zeros before the sample")
                known.append(_call(subject, longer.tensors(zeros), zeros))
            return longer, known
        except Exception as error:
            refusal = describe_error(error)
    raise Skip(f"it takes no zeros before the sample: {refusal}")


def _call(subject: Subject, tensors: Sequence, zeros: int) -> _Called:
    start = time.monotonic()
    outputs = subject.outputs(tensors)
    took = time.monotonic() - start
    ends = [
        y[tuple(slice(max(0, n - m), n) for n, m in zip(y.shape, x.shape))]
        for x, y in zip(subject.expected(), outputs)
    ]
    return _Called(zeros, [tuple(y.shape) for y in outputs], arrays(ends), took)


def _by_output(known: Sequence[_Called], what: str) -> list[list[tuple]]:
    """For each output, its shape or end after each number of zeros."""
    return list(
        zip(*([(x.zeros, np.asarray(one)) for one in getattr(x, what)] for x in known))
    )


def _expected(some: Sequence[tuple], zeros: int) -> np.ndarray | None:
    """What three numbers of zeros lead one to expect for another: the same value, or even growth."""
    (n0, x0), (n1, x1), (n2, x2) = some
    if len({x0.shape, x1.shape, x2.shape}) > 1:
        return None
    if all(np.array_equal(x0, x, equal_nan=x0.dtype.kind in "fc") for x in (x1, x2)):
        return x0
    if x0.dtype.kind not in "iu":
        return None
    y0, y1, y2 = (x.astype(object) for x in (x0, x1, x2))
    if not np.array_equal((y1 - y0) * (n2 - n1), (y2 - y1) * (n1 - n0)):
        return None
    wanted = np.asarray(y0 + (y1 - y0) * (zeros - n0) // (n1 - n0), object)
    limits = np.iinfo(x0.dtype)
    fits = all(limits.min <= one <= limits.max for one in wanted.reshape(-1))
    return wanted.astype(x0.dtype) if fits else None


def _too_much(
    subject: Subject, known: Sequence[_Called], zeros: int, seconds: float
) -> str:
    """Why a call is not made."""
    if seconds > _LONGEST:
        return f"a call with four times as many would take {seconds:.0f} s"
    one, other = known[-2:]
    degree = math.log(other.size / one.size, other.zeros / one.zeros)
    size = other.size * (zeros / other.zeros) ** max(degree, 0)
    memory = subject.options.get("memory", 0)
    if 0 < memory < size:
        return (
            f"the results of more take {size / (1 << 30):.1f} GiB, and the option "
            f"memory allows {memory / (1 << 30):.1f}"
        )
    if 0 < (free := _free_memory()) < 2 * size:
        return (
            f"the results of more take {size / (1 << 30):.1f} GiB, and "
            f"{free / (1 << 30):.1f} are free"
        )
    return ""


def _free_memory() -> int:
    """Bytes that may be filled; 0 if the system does not say."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable"):
                return int(line.split()[1]) << 10
    return 0


def _wrong(
    subject: Subject, made: _Called, inferred: Sequence, shapes, ends
) -> tuple[str, ...]:
    """What is wanted and what is seen, if a result is wrong."""
    for i, (shape, other) in enumerate(zip(made.shapes, shapes)):
        if other is not None and shape != tuple(other):
            return (
                "the shape that follows from fewer elements",
                f"output {i} has shape {[*shape]} instead of {[*map(int, other)]}",
            )
    for i, (y, shape) in enumerate(zip(inferred, made.shapes)):
        if not y.shape.is_compatible_with(shape):
            return (
                "the inferred shape",
                f"output {i} of inferred shape {y.shape} has shape {[*shape]}",
            )
    known = [i for i, end in enumerate(ends) if end is not None]
    different = subject.difference(
        [ends[i] for i in known], [made.ends[i] for i in known]
    )
    if different:
        return "the last elements that it has behind fewer zeros", different
    return ()
