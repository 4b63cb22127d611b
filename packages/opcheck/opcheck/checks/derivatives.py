"""Derivatives: the registered ones, and finite differences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import ml_dtypes
import numpy as np
import tensorflow as tf

from opcheck.checks.complex_parts import InRealNumbers
from opcheck.findings.compare import close, difference
from opcheck.findings.report import describe_error
from opcheck.findings.source import helper_line
from opcheck.findings.wanted import replaced
from opcheck.processes.pulse import one_call
from opcheck.subject import Subject, grown
from opcheck.tensors import arrays, constant

# Above so many elements, differences are taken along random directions.
_ELEMENTS = 64
_DIRECTIONS = 16
_ROUNDED = 0.02  # by which sums in another order may differ
_NEAR = 16  # calls with numbers that float32 hardly tells apart
IN_STEPS = "moves the results in steps"  # in a note
_INCOMING = "the gradient function does not multiply by the gradient that comes in: for twice as much, it is the same"
_CONJUGATE = "a gradient function without tf.math.conj: for a complex input it gives grad * conj(derivative)"


def float_outputs(subject: Subject) -> Callable:
    """From flat tensors to those results of the op that are floats."""
    return lambda flat: [x for x in subject.outputs(flat) if x.dtype.is_floating]


def gradients_of(subject: Subject, tensors: Sequence, weights=None) -> list:
    """The gradients of a weighted sum of the float outputs, as dense tensors; None where there is none."""
    watched = [x for x in tensors if x.dtype.is_floating]
    with tf.GradientTape() as tape:
        tape.watch(watched)
        outputs = float_outputs(subject)(tensors)
    weights = weights or [weights_of(x) for x in outputs]
    with one_call():
        results = iter(tape.gradient(outputs, watched, weights))
    return [dense(next(results)) if x.dtype.is_floating else None for x in tensors]


def known_gradients(subject: Subject, tensors: Sequence) -> list:
    """The gradients that there are."""
    return [x for x in gradients_of(subject, tensors) if x is not None]


def gradients_of_larger(subject: Subject) -> list[tuple[list, list]]:
    """Larger samples, also one in which a single input is larger, as a batch is, and the gradients that there are."""

    def op(*inputs, **attrs):
        return known_gradients(replace(subject, attrs=attrs), tf.nest.flatten(inputs))

    own = replace(subject, op=op)
    try:
        if not own.eager():
            return []
    except Exception:
        return []  # none is registered
    ways = (False, True)[: len(subject.flat)]
    larger = [grown(own, alone=alone) for alone in ways]
    return [(flat, own.eager(flat)) for flat in larger if flat is not None]


def other_gradients(subject: Subject, samples: Sequence[tuple]) -> str:
    """Where the gradients of flat samples are not those that are given with them, but for rounding."""
    for flat, wanted in samples:
        subject.progress("the gradient of a larger sample", flat)
        try:
            seen = arrays(known_gradients(subject, list(map(constant, flat))))
        except Exception as error:
            return describe_error(error)
        for one, got in zip(wanted, seen):
            if got.itemsize < 4:
                continue  # of few digits, many are lost
            most = np.max(np.abs(one), initial=0, where=np.isfinite(one))
            near = {got.dtype.name: (_ROUNDED, float(_ROUNDED * most))}
            if different := difference([one], [got], near):
                return different.replace("the output", "the gradient")
    return ""


def specs_of(tensors: Sequence, known: str) -> list[tf.TensorSpec]:
    """What a graph knows of tensors: their "shapes", "ranks" or "nothing"."""
    of_ranks = {"shapes": lambda x: x.shape, "ranks": lambda x: [None] * len(x.shape)}
    shape_of = of_ranks.get(known, lambda x: None)
    return [tf.TensorSpec(shape_of(x), x.dtype) for x in tensors]


def dense(one):
    """A gradient as a tensor, even if it came as `tf.IndexedSlices`; None stays None."""
    return tf.convert_to_tensor(one) if isinstance(one, tf.IndexedSlices) else one


def weights_of(output: tf.Tensor) -> tf.Tensor:
    """Fixed numbers in the output's shape, all different, none zero."""
    count = tf.range(tf.size(output), dtype=tf.int32)
    numbers = tf.sin(tf.cast(count, tf.float64) * 1.7 + 0.5) + 1.3
    return tf.cast(tf.reshape(numbers, tf.shape(output)), output.dtype)


