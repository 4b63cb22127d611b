"""The registered gradient, against finite differences."""

import contextlib
import inspect
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import ops

from opcheck.checks.complex_parts import in_real_numbers
from opcheck.checks.derivatives import (
    compare_with_differences,
    dense,
    differentiable,
    float_outputs,
    gradients_of,
    known_gradients,
    line_of,
    of_second_order,
    slope_along,
    specs_of,
    weights_of,
)
from opcheck.checks.dtypes import have_kernels
from opcheck.checks.gradient_calls import (
    at_zero,
    drawn,
    elsewhere,
    in_fewer_digits,
    one_tensor_for_two,
    other_calls,
    with_one_more,
)
from opcheck.checks.places import in_other_places
from opcheck.checks.schema import generated_docstring
from opcheck.findings.compare import TOLERANCES, close, difference, is_inexact
from opcheck.findings.report import FORWARDED, Findings, Skip, describe_error
from opcheck.processes.pulse import one_call
from opcheck.subject import Subject, is_builtin, made, needs_shape, types_in
from opcheck.tensors import arrays, constant

# How a docstring, or a comment, says that an input is a constant for the gradient.
_NO_GRADIENT = re.compile(
    r"(?i)\b(no|without( an?y?)?|not? have an?y?) gradients?\b|\b(not|non)[- ]?differentiable"
    r"|\bnot (differentiated|trained|learned)\b"
    r"|\bgradient[^.]* is (None|zero|0)\b|\bstop_gradient\b|\b(as|is|are) (an? )?constants?\b"
)


def gradient(subject: Subject, found: Findings) -> str:
    """Compares the registered gradient with finite differences, in `float64` if the op takes it.

    The same is done for the second order, if it is registered. Graphs have to give the same gradient, and integers
    none. A `tf.gather` of the output, which sends back `tf.IndexedSlices`, must not change it. Other calls have sizes
    of 1, equal indices, numbers in another order or outside the sample's range, one tensor as two inputs, and zeros;
    with a reference, sizes, attrs and numbers are drawn, too. For numbers near zero and large ones, the gradient in
    `float32` has to be that in `float64`, but for rounding. Complex numbers count as two real ones, and are tried if
    the op has a kernel for them. Where an input moves the results in steps, as rounding does, finite differences say
    nothing: if each row or channel of the results depends on that of the inputs alone, so must the gradient. None for
    an input that the results depend on is wrong, unless `tf.stop_gradient`, a docstring or a comment says that the
    input has no gradient.
    """
    if subject.options.get("nondeterministic"):
        raise Skip("nondeterministic=True was given")
    if any(x.dtype.kind == "c" for x in (*subject.flat, *subject.expected())):
        return _checked(in_real_numbers(subject), found)
    summary = _checked(subject, found)
    if not found.failures and (other := _in_complex_numbers(subject)) is not None:
        _of_complex_numbers(other, found)
    return summary


def _in_complex_numbers(subject: Subject) -> Subject | None:
    """The op on complex numbers with nonzero imaginary parts, if there is a kernel for them."""
    described = subject.describe()
    chosen = [
        attr if _is_float(x) else ""
        for x, attr in zip(subject.flat, described.type_attrs)
    ]
    if len({*chosen} - {""}) != 1 or all(map(is_builtin, described.op_types)):
        return None
    (attr,) = {*chosen} - {""}
    for dtype in (tf.complex128, tf.complex64):
        if have_kernels(described, attr, dtype.name):
            flat = [
                (x + 1j * np.roll(x, 1)).astype(dtype.as_numpy_dtype) if own else x
                for x, own in zip(subject.flat, chosen)
            ]
            return replace(subject, inputs=subject.pack(flat))
    return None


def _of_complex_numbers(subject: Subject, found: Findings) -> None:
    """Checks the first order with respect to real and imaginary parts."""
    subject.progress("the gradient of complex numbers", subject.flat)
    try:
        real = in_real_numbers(subject)
        tensors = [constant(x) for x in real.flat]
        first = gradients_of(real, tensors)
    except Exception:
        return  # the op, or its gradient, does not take these
    chosen = [i for i, one in enumerate(first) if one is not None]
    some = float_outputs(real), "first order, complex", real.describe().labels
    compare_with_differences(real, found, tensors, chosen, *some)


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
    try:
        first = gradients_of(subject, tensors)
    except (NotImplementedError, LookupError) as error:
        if subject.options.get("gradient"):
            raise
        raise Skip(f"no gradient: {describe_error(error)}") from None
    except Exception as error:
        if not _in_the_sample_s_dtype(subject, flat):
            raise
        found.fail(
            f"first order, in {dtype}",
            "a gradient, as in the dtype of the sample",
            describe_error(error),
            f"the op takes {dtype}; its gradient function, or an op that it calls, does not",
            line=line_of(subject, "gradients", flat),
        )
        return ""
    chosen = [i for i, one in enumerate(first) if one is not None]
    if not chosen:
        found.note("registered as not differentiable")
        return ""
    _in_its_dtype(subject, found, tensors, first)
    if found.failures:
        return ""
    summary = _orders(subject, found, flat, tensors, first, chosen)
    _by_rows(subject, found, tensors)
    return f"{dtype}, with respect to {summary}"


