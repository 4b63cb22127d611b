"""The op on a GPU, under pfor and under XLA."""

import re

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_def_registry

from opcheck.checks.threads import variants
from opcheck.findings.compare import difference, observed
from opcheck.findings.report import Findings, Skip, describe_error, essence
from opcheck.processes.calls import NEARLY
from opcheck.processes.pulse import one_call
from opcheck.subject import (
    CLEAN_ERRORS,
    Subject,
    as_it_is,
    is_builtin,
    kernels_of,
    types_in,
)
from opcheck.tensors import arrays, constant, is_opaque

_UNSUPPORTED = (
    "No registered",
    "unsupported",
    "not supported",
    "Unsupported",
    "not compilable",
)


def devices(subject: Subject, found: Findings) -> str:
    """Compares the results of CPU and GPU, where there is a GPU."""
    if not tf.config.get_visible_devices("GPU"):
        raise Skip("no GPU")
    without = [
        op_type
        for op_type in subject.describe().op_types
        if not kernels_of(op_type, "GPU", "DEFAULT")
    ]
    if without:
        raise Skip(f"no GPU kernel for {', '.join(without)}")
    values = {}
    for device in ("CPU", "GPU"):
        with tf.device(f"/{device}:0"):
            outputs = subject.outputs([constant(x) for x in subject.flat])
        values[device] = arrays(outputs)
    if different := subject.difference(values["CPU"], values["GPU"]):
        found.fail(
            "GPU against CPU",
            "the values of the CPU",
            different,
            observed(values["CPU"], values["GPU"], NEARLY)
            if difference(values["CPU"], values["GPU"], NEARLY)
            else "by less than 1 %",
        )
    return "CPU and GPU agree"


def vectorize(subject: Subject, found: Findings) -> str:
    """Compares `tf.vectorized_map` with a loop.

    Says whether TensorFlow had a rule (*pfor*) that makes one call for a whole batch, or fell back to a loop.
    """
    if not subject.flat:
        raise Skip("no inputs to vectorize over")
    outputs = subject.outputs([constant(x) for x in subject.flat])
    if not outputs or any(map(is_opaque, outputs)):
        raise Skip("no output that a batch can hold")
    types = types_in(subject.traced().graph)
    made = [x.type for one in types for x in op_def_registry.get(one).output_arg]
    if tf.resource.as_datatype_enum in made:
        raise Skip("makes a handle, which no batch can hold")
    if assigning := [one for one in types if one.startswith("Assign")]:
        raise Skip(f"{assigning[0]} changes a variable, of which a batch has one")
    if any(
        tf.as_dtype(x.dtype).is_quantized for x in (*subject.flat, *subject.expected())
    ):
        raise Skip("quantized, which no loop of TensorFlow takes")
    some = variants(subject, 3)
    while len(some) < 3:
        some.append(some[0])
    stacked = [
        np.stack([flat[i] for flat, _ in some]) for i in range(len(subject.flat))
    ]
    wanted = [
        np.stack([outputs[i] for _, outputs in some])
        for i in range(len(subject.expected()))
    ]

    listed = any(isinstance(x, list) for x in subject.inputs)

    def line() -> str:
        return "" if listed else subject.line(stacked, modes=["mapped"])

    def run(fallback: bool) -> list[np.ndarray]:
        subject.progress("tf.vectorized_map")
        with one_call():
            mapped = tf.vectorized_map(
                as_it_is(subject.outputs),
                list(map(constant, stacked)),
                fallback_to_while_loop=fallback,
                warn=False,
            )
        return arrays(tf.nest.flatten(mapped))

    try:
        seen, served = run(fallback=False), "by a pfor rule"
    except Exception as error:
        no_rule = re.search("No pfor vectorization|No converter", str(error))
        served_error = "" if no_rule else _told(error)
        try:
            seen = run(fallback=True)
            served = "by the fallback, a while loop: no pfor rule"
        except Exception as second:
            if tf.variant.as_datatype_enum in made and "No pfor" in str(second):
                raise Skip("makes a variant, which needs a pfor rule") from None
            if all(map(is_builtin, subject.describe().op_types)):
                found.note(f"pfor takes not all of its ops: {_told(second)}")
                return ""
            found.fail(
                "tf.vectorized_map",
                "the values of a loop",
                describe_error(second),
                line=line(),
            )
            return ""
        if served_error:
            found.note(f"pfor cannot convert it: {served_error}")
    if different := subject.difference(wanted, seen):
        found.fail(
            f"tf.vectorized_map, served {served}",
            "the values of a loop",
            different,
            subject.cause(
                "a pfor rule that does not do for a batch what the op does for one element"
                if "by a pfor rule" in served
                else "the op, in the loop that stands in for a pfor rule, depends on more than its "
                "inputs"
            ),
            line=line(),
        )
    return f"equal to the loop, served {served}"


def _told(error: Exception) -> str:
    """The beginning of an error, in one line."""
    return " ".join(essence(describe_error(error)).split())[:200]


def xla(subject: Subject, found: Findings) -> str:
    """Compiles the op with XLA, TensorFlow's compiler (`jit_compile=True`), and compares the results.

    An op without a kernel for XLA, like most custom ops, gets a *note* if the error says so.
    """
    function = subject.traced(jit_compile=True)
    try:
        seen = arrays(function(*[constant(x) for x in subject.flat]))
    except CLEAN_ERRORS as error:
        message = describe_error(error)
        if isinstance(error, tf.errors.UnimplementedError) or any(
            words in message for words in _UNSUPPORTED
        ):
            found.note("not supported, said cleanly: no XLA kernel")
            return ""
        found.fail(
            "jit_compile=True",
            "the values of eager execution, or an error that says it is not supported",
            message,
            "an XLA kernel that refuses what the CPU kernel takes",
            line=subject.line(modes=("eager", "xla")),
        )
        return ""
    if different := subject.difference(subject.expected(), seen):
        if subject.draws_by_seed():
            found.note("random numbers of another algorithm, which each device chooses")
            return ""
        found.fail(
            "jit_compile=True",
            "the values of eager execution",
            different,
            subject.cause("the XLA kernel computes something else than the CPU kernel"),
            line=subject.line(modes=("eager", "xla")),
        )
    return "compiled by XLA, equal to eager execution"