@dataclass(frozen=True)
class Sides:
    """Both derivatives of a function with respect to one tensor.

    Attributes:
      analytical: The registered ones: a column for each direction.
      numerical: The finite differences.
      basis: The directions.
      symmetric: Whether each of them is a symmetric matrix.
      kinds: The dtypes that decide how exact both are.
      rounded: Whether results in float64 have the rounding errors of float32.
      delta: The step.
      allowed: How far one may be from the other.
      moved: From a step to what the function gives.
      along: From so much of each direction to what it gives, as a vector.
    """

    analytical: np.ndarray
    numerical: np.ndarray
    basis: tf.Tensor
    symmetric: bool
    kinds: list[tf.DType]
    rounded: bool
    delta: float
    allowed: float
    moved: Callable
    along: Callable

    def place(self, name: str, column: int) -> str:
        """What a column is for: an element of the tensor, or a direction."""
        shape = self.basis.shape[1:]
        if shape.num_elements() > _ELEMENTS:
            return f"{name} along random direction {column}"
        place = [int(k) for k in np.unravel_index(column, shape)]
        if self.symmetric and place[-1] != place[-2]:
            mirrored = [*place[:-2], *place[:-3:-1]]
            return f"{name}{place} and {name}{mirrored} together"
        return f"{name}{place}"


def both_sides(subject: Subject, tensors, i: int, function: Callable) -> Sides:
    """Derivatives with respect to one tensor, element by element, or along some directions if there are many."""
    x, size = tensors[i], int(tf.size(tensors[i]))
    if size <= _ELEMENTS:
        directions = np.eye(size)
    else:
        random = np.random.default_rng(i)
        directions = random.normal(size=[_DIRECTIONS, size]) / np.sqrt(size)
    directions = directions.reshape([-1, *x.shape])
    symmetric = is_of_one_triangle(subject, tensors, i, function)
    if symmetric:
        directions = directions + np.swapaxes(directions, -1, -2)
    basis = tf.constant(directions, x.dtype)

    def moved(step):
        return function(replaced(tensors, i, x + step))

    def along(steps):
        return _projected(moved(tf.tensordot(steps, basis, 1)))

    start = tf.zeros([len(directions)], x.dtype)
    kinds = [one.dtype for one in (x, *function(tensors))]
    if rounded := {*kinds} == {tf.float64} and _rounds_to_float32(moved, x):
        kinds.append(tf.float32)
    delta, allowed = steps_of(subject, kinds)
    with one_call():
        found = tf.test.compute_gradient(along, [start], delta)
    (analytical,), (numerical,) = found
    return Sides(
        analytical,
        numerical,
        basis,
        symmetric,
        kinds,
        rounded,
        delta,
        allowed,
        moved,
        along,
    )