def _in_the_sample_s_dtype(subject: Subject, flat) -> bool:
    """Whether there is a gradient in the sample's own dtype, if that is another one."""
    if all(x.dtype == own.dtype for x, own in zip(flat, subject.flat)):
        return False
    try:
        gradients_of(subject, [constant(x) for x in subject.flat])
    except Exception:
        return False
    return True


def _orders(
    subject: Subject, found: Findings, flat, tensors, first, chosen: list[int]
) -> str:
    """Checks the first order, also in other calls, and the second."""
    _left_out(subject, found, tensors, first)
    _in_function(subject, found, tensors, first)
    _in_single_precision(subject, found, tensors, first)
    names = subject.describe().labels
    outputs_of = float_outputs(subject)
    compare_with_differences(
        subject, found, tensors, chosen, outputs_of, "first order", names
    )
    summary = ", ".join(names[i] for i in chosen)
    if not found.failures:
        _in_steps(subject, found, tensors, chosen, names)
    if not found.failures:
        one_tensor_for_two(subject, found, tensors, chosen, names)
    if not found.failures:
        other_calls(subject, found, flat, names)
    if not found.failures:
        with_one_more(subject, found, flat, chosen, names)
    if not found.failures:
        elsewhere(subject, found, flat, chosen, names)
    if not found.failures:
        drawn(subject, found, flat, chosen, names)
    if not found.failures:
        at_zero(subject, found, tensors, chosen, names)
    if not found.failures:
        in_fewer_digits(subject, found, flat, chosen, names)
    if not found.failures:
        in_other_places(subject, found, flat, chosen, names)
    if found.failures:
        return summary
    # The gradient is a function of the gradient that comes in, too.
    subject.progress("second order")
    both, second, names = of_second_order(subject, tensors, names, first)
    wanted = [*chosen, *range(len(tensors), len(both))]
    try:
        chosen = differentiable(second, both, wanted)
        _zero(
            subject, found, both, [i for i in wanted if i not in chosen], second, names
        )
    except LookupError:
        return f"{summary}; no second order is registered"
    except NotImplementedError as error:
        return f"{summary}; no second order: {describe_error(error)}"
    if not chosen:
        return f"{summary}; the second order is zero"
    compare_with_differences(
        subject, found, both, chosen, second, "second order", names
    )
    return f"{summary}; second order too"


def _registered(subject: Subject, found: Findings) -> list[str]:
    """The op types with a gradient; checks that each gives the right number of results.

    In a function of several ops, what TensorFlow registered for its own ops is not for the author to repair.
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
    """Op types with a gradient that are not at the top level of the graph."""
    top = {node.type for node in subject.traced().graph.get_operations()}
    nested = [name for name in subject.describe().op_types if name not in top]
    registry = ops.gradient_registry
    return [name for name in nested if name in registry.list()]


def _check_results(node: tf.Operation, function: Callable, found: Findings) -> None:
    """Calls the gradient function by itself: one result for each input, None for integers."""
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
    """The sample in float64 if the op takes it, otherwise in float32, otherwise as it is.

    If not all floats may be wider, only those are whose dtype the op leaves to its caller.
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


def _in_function(subject: Subject, found: Findings, tensors, eager) -> None:
    """The tape inside a `tf.function`, for known and for unknown shapes."""
    arrays = [x.numpy() for x in tensors]
    for label, known in [
        ("inside tf.function", "shapes"),
        ("inside tf.function with unknown dimensions", "ranks"),
        ("inside tf.function with unknown rank", "nothing"),
    ]:
        specs = specs_of(tensors, known)

        def line(known: str = known) -> str:
            return line_of(subject, "gradients", arrays, known=known)

        subject.progress(f"the gradient {label}")
        try:
            concrete = made(lambda *flat: known_gradients(subject, flat), specs)
            seen = [x.numpy() for x in concrete(*tensors)]
        except Exception as error:
            if "unknown" in label and needs_shape(error, subject):
                found.note(f"not {label}: {describe_error(error)}")
                continue
            if not _runs(subject, specs, tensors):
                found.note(f"not {label}, where the op itself fails")
                continue
            found.fail(
                f"the gradient {label}",
                "the gradient of eager execution",
                describe_error(error),
                "the gradient function uses what is not known while a graph is made: a static "
                "shape, or .numpy()",
                line=line(),
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
                    line=line(),
                )
        wanted = [x.numpy() for x in eager if x is not None]
        # An attr that is a float has fewer digits in a graph than eagerly.
        different = subject.difference(wanted, seen)
        if different and difference(wanted, seen, dict.fromkeys(TOLERANCES, 1e-6)):
            found.fail(
                f"the gradient {label}",
                "the gradient of eager execution",
                different,
                subject.cause(
                    FORWARDED
                    if [x.shape for x in seen] == [x.shape for x in wanted]
                    and _agrees_where_held(subject, specs, tensors, wanted)
                    else "the gradient function depends on what is known while a graph is made"
                ),
                line=line(),
            )


