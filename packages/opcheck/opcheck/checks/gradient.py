"""The registered gradient, against finite differences."""

import contextlib
import inspect
import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import ml_dtypes
import numpy as np
import tensorflow as tf
from tensorflow.python.framework import ops

from opcheck.checks.dtypes import registered_dtypes
from opcheck.checks.schema import generated_docstring
from opcheck.compare import TOLERANCES, close, difference, is_inexact
from opcheck.pulse import one_call
from opcheck.report import Findings, Skip, describe_error
from opcheck.subject import (
    CLEAN_ERRORS,
    Subject,
    attrs_of_call,
    constant,
    is_builtin,
    made,
    types_in,
)
from opcheck.wanted import both_of

# Above so many elements, differences are taken along random directions.
_ELEMENTS = 64
_DIRECTIONS = 16
_CONJUGATE = "a gradient function without tf.math.conj: for a complex input it gives grad * conj(derivative)"
_REFUSALS = (*CLEAN_ERRORS, LookupError)
# How a docstring, or a comment, says that an input is a constant for the gradient.
_NO_GRADIENT = re.compile(
    r"(?i)\b(no|without( an?y?)?|not? have an?y?) gradients?\b|\b(not|non)[- ]?differentiable|\bnot differentiated\b"
    r"|\bgradient[^.]* is (None|zero|0)\b|\bstop_gradient\b|\b(as|is|are) (an? )?constants?\b"
)


def gradient(subject: Subject, found: Findings) -> str:
    """Compares the registered gradient with finite differences, in `float64` where the op takes it.

    Also that of second order, where it is registered. Graphs have to give the same gradient, and integers have none. A
    `tf.gather` of the output, which sends `tf.IndexedSlices` back, must not change it. Other calls have sizes of
    1, equal indices, numbers in another order or beyond the sample's, one tensor in two places, and zeros. Complex
    numbers are two real ones, and are tried where the op has a kernel for them. None for an input on which the results
    depend is wrong, unless `tf.stop_gradient`, a docstring or a comment says that it has no gradient.
    """
    if subject.options.get("nondeterministic"):
        raise Skip("nondeterministic=True was given")
    if any(x.dtype.kind == "c" for x in (*subject.flat, *subject.expected())):
        return _checked(_in_real_numbers(subject), found)
    summary = _checked(subject, found)
    if not found.failures and (other := _in_complex_numbers(subject)) is not None:
        _of_complex_numbers(other, found)
    return summary


def _in_complex_numbers(subject: Subject) -> Subject | None:
    """The op on complex numbers, where there is a kernel for them, with imaginary parts that are not 0."""
    described = subject.describe()
    chosen = [
        attr if _is_float(x) else ""
        for x, attr in zip(subject.flat, described.type_attrs)
    ]
    if len({*chosen} - {""}) != 1 or all(map(is_builtin, described.op_types)):
        return None
    (attr,) = {*chosen} - {""}
    of_ops = [
        registered_dtypes(op_type, attr, "CPU", "DEFAULT")
        for op_type, op_def in described.op_defs.items()
        if any(one.name == attr for one in op_def.attr)
    ]
    for dtype in (tf.complex128, tf.complex64):
        if of_ops and all(dtype.name in some for some in of_ops):
            flat = [
                (x + 1j * np.roll(x, 1)).astype(dtype.as_numpy_dtype) if own else x
                for x, own in zip(subject.flat, chosen)
            ]
            return replace(subject, inputs=subject.pack(flat))
    return None


def _of_complex_numbers(subject: Subject, found: Findings) -> None:
    """The first order, with respect to real and imaginary parts."""
    subject.progress("the gradient of complex numbers", subject.flat)
    try:
        real = _in_real_numbers(subject)
        tensors = [constant(x) for x in real.flat]
        first = _gradients(real, tensors)
    except Exception:
        return  # the op, or its gradient, does not take these
    chosen = [i for i, one in enumerate(first) if one is not None]
    some = _outputs_of(real, tensors), "first order, complex", real.describe().labels
    _numeric(real, found, tensors, chosen, *some)


def _checked(subject: Subject, found: Findings) -> str:
    if not any(_is_float(x) for x in subject.flat):
        raise Skip("no float input")
    if not any(_is_float(x) for x in subject.expected()):
        raise Skip("no float output")
    registered = _registered(subject, found)
    if not registered:
        if subject.options.get("gradient"):
            found.fail(
                "gradient=True was given",
                "a registered gradient",
                f"none for {', '.join(subject.describe().op_types)}",
                "no tf.RegisterGradient, or in a module that was not imported",
            )
            return ""
        raise Skip("no gradient is registered")
    flat = _widened(subject)
    dtype = "float64" if any(x.dtype == np.float64 for x in flat) else "float32"
    tensors = [constant(x) for x in flat]
    subject.progress("the gradient")
    first = _gradients(subject, tensors)
    chosen = [i for i, one in enumerate(first) if one is not None]
    if not chosen:
        found.note("registered as not differentiable")
        return ""
    _in_its_dtype(found, tensors, first, subject.describe().labels)
    if found.failures:
        return ""
    summary = _orders(subject, found, flat, tensors, first, chosen)
    _by_rows(subject, found, tensors)
    return f"{dtype}, with respect to {summary}"