def compare_with_differences(
    subject: Subject,
    found,
    tensors,
    chosen,
    function: Callable,
    order: str,
    names,
    of_the_op: bool = True,
):
    """Compares with finite differences along some directions of each chosen tensor.

    A line shows the difference where the function gives the op's results, or their gradient.
    """
    results = function(tensors)
    for i in chosen:
        x = tensors[i]
        size = int(tf.size(x))
        if size == 0:
            continue
        subject.progress(f"{order}, {names[i]}")
        sides = both_sides(subject, tensors, i, function)
        if sides.rounded:
            found.note("results in float64 with the rounding errors of float32")
        analytical, numerical, basis = sides.analytical, sides.numerical, sides.basis
        delta, allowed = sides.delta, sides.allowed
        scale = max(1.0, float(np.max(np.abs(numerical), initial=0)))
        # What is left of a difference of large numbers.
        outputs = _projected(results).numpy()
        coarsest = max(
            float(ml_dtypes.finfo(k.as_numpy_dtype).eps) for k in sides.kinds
        )
        finite = np.isfinite(outputs)
        noise = coarsest * np.max(np.abs(outputs), initial=0, where=finite) / delta
        least = allowed * scale + 16 * noise
        wrong = ~close(numerical, analytical, allowed, least)
        if not finite.all():
            wrong &= ~np.isnan(analytical)  # 0, for other results, times NaN
        for column in np.flatnonzero(wrong.any(0)):
            unit = tf.one_hot(column, len(basis), dtype=x.dtype)
            _, doubt = slopes_of(
                lambda t, u=unit, sides=sides: sides.along(t * u).numpy(), delta
            )
            error = np.abs(numerical[:, column] - analytical[:, column])
            # At a kink, the slope of one side lies just as far away as may be.
            rest = least + allowed * np.abs(numerical[:, column])
            wrong[:, column] &= np.isfinite(doubt) & ~(error <= doubt + rest)
            if wrong[:, column].any() and any(map(_is_large, results)):
                doubt = _doubt_of_sums(
                    lambda t, u=basis[column], sides=sides: sides.moved(t * u),
                    delta,
                    allowed,
                    noise,
                )
                wrong[:, column] &= ~(error <= doubt + rest)
        still = np.flatnonzero(wrong.any(0) & ~numerical.any(0))
        if still.size and (
            any(note.startswith(f"{names[i]} {IN_STEPS}") for note in found.notes)
            or (not numerical[wrong].any() and _has_steps(tensors, i, function))
            or _has_steps_along(
                lambda t, u=basis[still[0]], sides=sides: _projected(
                    sides.moved(t * u)
                ).numpy(),
                x,
                delta,
            )
        ):
            found.note(
                f"{names[i]} {IN_STEPS}, and the gradient is not that of these, but registered instead"
            )
        elif wrong.any():
            row, column = np.argwhere(wrong)[0]
            found.fail(
                f"{order}, with respect to {names[i]}",
                f"{numerical[row, column]:.6g} for {sides.place(names[i], column)}, by finite differences",
                f"{analytical[row, column]:.6g} ({wrong.sum()} of {wrong.size} derivatives differ)",
                subject.cause(
                    (
                        _INCOMING
                        if of_the_op and _ignores_incoming(subject, tensors, i)
                        else ""
                    )
                    or _pattern(numerical, analytical, wrong, subject.op)
                    or _columns(
                        wrong, "elements" if size <= _ELEMENTS else "directions"
                    ),
                ),
                line=_line(subject, tensors, i, column, row) if of_the_op else "",
            )


def _line(subject: Subject, tensors, i: int, column, row) -> str:
    """Python that shows an entry of the gradient."""
    count = len(subject.flat)
    given = {"of": i, "along": int(column), "row": int(row)}
    given |= {"order": 2} if len(tensors) > count else {}
    if delta := subject.options.get("delta"):
        given["delta"] = delta
    return line_of(subject, "slope", [x.numpy() for x in tensors[:count]], **given)


def line_of(subject: Subject, helper: str, flat, **given) -> str:
    """Python that prints what a function of `findings.shown` says of the op for some flat inputs."""
    if isinstance(subject.op, InRealNumbers):
        whole = subject.op.subject
        flat = subject.op.joined(flat, lambda real, imaginary: real + 1j * imaginary)
        subject = replace(whole, attrs=subject.attrs)
    some = subject.location, subject.op, subject.pack(flat), subject.attrs
    return helper_line(*some, helper, **given)


def of_second_order(subject: Subject, tensors, names, first=None) -> tuple:
    """The inputs and the gradients that come in, the function from these to the gradients, and the names of these."""
    incoming = list(map(weights_of, float_outputs(subject)(tensors)))
    first = first or gradients_of(subject, tensors)
    chosen = [i for i, one in enumerate(first) if one is not None]
    more = [f"the gradient of output {i}" for i in range(len(incoming))]
    function = gradient_of(subject, len(tensors), chosen)
    return [*tensors, *incoming], function, [*names, *more]


def _has_steps(tensors, i: int, function: Callable) -> bool:
    """Whether one tensor changes the results only in jumps, as rounding does, here and elsewhere.

    Whoever registers a gradient for such results wants something other than 0, such as a straight-through estimator.
    """
    random = np.random.default_rng(3)
    x, seen = tensors[i], []
    for factor in (1.0, 0.3, -1.0, -0.1, 2.7):
        moved = replaced(tensors, i, tf.cast(factor, x.dtype) * x)
        try:
            if slope_along(moved, i, function, random):
                return False
            seen.append(_projected(function(moved)).numpy())
        except Exception:
            return False  # it does not take these
    return any(not np.array_equal(seen[0], one) for one in seen)


def _has_steps_along(values: Callable, x, delta: float) -> bool:
    """As `_has_steps`, near the sample and along one direction: along others, the width of the steps may change."""
    most, seen = float(tf.reduce_max(tf.abs(x))), []
    for part in (0.0, 0.03, -0.03, 0.07, -0.07, 0.15, -0.15):
        place = part * most
        slopes, doubt = slopes_of(lambda t, p=place: values(p + t), delta)
        if (np.abs(slopes) > doubt).any():
            return False
        seen.append(values(place))
    return any(not np.array_equal(seen[0], one) for one in seen)