def _agrees_where_held(subject: Subject, specs, tensors, wanted) -> bool:
    """Whether the gradient is right where the caller holds the one that comes in, so that no kernel may reuse it."""
    incoming = [weights_of(x) for x in float_outputs(subject)(tensors)]

    def held(*given):
        flat, weights = given[: len(tensors)], given[len(tensors) :]
        return [x for x in gradients_of(subject, flat, [*weights]) if x is not None]

    more = [tf.TensorSpec(None, x.dtype) for x in incoming]
    try:
        seen = made(held, [*specs, *more])(*tensors, *incoming)
    except Exception:
        return False
    return not subject.difference(wanted, arrays(seen))


def _runs(subject: Subject, specs, tensors) -> bool:
    """Whether the op alone has a result in a graph that knows this much about the shapes."""
    try:
        subject.traced(specs)(*tensors)
    except Exception:
        return False
    return True


def _by_rows(subject: Subject, found: Findings, tensors) -> None:
    """Compares an incoming gradient that is `tf.IndexedSlices`, from a `tf.gather` of an output, with a dense one."""
    if all(map(is_builtin, subject.describe().op_types)):
        return
    watched = [x for x in tensors if x.dtype.is_floating]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(watched)
        outputs = float_outputs(subject)(tensors)
        rows = [(tf.gather(y, [0]), y[:1]) for y in outputs if any(y.shape[:1])]
    for gathered, sliced in rows:
        wanted, seen = [], []
        try:
            for y, values in ((sliced, wanted), (gathered, seen)):
                with one_call():
                    some = tape.gradient(y, watched, weights_of(y))
                values += [dense(x).numpy() for x in some if x is not None]
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
    """Compares the gradient in the sample's own float32 with that in float64."""
    own = [constant(x) for x in subject.flat]
    if not any(
        x.dtype == tf.float64 and y.dtype == tf.float32 for x, y in zip(tensors, own)
    ):
        return
    if subject.draws_by_seed():
        return
    try:
        seen = gradients_of(subject, own)
    except Exception as error:
        found.fail(
            "the gradient in float32",
            "a gradient, as in float64",
            describe_error(error),
            "the gradient function is written for another dtype",
            line=line_of(subject, "gradients", subject.flat),
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
                line=line_of(subject, "gradients", subject.flat),
            )


def _in_steps(subject: Subject, found: Findings, tensors, chosen, names) -> None:
    """Looks for a gradient in float64 that ignores what float32 cannot hold."""
    for i in chosen:
        x = tensors[i]
        if x.dtype != tf.float64 or not int(tf.size(x)):
            continue
        runs = []
        for step in (0, 1e-11, 1e-4):
            # Not all by one factor, which some gradients do not feel.
            steps = x * (1 + step * weights_of(x))
            moved = [*tensors[:i], steps, *tensors[i + 1 :]]
            try:
                runs.append(gradients_of(subject, moved)[i])
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


def _zero(subject: Subject, found, tensors, rest, function, names) -> None:
    """What has no gradient must not change the results either."""
    op_types = subject.describe().op_types
    if not subject.options.get("op_types") and all(map(is_builtin, op_types)):
        return
    random = np.random.default_rng(1)
    for i in rest:
        if slope := slope_along(tensors, i, function, random):
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


def _in_its_dtype(subject: Subject, found: Findings, tensors, first) -> None:
    """The gradient of a tensor must have the tensor's dtype."""
    for name, x, one in zip(subject.describe().labels, tensors, first):
        if one is not None and one.dtype != x.dtype:
            found.fail(
                f"first order, with respect to {name}",
                f"a gradient in {x.dtype.name}, as {name}",
                f"one in {one.dtype.name}",
                "a cast to one dtype in the gradient function, or a constant of it: grad.dtype is the one for both",
                line=line_of(subject, "gradients", [x.numpy() for x in tensors]),
            )
            return


def _left_out(subject: Subject, found: Findings, tensors, first) -> None:
    """A float input whose gradient is None must not change the results, unless it is said to be a constant."""
    if all(map(is_builtin, subject.describe().op_types)):
        return
    random = np.random.default_rng(1)
    function = float_outputs(subject)
    for i, (x, one) in enumerate(zip(tensors, first)):
        if one is not None or not x.dtype.is_floating:
            continue
        try:
            slope = slope_along(tensors, i, function, random)
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
            line=line_of(subject, "gradients", [x.numpy() for x in tensors]),
        )


def _is_meant(subject: Subject, i: int) -> bool:
    """Whether an input is meant to be constant for the gradient: by tf.stop_gradient, or by the documentation."""
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