def _orders(
    subject: Subject, found: Findings, flat, tensors, first, chosen: list[int]
) -> str:
    """The first order, also of other calls, and the second."""
    _left_out(subject, found, tensors, first)
    _in_function(subject, found, tensors, first)
    _in_single_precision(subject, found, tensors, first)
    names = subject.describe().labels
    outputs_of = _outputs_of(subject, tensors)
    _numeric(subject, found, tensors, chosen, outputs_of, "first order", names)
    summary = ", ".join(names[i] for i in chosen)
    if not found.failures:
        _in_steps(subject, found, tensors, chosen, names)
    if not found.failures:
        _one_tensor_for_two(subject, found, tensors, chosen, names)
    if not found.failures:
        _at_zero(subject, found, tensors, chosen, names)
    if not found.failures:
        _other_calls(subject, found, flat, names)
    if not found.failures:
        _elsewhere(subject, found, flat, chosen, names)
    if found.failures:
        return summary
    # The gradient is a function of the gradient that comes in, too.
    incoming = [_weights(x) for x in outputs_of(tensors)]
    both = [*tensors, *incoming]
    subject.progress("second order")
    names += [f"the gradient of output {i}" for i in range(len(incoming))]
    second = _gradient_of(subject, len(tensors), chosen)
    wanted = [*chosen, *range(len(tensors), len(both))]
    try:
        chosen = _differentiable(second, both, wanted)
        _zero(
            subject, found, both, [i for i in wanted if i not in chosen], second, names
        )
    except LookupError:
        return f"{summary}; no second order is registered"
    if not chosen:
        return f"{summary}; the second order is zero"
    _numeric(subject, found, both, chosen, second, "second order", names)
    return f"{summary}; second order too"


@dataclass(frozen=True)
class _InRealNumbers:
    """An op of complex numbers as one of their real and imaginary parts, each a tensor of its own."""

    subject: Subject

    def joined(self, parts: Sequence, join: Callable) -> list:
        """Of two parts that belong together, what `join` makes of them."""
        rest, kinds = iter(parts), [x.dtype.kind for x in self.subject.flat]
        return [join(next(rest), next(rest)) if k == "c" else next(rest) for k in kinds]

    def progress(self, label: str, flat=None, attrs=None) -> None:
        whole = flat and self.joined(
            flat, lambda real, imaginary: real + 1j * imaginary
        )
        self.subject.progress(label, whole, attrs)

    def __call__(self, *parts, **attrs):
        found = []
        for y in self.subject.outputs(self.joined(parts, tf.complex), attrs):
            found += [tf.math.real(y), tf.math.imag(y)] if y.dtype.is_complex else [y]
        return found


def _in_real_numbers(subject: Subject) -> Subject:
    """What the checks of a gradient of real numbers take: TensorFlow's is grad * conj(f') for complex ones."""
    described = subject.describe()
    flat, names, type_attrs = [], [], []
    for x, label, attr in zip(subject.flat, described.labels, described.type_attrs):
        if x.dtype.kind != "c":
            flat, names, type_attrs = [*flat, x], [*names, [label]], [*type_attrs, attr]
            continue
        flat += [np.array(x.real), np.array(x.imag)]
        names += [[f"the real part of {label}"], [f"the imaginary part of {label}"]]
        type_attrs += [attr, attr]
    op = _InRealNumbers(subject)
    real = replace(subject, op=op, inputs=flat, progress=op.progress)
    real.described_as(replace(described, names=names, type_attrs=type_attrs))
    return real


def _registered(subject: Subject, found: Findings) -> list[str]:
    """The op types with a gradient, each of which has been asked for the right number of results.

    In a function of several ops, what TensorFlow registered for its own is not the author's to mend.
    """
    concrete = subject.traced()
    op_types = subject.describe().op_types
    registered = []
    for node in concrete.graph.get_operations():
        if node.type not in op_types:
            continue
        try:
            function = ops.get_gradient_function(node)
        except LookupError:
            continue
        registered.append(node.type)
        theirs = getattr(function, "__module__", "").startswith("tensorflow.")
        if theirs and len(op_types) > 1:
            continue
        if function is not None and _touches_floats(node):
            _check_results(node, function, found)
    return registered or _in_nested_functions(subject)


def _touches_floats(node: tf.Operation) -> bool:
    return all(
        any(x.dtype.is_floating or x.dtype.is_complex for x in some)
        for some in (node.inputs, node.outputs)
    )


def _in_nested_functions(subject: Subject) -> list[str]:
    """Op types with a gradient that the top level of the graph does not show."""
    top = {node.type for node in subject.traced().graph.get_operations()}
    nested = [name for name in subject.describe().op_types if name not in top]
    registry = ops.gradient_registry
    return [name for name in nested if name in registry.list()]