def is_symmetric(x: np.ndarray) -> bool:
    """Whether an input holds symmetric matrices, of which an op may read one triangle."""
    matrices = x.ndim > 1 and x.shape[-1] == x.shape[-2] > 1
    return matrices and np.array_equal(x, np.swapaxes(x, -1, -2))


def is_of_one_triangle(subject: Subject, tensors, i: int, function) -> bool:
    """Whether a tensor of the sample holds symmetric matrices of which only one triangle is read.

    Its gradient may then be that of one triangle, or half of it in both, as for tf.linalg.cholesky. All of these are
    equal along symmetric directions.
    """
    sample = subject.flat[i] if i < len(subject.flat) else np.zeros(0)
    if not is_symmetric(sample):
        return False
    x, wanted = tensors[i], _projected(function(tensors)).numpy()
    for part in ((-1, 0), (0, -1)):  # the lower triangle, the upper one
        kept = tf.linalg.band_part(tf.ones_like(x), *part) > 0
        changed = tf.where(kept, x, x + weights_of(x))
        try:
            seen = function([*tensors[:i], changed, *tensors[i + 1 :]])
        except Exception:
            continue  # it does read the other one
        if np.array_equal(wanted, _projected(seen).numpy()):
            return True
    return False


def _ignores_incoming(subject: Subject, tensors: list, i: int) -> bool:
    """Whether the gradient of an input is the same for an incoming one that is twice as large."""
    try:
        weights = [weights_of(x) for x in float_outputs(subject)(tensors)]
        one, other = (
            gradients_of(subject, tensors, [n * x for x in weights])[i].numpy()
            for n in (1, 2)
        )
    except Exception:
        return False
    return bool(one.any()) and np.array_equal(one, other)


def _pattern(wanted: np.ndarray, seen: np.ndarray, wrong: np.ndarray, op) -> str:
    """What all wrong entries of a gradient have in common; empty if nothing."""
    some, others = wanted[wrong], seen[wrong]
    if np.isnan(others).all():
        return "it is NaN: 0 divided by 0, or 0 times an infinite derivative, as that of a root at 0"
    if not some.any():
        return "it is not 0 where the results do not change: a clamp or a branch that the gradient function leaves out"
    if not others.any():
        return f"it is 0 in {some.size} places where the results change"
    with np.errstate(all="ignore"):
        factors = others / some
    one_factor = np.isfinite(factors).all() and (some.size > 1 or wrong.size == 1)
    if one_factor and np.ptp(factors) <= 0.02 * abs(factors[0]):
        if abs(factors[0] + 1) < 0.02:
            if isinstance(op, InRealNumbers):
                return _CONJUGATE
            return "it has the wrong sign wherever it is wrong"
        factor = f"{factors[0]:.3g}"
        if factor != "1":
            return (
                f"a factor: it is {factor} times the differences wherever it is wrong"
            )
    near = 0.02, 1e-6
    if (
        close(np.sort(some), np.sort(others), *near).all()
        and not close(some, others, *near).all()
    ):
        return "the right numbers in the wrong places: an index or an order"
    return ""


def _columns(wrong: np.ndarray, name: str) -> str:
    """For how many elements, or directions, a gradient is wrong; empty if for all."""
    some = wrong.any(0).sum()
    return (
        f"wrong for {some} of {wrong.shape[1]} {name}" if some < wrong.shape[1] else ""
    )


def slopes_of(
    values: Callable[[float], np.ndarray], step: float
) -> tuple[np.ndarray, np.ndarray]:
    """The slopes at 0 of a function of one number, by central differences, and how far off they may be.

    A jump nearby is no slope: the differences grow as the step shrinks, or end with it. At a kink, the two sides differ
    for every step: the central difference is their mean, and each side lies half of their difference away from it. A
    difference that comes from a curve shrinks with the step, and is left out.
    """
    middle, slopes, halves = values(0.0), [], []
    for h in (step, step / 2, step / 4, step / 8):
        above, below = values(h), values(-h)
        slopes.append((above - below) / (2 * h))
        halves.append((above - 2 * middle + below) / (2 * h))
    moved = np.max(np.abs(np.array(slopes) - slopes[0]), 0)
    sides = np.abs(2 * halves[-1] - halves[-2])
    return slopes[0], np.maximum(4 * moved, sides)