def _check_results(node: tf.Operation, function: Callable, found: Findings) -> None:
    """Calls the gradient function alone: one result for each input, None for integers."""
    with node.graph.as_default():
        incoming = [
            tf.zeros(tf.shape(output), output.dtype)
            if output.dtype not in (tf.string, tf.variant, tf.resource)
            else None
            for output in node.outputs
        ]
        try:
            with one_call():
                results = function(node, *incoming)
        except Exception as error:
            found.fail(
                f"the gradient function of {node.type}",
                "a gradient for zeros coming in",
                describe_error(error),
                "it is asked in a graph, with zeros for all outputs",
            )
            return
    results = list(results) if isinstance(results, list | tuple) else [results]
    if len(results) != len(node.inputs):
        found.fail(
            f"the gradient function of {node.type}",
            f"{len(node.inputs)} results, one for each input, None where there is none",
            f"{len(results)} results",
            "a missing None for an input that is not differentiable",
        )
        return
    for number, (tensor, result) in enumerate(zip(node.inputs, results)):
        differentiable = tensor.dtype.is_floating or tensor.dtype.is_complex
        if result is not None and not differentiable:
            found.fail(
                f"the gradient function of {node.type}",
                f"None for input {number}, which is {tensor.dtype.name}",
                str(result),
                "an input that is not differentiable has None for its gradient",
            )
        elif result is None and differentiable:
            found.note(
                f"the gradient function of {node.type} gives None for input {number}, which is "
                f"{tensor.dtype.name}"
            )


def _is_float(array: np.ndarray) -> bool:
    return is_inexact(array.dtype) and array.dtype.kind != "c"


def _widened(subject: Subject) -> list[np.ndarray]:
    """The sample in float64 where the op takes it, else in float32, else as it is.

    Where not all floats may be wider, those are whose dtype the op leaves to its caller.
    """
    free = [bool(attr) for attr in subject.describe().type_attrs]
    for dtype in (np.float64, np.float32):
        for chosen in ([True] * len(free), free):
            flat = [
                x.astype(dtype) if _is_float(x) and wide else x
                for x, wide in zip(subject.flat, chosen)
            ]
            subject.progress(f"in {np.dtype(dtype).name}", flat)
            try:
                outputs = subject.eager(flat)
            except Exception:
                continue
            if any(x.dtype == dtype for x in outputs):
                return flat
    return subject.flat


def _outputs_of(subject: Subject, tensors: Sequence) -> Callable:
    return lambda flat: [x for x in subject.outputs(flat) if x.dtype.is_floating]


def _gradients(subject: Subject, tensors: Sequence, weights=None) -> list:
    """The gradients of a weighted sum of the float outputs, dense, None where there is none."""
    watched = [x for x in tensors if x.dtype.is_floating]
    with tf.GradientTape() as tape:
        tape.watch(watched)
        outputs = _outputs_of(subject, tensors)(tensors)
    weights = weights or [_weights(x) for x in outputs]
    with one_call():
        results = iter(tape.gradient(outputs, watched, weights))
    return [_dense(next(results)) if x.dtype.is_floating else None for x in tensors]


def _dense(one):
    return tf.convert_to_tensor(one) if isinstance(one, tf.IndexedSlices) else one


def _weights(output: tf.Tensor) -> tf.Tensor:
    """Fixed numbers of the output's shape, all different, none zero."""
    count = tf.range(tf.size(output), dtype=tf.int32)
    numbers = tf.sin(tf.cast(count, tf.float64) * 1.7 + 0.5) + 1.3
    return tf.cast(tf.reshape(numbers, tf.shape(output)), output.dtype)


def _in_function(subject: Subject, found: Findings, tensors, eager) -> None:
    """The tape inside a `tf.function`, for known and for unknown shapes."""
    for label, shape_of in [
        ("inside tf.function", lambda x: x.shape),
        ("inside tf.function with unknown dimensions", lambda x: [None] * len(x.shape)),
        ("inside tf.function with unknown rank", lambda x: None),
    ]:
        specs = [tf.TensorSpec(shape_of(x), x.dtype) for x in tensors]
        subject.progress(f"the gradient {label}")
        try:
            concrete = made(
                lambda *flat: [x for x in _gradients(subject, flat) if x is not None],
                specs,
            )
            seen = [x.numpy() for x in concrete(*tensors)]
        except Exception as error:
            found.fail(
                f"the gradient {label}",
                "the gradient of eager execution",
                describe_error(error),
                "the gradient function uses what is not known while a graph is made: a static "
                "shape, or .numpy()",
            )
            continue
        of = [x for x, one in zip(tensors, eager) if one is not None]
        inferred = [x.shape for x in concrete.outputs]
        for x, shape in zip(of, inferred):
            if not shape.is_compatible_with(x.shape):
                found.fail(
                    f"the shape of the gradient {label}",
                    f"{x.shape}, the shape of the input",
                    str(shape),
                    "the shape function of an op of the gradient is wrong",
                )
        wanted = [x.numpy() for x in eager if x is not None]
        if different := subject.difference(wanted, seen):
            found.fail(
                f"the gradient {label}",
                "the gradient of eager execution",
                different,
                subject.cause(
                    "the gradient function depends on what is known while a graph is made"
                ),
            )


def _by_rows(subject: Subject, found: Findings, tensors) -> None:
    """A gradient that comes in as `tf.IndexedSlices`, from a `tf.gather` of an output, against a dense one."""
    if all(map(is_builtin, subject.describe().op_types)):
        return
    watched = [x for x in tensors if x.dtype.is_floating]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(watched)
        outputs = _outputs_of(subject, tensors)(tensors)
        rows = [(tf.gather(y, [0]), y[:1]) for y in outputs if any(y.shape[:1])]
    for gathered, sliced in rows:
        wanted, seen = [], []
        try:
            for y, values in ((sliced, wanted), (gathered, seen)):
                with one_call():
                    some = tape.gradient(y, watched, _weights(y))
                values += [_dense(x).numpy() for x in some if x is not None]
            different = subject.difference(wanted, seen)
        except Exception as error:
            if not wanted:
                return  # it takes no dense one either
            different = describe_error(error)
        if different:
            found.fail(
                "the gradient of tf.gather(output, [0])",
                "that of output[:1]",
                different.replace("the output", "the gradient"),
                "the gradient function takes grad for a tensor, but here it is tf.IndexedSlices: "
                "tf.convert_to_tensor(grad) makes it one",
            )
            return


def _in_single_precision(subject: Subject, found: Findings, tensors, first) -> None:
    """The gradient in the sample's own float32, against that in float64."""
    own = [constant(x) for x in subject.flat]
    if not any(
        x.dtype == tf.float64 and y.dtype == tf.float32 for x, y in zip(tensors, own)
    ):
        return
    try:
        seen = _gradients(subject, own)
    except Exception as error:
        found.fail(
            "the gradient in float32",
            "a gradient, as in float64",
            describe_error(error),
            "the gradient function is written for another dtype",
        )
        return
    for i, (wanted, got) in enumerate(zip(first, seen)):
        if wanted is None or got is None or got.dtype != tf.float32:
            continue
        scale = max(1.0, float(np.max(np.abs(wanted), initial=0)))
        wrong = ~close(wanted.numpy(), got.numpy(), 2e-2, 2e-2 * scale)
        if wrong.any():
            place = tuple(np.argwhere(wrong)[0])
            found.fail(
                f"the gradient in float32, with respect to input {i}",
                f"{wanted.numpy()[place]:.6g}, as in float64",
                f"{got.numpy()[place]:.6g} ({wrong.sum()} of {wrong.size} differ)",
                subject.cause("a branch, a constant or a kernel for this dtype alone"),
            )


def _in_steps(subject: Subject, found: Findings, tensors, chosen, names) -> None:
    """A gradient in float64 that does not feel what float32 cannot hold."""
    for i in chosen:
        x = tensors[i]
        if x.dtype != tf.float64 or not int(tf.size(x)):
            continue
        runs = []
        for step in (0, 1e-11, 1e-4):
            # Not all by one factor, which some gradients do not feel.
            steps = x * (1 + step * _weights(x))
            moved = [*tensors[:i], steps, *tensors[i + 1 :]]
            try:
                runs.append(_gradients(subject, moved)[i])
            except Exception:
                break
        if len(runs) < 3 or None in runs:
            continue
        near, far = (runs[0].numpy() != one.numpy() for one in runs[1:])
        if not near.any() and far.mean() > 0.5:
            found.fail(
                f"the gradient in float64, with respect to {names[i]}",
                f"another one for other {names[i]}",
                f"the same bits where {names[i]} changes by 1e-11 of itself, others where by 1e-4",
                "a cast to float32 in the gradient function, or a kernel of it that computes in float",
            )


def _other_calls(subject: Subject, found: Findings, flat, names) -> None:
    """The first order where an index comes twice, where a dimension has the size 1, and for other attrs."""
    for label, changed, attrs in _varied(subject, flat, names):
        _other_call(subject, found, label, changed, attrs, names)
        if found.failures:
            return


def _elsewhere(subject: Subject, found: Findings, flat, chosen, names) -> None:
    """The first order where the sample does not lie, but for numbers that have a sum or a length of 1.

    If all are positive, only a reference knows whether negative ones are allowed.
    """
    for i in chosen:
        x = flat[i]
        rows = np.atleast_1d(x).astype(np.float64)
        if any(np.allclose(some.sum(-1), 1) for some in (rows, rows**2)):
            continue
        # Rising, but for one: its own inverse does not sort that.
        in_order = np.roll(np.sort(rows, axis=None), 1).reshape(x.shape)
        moves = {"in another order": in_order, "times 3": 3 * x, "plus 0.7": x + 0.7}
        if subject.reference is not None or np.min(rows, initial=0) < 0:
            moves["negated, last first"] = -np.flip(x)  # what rises does so still
        for what, numbers in moves.items():
            moved = [*flat[:i], np.asarray(numbers, x.dtype), *flat[i + 1 :]]
            label = f"{names[i]} {what}"
            if _is_wrong_where_smooth(subject, label, moved, chosen):
                _other_call(subject, found, label, moved, subject.attrs, names)
            if found.failures:
                cause = "the sample's own numbers are right"
                found.failures = [
                    replace(one, cause="; ".join(filter(None, [one.cause, cause])))
                    for one in found.failures
                ]
                return