def _doubt_of_sums(
    outputs: Callable, step: float, allowed: float, noise: float
) -> np.ndarray:
    """As the doubt of slopes_of, for sums of large outputs, in which one kink may hide what another one adds."""
    sizes = [int(tf.size(one)) for one in outputs(0.0)]

    def values(t: float) -> np.ndarray:
        parts = [np.ravel(one).astype(np.float64) for one in outputs(t)]
        return np.concatenate(parts)

    slopes, doubt = slopes_of(values, step)
    kinks = doubt > allowed * np.maximum(1, np.abs(slopes)) + 16 * noise
    parts = np.split(np.where(kinks, doubt, 0), np.cumsum(sizes)[:-1])
    return _projected([tf.constant(one) for one in parts], tf.abs).numpy()


def slope_along(
    tensors, i: int, function: Callable, random: np.random.Generator
) -> float:
    """How far one tensor moves the results, along a direction; 0 if hardly at all, or if they jump."""
    x = tensors[i]
    direction = tf.constant(random.normal(size=x.shape), x.dtype)

    def values(t: float) -> np.ndarray:
        moved = [*tensors[:i], x + t * direction, *tensors[i + 1 :]]
        return _projected(function(moved)).numpy()

    slopes, doubt = slopes_of(values, 1e-4 if x.dtype == tf.float64 else 1e-2)
    scale = max(1.0, float(np.max(np.abs(values(0.0)), initial=0)))
    slope = float(np.max(np.abs(slopes), where=np.abs(slopes) > doubt, initial=0))
    return slope if np.isfinite(slope) and slope > 0.05 * scale else 0.0


def steps_of(subject: Subject, dtypes) -> tuple[float, float]:
    """The step of finite differences in some dtypes, and how far a gradient may be from them."""
    exact = all(one == tf.float64 for one in dtypes)
    delta = subject.options.get("delta") or (1e-5 if exact else 1e-2)
    allowed = subject.options.get("gradient_tolerance") or (1e-6 if exact else 2e-2)
    return delta, allowed


def _rounds_to_float32(moved: Callable, x: tf.Tensor) -> bool:
    """Whether results in float64 are rounded as float32 is: from one number to the next they move by its steps."""
    most = tf.reduce_max(tf.abs(x))
    step = 1e-7 * most * weights_of(x)
    try:
        values = np.array([_projected(moved(k * step)).numpy() for k in range(_NEAR)])
    except Exception:
        return False  # the op does not take these
    # A kink or a jump nearby shows in two of the second differences.
    bends = np.sort(np.abs(np.diff(values, 2, 0)), 0)[-3]
    return bool(bends.max() > 1e-9 * max(np.abs(values).max(), float(most)))


def _is_large(output: tf.Tensor) -> bool:
    return int(tf.size(output)) > _ELEMENTS


def _projected(
    outputs: Sequence[tf.Tensor], weighed: Callable = tf.identity
) -> tf.Tensor:
    """A vector of the small outputs as they are, and of some weighted sums of each large one."""
    parts = []
    for output in outputs:
        vector = tf.reshape(output, [-1])
        if _is_large(vector):
            positions = tf.cast(tf.range(tf.size(vector)), tf.float64)
            rates = tf.constant([[0.37], [1.1], [1.93], [2.71]], tf.float64)
            weights = tf.cast(tf.sin(rates * positions + 0.5), vector.dtype)
            vector = tf.linalg.matvec(weighed(weights), vector)
        parts.append(vector)
    if len({part.dtype for part in parts}) > 1:
        parts = [tf.cast(part, tf.float64) for part in parts]
    return tf.concat(parts, 0)


def gradient_of(subject: Subject, count: int, chosen) -> Callable:
    """A function from `count` inputs and the gradients of the outputs to the gradients of the inputs."""

    def function(flat):
        results = gradients_of(subject, flat[:count], flat[count:])
        return [results[i] for i in chosen if results[i] is not None]

    return function


def differentiable(function: Callable, tensors, chosen) -> list[int]:
    """Which of the chosen tensors the results depend on. Raises LookupError if nothing is registered."""
    with tf.GradientTape() as tape:
        tape.watch([tensors[i] for i in chosen])
        results = function(tensors)
    with one_call():
        found = tape.gradient(results, [tensors[i] for i in chosen])
    return [i for i, one in zip(chosen, found) if one is not None]