def _is_wrong_where_smooth(subject: Subject, label: str, flat, chosen) -> bool:
    """Whether the gradient of outputs without a kink nearby is wrong, along one direction.

    Where the reference refuses these inputs, or has other results, nothing is.
    """
    subject.progress(label, flat)
    if subject.reference is not None:
        both = both_of(subject, label, flat)
        near = dict.fromkeys(TOLERANCES, 1e-2)
        if both is None or difference(*both, near, strict=False):
            return False
    random = np.random.default_rng(2)
    tensors = [constant(x) for x in flat]
    some = [tensors[i] for i in chosen]
    along = [tf.constant(random.normal(size=x.shape), x.dtype) for x in some]

    def results(t: float) -> tf.Tensor:
        moved = list(tensors)
        for i, x, direction in zip(chosen, some, along):
            moved[i] = x + t * direction
        outputs = _outputs_of(subject, tensors)(moved)
        return tf.concat([tf.cast(tf.reshape(y, [-1]), tf.float64) for y in outputs], 0)

    try:
        outputs = _outputs_of(subject, tensors)(tensors)
        delta, allowed = _steps(subject, [*some, *outputs])
        slopes, doubt = _slopes(lambda t: results(t).numpy(), delta)
        smooth = np.isfinite(doubt) & (doubt <= 4 * allowed**0.5 * np.abs(slopes))
        with tf.GradientTape() as tape:
            tape.watch(some)
            middle = results(0.0)
        weights = np.where(smooth, _weights(middle).numpy(), 0)
        with one_call():
            found = tape.gradient(middle, some, tf.constant(weights))
        seen = sum(
            float(tf.reduce_sum(tf.cast(_dense(one) * direction, tf.float64)))
            for one, direction in zip(found, along)
            if one is not None
        )
    except Exception:
        return False  # the op, or its gradient, does not take these
    wanted, error = weights * np.where(smooth, [slopes, doubt], 0)
    allowed *= max(1, np.abs(wanted).sum())
    return abs(seen - wanted.sum()) > allowed + np.abs(error).sum()


def _other_call(
    subject: Subject, found: Findings, label: str, changed, attrs, names
) -> None:
    subject.progress(label, changed, attrs)
    other = replace(subject, inputs=subject.pack(changed), attrs=attrs)
    tensors = [constant(x) for x in changed]
    try:
        outputs = other.outputs(tensors)
    except Exception:
        return  # the op does not take it
    values = [x.numpy() for x in outputs if x.dtype.is_floating]
    if not all(np.isfinite(x).all() for x in values):
        return
    try:
        first = _gradients(other, tensors)
    except _REFUSALS:
        return  # there is none for this call, said cleanly
    except Exception as error:
        found.fail(
            f"first order, {label}",
            "a gradient, for there is one for the sample",
            describe_error(error),
        )
        return
    chosen = [i for i, one in enumerate(first) if one is not None]
    wrong = [i for i in chosen if first[i].shape != tensors[i].shape]
    for i in wrong:
        found.fail(
            f"first order, {label}",
            f"a gradient of shape {tensors[i].shape}, that of {names[i]}",
            f"shape {first[i].shape}",
            "the gradient function does not sum over what the op has broadcast",
        )
    if not wrong:
        function = _outputs_of(other, tensors)
        order = f"first order, {label}"
        with contextlib.suppress(*_REFUSALS):  # by the shape function alone
            _numeric(other, found, tensors, chosen, function, order, names)


def _varied(subject: Subject, flat, names):
    """Other calls near the sample: what is special about each, its flat inputs and its attrs."""
    for i, x in enumerate(flat):
        if x.dtype.kind in "iu" and x.size > 1:
            twice = np.array(x)
            twice.reshape(-1)[1] = twice.reshape(-1)[0]
            if not np.array_equal(x, twice):
                label = f"the first element of {names[i]} twice"
                yield label, [*flat[:i], twice, *flat[i + 1 :]], subject.attrs
    for i, x in enumerate(flat):
        for axis in (axis for axis in range(x.ndim) if x.shape[axis] > 1):
            one = np.take(x, [0], axis)
            label = f"size 1 in dimension {axis} of {names[i]}"
            yield label, [*flat[:i], one, *flat[i + 1 :]], subject.attrs
    everything = range(len(flat))
    for chosen in [[i] for i in everything] + [everything] * (len(flat) > 1):
        more = [x[np.newaxis] if i in chosen else x for i, x in enumerate(flat)]
        label = " and ".join(names[i] for i in chosen)
        yield f"one dimension more in {label}", more, subject.attrs
    own = subject.describe().all_of("attr")
    attrs = {x.name for x in own}
    for name, value in attrs_of_call(subject.op, subject.attrs, own).items():
        if name not in attrs:
            continue
        for other in _other_factor(name, value):
            label, changed = f"{name} = {other}", {**subject.attrs, name: other}
            if type(value) is not int or _is_right(subject, label, flat, changed):
                yield label, flat, changed


def _other_factor(name: str, value) -> list:
    """Other values of a switch, a factor, or an axis. With another size, other inputs would be of another call."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        axis = re.search("axis|axes|dim", name)
        return [n for n in (value + 1, 1, 0) if n != value] if axis else []
    return [value * 1.5 + 0.1] if isinstance(value, float) else []


def _is_right(subject: Subject, label: str, flat, attrs) -> bool:
    """Whether the op computes what the reference does. Other inputs may have been computed with the sample's sizes."""
    if subject.reference is None:
        return False
    both = both_of(subject, label, flat, attrs)
    return both is not None and not subject.difference(*both, strict=False)


def _one_tensor_for_two(
    subject: Subject, found: Findings, tensors, chosen, names
) -> None:
    """`op(x, x)`: the gradient is the sum of those of the two inputs."""
    for i, j in itertools.combinations(chosen, 2):
        x = tensors[i]
        if (x.shape, x.dtype) != (tensors[j].shape, tensors[j].dtype):
            continue

        def flat(one, other, i=i, j=j):
            changed = list(tensors)
            changed[i], changed[j] = one, other
            return changed

        try:
            copies = [tf.identity(x), tf.identity(x)]
            each = _gradients(subject, flat(*copies))
            with tf.GradientTape() as tape:
                tape.watch(x)
                outputs = _outputs_of(subject, tensors)(flat(x, x))
            weights = [_weights(y) for y in outputs]
            with one_call():
                both = _dense(tape.gradient(outputs, x, weights))
        except Exception:
            continue  # the op does not take it
        if None in (each[i], each[j]):
            continue
        wanted = [(each[i] + each[j]).numpy()]
        seen = [np.zeros_like(wanted[0]) if both is None else both.numpy()]
        if different := subject.difference(wanted, seen):
            found.fail(
                f"one tensor for {names[i]} and {names[j]}",
                "the sum of the gradients of the two",
                different.replace("the output", "the gradient"),
                "the gradient function takes equal tensors for one input",
            )
            return
        outputs_of = _outputs_of(subject, tensors)

        def function(moved, i=i, flat=flat, outputs_of=outputs_of):
            return outputs_of(flat(moved[i], moved[i]))

        order = f"first order, one tensor for {names[i]} and {names[j]}"
        with contextlib.suppress(*_REFUSALS):
            _numeric(subject, found, tensors, [i], function, order, names)


def _at_zero(subject: Subject, found: Findings, tensors, chosen, names) -> None:
    """An input of zeros, as a mask or a fresh variable has them: where results are finite, no gradient is NaN."""
    if all(map(is_builtin, subject.describe().op_types)):
        return
    for i in chosen:
        flat = [*tensors[:i], tf.zeros_like(tensors[i]), *tensors[i + 1 :]]
        subject.progress(f"{names[i]} is all 0")
        try:
            results = _outputs_of(subject, tensors)(flat)
            if not all(np.isfinite(x.numpy()).all() for x in results):
                continue
            gradients = _gradients(subject, flat)
        except Exception:
            continue  # the op, or its gradient, does not take it
        for j in chosen:
            nans = np.isnan(gradients[j].numpy()) if gradients[j] is not None else []
            if np.any(nans):
                found.fail(
                    f"first order, with respect to {names[j]}, where {names[i]} is all 0",
                    "a number, for the results are finite",
                    f"nan ({np.count_nonzero(nans)} of {nans.size})",
                    "0 / 0, or 0 times infinity, in the gradient function, which spoils every weight of a model: "
                    "tf.math.divide_no_nan(x, y) is 0 there",
                )
                return


def _zero(subject: Subject, found, tensors, rest, function, names) -> None:
    """What has no gradient must not change the results either."""
    op_types = subject.describe().op_types
    if not subject.options.get("op_types") and all(map(is_builtin, op_types)):
        return
    random = np.random.default_rng(1)
    for i in rest:
        if slope := _slope(tensors, i, function, random):
            found.fail(
                f"second order, with respect to {names[i]}",
                f"a gradient: finite differences along a direction are {slope:.3g}",
                "None, which callers take for zero",
                _what_stops(subject, tensors, function),
            )


def _what_stops(subject: Subject, tensors, function: Callable) -> str:
    """What in the graph of a gradient has no gradient itself."""
    specs = [tf.TensorSpec(x.shape, x.dtype) for x in tensors]
    graph = made(lambda *flat: function(flat), specs).graph
    types = types_in(graph)
    stops = [one for one in types if one in ("StopGradient", "PyFunc", "EagerPyFunc")]
    for one in types:
        if (
            one in ops.gradient_registry.list()
            and ops.gradient_registry.lookup(one) is None
        ):
            stops += [one] * (not is_builtin(one))
    words = {
        "StopGradient": "tf.stop_gradient",
        "PyFunc": "NumPy",
        "EagerPyFunc": "NumPy",
    }
    told = ", ".join(
        words.get(one, f"{one}, which is registered as not differentiable")
        for one in stops
    )
    return f"the gradient function calls {told}" if told else ""


def _slope(tensors, i: int, function: Callable, random: np.random.Generator) -> float:
    """How far one tensor moves the results, along a direction; 0 where it is next to nothing, or they jump."""
    x = tensors[i]
    direction = tf.constant(random.normal(size=x.shape), x.dtype)

    def values(t: float) -> np.ndarray:
        moved = [*tensors[:i], x + t * direction, *tensors[i + 1 :]]
        return _projected(function(moved)).numpy()

    slopes, doubt = _slopes(values, 1e-4 if x.dtype == tf.float64 else 1e-2)
    scale = max(1.0, float(np.max(np.abs(values(0.0)), initial=0)))
    slope = float(np.max(np.abs(slopes), where=np.abs(slopes) > doubt, initial=0))
    return slope if np.isfinite(slope) and slope > 0.05 * scale else 0.0


def _in_its_dtype(found: Findings, tensors, first, names) -> None:
    """The gradient of a tensor has its dtype."""
    for name, x, one in zip(names, tensors, first):
        if one is not None and one.dtype != x.dtype:
            found.fail(
                f"first order, with respect to {name}",
                f"a gradient in {x.dtype.name}, as {name}",
                f"one in {one.dtype.name}",
                "a cast to one dtype in the gradient function, or a constant of it: grad.dtype is the one for both",
            )
            return


def _left_out(subject: Subject, found: Findings, tensors, first) -> None:
    """A float input with None for its gradient must not change the results, unless it is said to be a constant."""
    if all(map(is_builtin, subject.describe().op_types)):
        return
    random = np.random.default_rng(1)
    function = _outputs_of(subject, tensors)
    for i, (x, one) in enumerate(zip(tensors, first)):
        if one is not None or not x.dtype.is_floating:
            continue
        try:
            slope = _slope(tensors, i, function, random)
        except Exception:
            continue  # the op does not take values nearby
        if not slope:
            continue
        name = subject.describe().labels[i]
        if _is_meant(subject, i):
            found.note(
                f"None for the gradient of {name}, as is said; finite differences along a direction: {slope:.3g}"
            )
            continue
        found.fail(
            f"first order, with respect to {name}",
            f"a gradient: finite differences along a direction are {slope:.3g}",
            "None, which callers take for zero",
            f"the gradient function returns None for {name}; where that is meant, tf.stop_gradient or a line in the "
            f"docstring says it: {name} has no gradient",
        )


def _is_meant(subject: Subject, i: int) -> bool:
    """Whether an input is a constant for the gradient on purpose: by tf.stop_gradient, or by the documentation."""
    graph = subject.traced().graph
    nodes = list(graph.get_operations())
    placeholders = [node for node in nodes if node.type == "Placeholder"]
    taken = {
        node.type
        for node in nodes
        for x in node.inputs
        if i < len(placeholders) and x.op is placeholders[i]
    }
    if taken == {"StopGradient"}:
        return True
    texts = [inspect.getdoc(subject.op) or ""]
    for node in nodes:
        if node.type in subject.describe().op_types:
            texts.append(generated_docstring(node.type))
            with contextlib.suppress(LookupError, TypeError, OSError):
                function = ops.get_gradient_function(node)
                texts.append(inspect.getdoc(function) or "")
                texts += re.findall("#.*", inspect.getsource(function))
    names = "|".join(map(re.escape, subject.describe().names[i]))
    return any(
        re.search(rf"\b({names})\b", sentence) and _NO_GRADIENT.search(sentence)
        for text in texts
        for sentence in re.split(r"[.;]\s|\n\s*\n|\n *[-*]", text)
    )


def _numeric(
    subject: Subject, found, tensors, chosen, function: Callable, order: str, names
):
    """Compares with finite differences along some directions of each chosen tensor."""
    random = np.random.default_rng(0)
    results = function(tensors)
    for i in chosen:
        x = tensors[i]
        size = int(tf.size(x))
        if size == 0:
            continue
        if size <= _ELEMENTS:
            directions = np.eye(size)
        else:
            directions = random.normal(size=[_DIRECTIONS, size]) / np.sqrt(size)
        basis = tf.constant(directions.reshape([-1, *x.shape]), x.dtype)
        subject.progress(f"{order}, {names[i]}")

        def along(steps, i=i, x=x, basis=basis):
            moved = [*tensors[:i], x + tf.tensordot(steps, basis, 1), *tensors[i + 1 :]]
            return _projected(function(moved))

        start = tf.zeros([len(directions)], x.dtype)
        delta, allowed = _steps(subject, (x, *results))
        with one_call():
            found_both = tf.test.compute_gradient(along, [start], delta)
        (analytical,), (numerical,) = found_both
        scale = max(1.0, float(np.max(np.abs(numerical), initial=0)))
        # What is left of a difference of large numbers.
        outputs = _projected(results).numpy()
        kinds = {one.dtype.as_numpy_dtype for one in (x, *results)}
        coarsest = max(float(ml_dtypes.finfo(kind).eps) for kind in kinds)
        noise = coarsest * np.max(np.abs(outputs), initial=0) / delta
        wrong = ~close(numerical, analytical, allowed, allowed * scale + 16 * noise)
        for column in np.flatnonzero(wrong.any(0)):
            unit = tf.one_hot(column, len(directions), dtype=x.dtype)
            _, doubt = _slopes(lambda t, u=unit: along(t * u).numpy(), delta)
            error = np.abs(numerical[:, column] - analytical[:, column])
            wrong[:, column] &= np.isfinite(doubt) & ~(error <= doubt)
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            element = (
                f"{names[i]}{[int(k) for k in np.unravel_index(column, x.shape)]}"
                if size <= _ELEMENTS
                else f"{names[i]} along random direction {column}"
            )
            found.fail(
                f"{order}, with respect to {names[i]}",
                f"{numerical[row, column]:.6g} for {element}, by finite differences",
                f"{analytical[row, column]:.6g} ({wrong.sum()} of {wrong.size} differ)",
                subject.cause(
                    _pattern(numerical, analytical, wrong, subject.op)
                    or _columns(
                        wrong, "elements" if size <= _ELEMENTS else "directions"
                    ),
                ),
            )


def _pattern(wanted: np.ndarray, seen: np.ndarray, wrong: np.ndarray, op) -> str:
    """What is common to all wrong entries of a gradient; nothing where nothing is."""
    some, others = wanted[wrong], seen[wrong]
    if not some.any():
        return "it is not 0 where the results do not change: a clamp or a branch that the gradient function leaves out"
    if not others.any():
        return f"it is 0 in {some.size} places where the results change"
    with np.errstate(all="ignore"):
        factors = others / some
    if np.ptp(factors) <= 0.02 * abs(factors[0]) and (some.size > 1 or wrong.size == 1):
        if abs(factors[0] + 1) < 0.02:
            if isinstance(op, _InRealNumbers):
                return _CONJUGATE
            return "it has the wrong sign wherever it is wrong"
        return f"a factor: it is {factors[0]:.3g} times the differences wherever it is wrong"
    if close(np.sort(some), np.sort(others), 0.02, 1e-6).all():
        return "the right numbers in the wrong places: an index or an order"
    return ""


def _columns(wrong: np.ndarray, name: str) -> str:
    """With respect to how many elements, or directions, a gradient is wrong; nothing where to all."""
    some = wrong.any(0).sum()
    return (
        f"wrong for {some} of {wrong.shape[1]} {name}" if some < wrong.shape[1] else ""
    )


def _slopes(
    values: Callable[[float], np.ndarray], step: float
) -> tuple[np.ndarray, np.ndarray]:
    """The slopes at 0 of a function of one number, by central differences, and how far from the truth they may be.

    A jump nearby is no slope: the differences grow as the step shrinks, or end with it. At a kink, both sides differ.
    """
    middle, slopes = values(0.0), []
    for h in (step, step / 2, step / 4, step / 8):
        above, below = values(h), values(-h)
        slopes.append((above - below) / (2 * h))
    moved = np.max(np.abs(np.array(slopes) - slopes[0]), 0)
    sides = np.abs(above - 2 * middle + below) / (2 * h)
    return slopes[0], np.maximum(4 * moved, sides)


def _steps(subject: Subject, tensors) -> tuple[float, float]:
    """The step of finite differences, and how far a gradient may be from them."""
    exact = all(one.dtype == tf.float64 for one in tensors)
    delta = subject.options.get("delta") or (1e-5 if exact else 1e-2)
    allowed = subject.options.get("gradient_tolerance") or (1e-6 if exact else 2e-2)
    return delta, allowed


def _projected(outputs: Sequence[tf.Tensor]) -> tf.Tensor:
    """Small outputs as they are, of large ones some weighted sums: a vector."""
    parts = []
    for output in outputs:
        vector = tf.reshape(output, [-1])
        if int(tf.size(vector)) > _ELEMENTS:
            positions = tf.cast(tf.range(tf.size(vector)), tf.float64)
            rates = tf.constant([[0.37], [1.1], [1.93], [2.71]], tf.float64)
            weights = tf.cast(tf.sin(rates * positions + 0.5), vector.dtype)
            vector = tf.linalg.matvec(weights, vector)
        parts.append(vector)
    if len({part.dtype for part in parts}) > 1:
        parts = [tf.cast(part, tf.float64) for part in parts]
    return tf.concat(parts, 0)


def _gradient_of(subject: Subject, count: int, chosen) -> Callable:
    """From inputs, so many, and gradients of outputs to the inputs' gradients."""

    def function(flat):
        results = _gradients(subject, flat[:count], flat[count:])
        return [results[i] for i in chosen if results[i] is not None]

    return function


def _differentiable(function: Callable, tensors, chosen) -> list[int]:
    """Which of the chosen tensors the results depend on. Raises LookupError where nothing is registered."""
    with tf.GradientTape() as tape:
        tape.watch([tensors[i] for i in chosen])
        results = function(tensors)
    with one_call():
        found = tape.gradient(results, [tensors[i] for i in chosen])
    return [i for i, one in zip(chosen, found) if one is not None]
