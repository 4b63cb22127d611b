"""Whether the inputs of a call are afterwards what they were before."""

import contextlib

import numpy as np
import tensorflow as tf

from opcheck.findings.compare import difference
from opcheck.findings.report import UNTRACED, Findings, describe_error
from opcheck.processes.pulse import one_call
from opcheck.subject import Subject, made, with_special_values
from opcheck.tensors import arrays, constant


def _of_outputs(before: list, after: list, outputs: list) -> str:
    """How the first input that a call has changed is related to its outputs."""
    for x, y in zip(before, after):
        if difference([x], [y], exact=True):
            alike = (not difference([one], [y], exact=True) for one in outputs)
            return (
                ", which the output has, too"
                if any(alike)
                else ", through a cast from const or a copy of its tensor, which shares it"
            )
    return ""


def immutability(subject: Subject, found: Findings) -> str:
    """Compares the bits of the inputs before and after a call: tensors, constants, variables, NumPy arrays."""
    traced = not subject.has_no_graph()
    inputs = subject.describe().all_of("input_arg") if traced else ()
    takes_variables = any(x.type == tf.resource.as_datatype_enum for x in inputs)
    expected = "every input as it was"

    def compare(way: str, after: list, before=None, why="", line="") -> None:
        wanted = subject.flat if before is None else before
        if different := difference(wanted, after, exact=True):
            different = different.replace("output", "input")
            found.fail(way, expected, different, why or cause, line=line)

    shared = (
        "a variable is changed in memory that a tensor read from it shares: "
        "PrepareToUpdateVariable copies it first"
    )
    in_python = traced and any("PyFunc" in x for x in subject.describe().op_types)
    cause = shared if takes_variables else "the kernel writes to an input's memory"
    if in_python:
        cause = "a function in Python writes to its argument, a NumPy array that shares the tensor's memory"

    tensors = [constant(x) for x in subject.flat]
    outputs = arrays(subject.outputs(tensors))
    after = arrays(tensors)
    if not traced:
        cause += f", or {shared}"
    elif not takes_variables and not in_python:
        cause += _of_outputs(subject.flat, after, outputs)
    line = subject.line(modes=("eager", "inputs"))
    compare("tensors of an eager call", after, line=line)

    for name, flat in with_special_values(subject):
        tensors_with = [constant(x) for x in flat]
        subject.progress(f"with {name}", flat)
        with contextlib.suppress(Exception):  # it may have written nevertheless
            subject.outputs(tensors_with)
        way, after = f"tensors with {name} of an eager call", arrays(tensors_with)
        compare(way, after, flat, line=subject.line(flat, modes=("eager", "inputs")))

    given = [np.array(x) for x in subject.flat]
    subject.progress("NumPy arrays")
    try:
        subject.outputs(
            [tf.convert_to_tensor(x) if x.dtype == object else x for x in given]
        )
    except Exception as error:
        found.note(f"it takes no NumPy arrays: {describe_error(error)}")
    compare("NumPy arrays of an eager call", given)

    numbers = all(x.dtype != object for x in subject.flat)
    if numbers:  # which the function may take as variables, and change them
        variables = [tf.Variable(constant(x)) for x in subject.flat]
        read = [v.read_value() for v in variables]
        subject.progress("variables")
        with contextlib.suppress(Exception):  # it may have written nevertheless
            subject.outputs(variables)
        line = subject.line(modes=("variables",))
        compare("tensors read from variables", arrays(read), why=shared, line=line)

    if not traced:
        return f"inputs unchanged: eager, NumPy arrays, variables ({UNTRACED})"

    def and_inputs(*flat):
        copies = [tf.identity(x) for x in flat]
        outputs = subject.outputs(copies)
        with tf.control_dependencies(outputs):
            return [tf.identity(x) for x in copies]

    function = made(and_inputs, subject.specs())
    compare("tensors of a tf.function", arrays(function(*tensors)))
    compare("the arguments of a tf.function", arrays(tensors))

    constants = made(lambda: subject.outputs(map(constant, subject.flat)))
    first, second = arrays(constants()), arrays(constants())
    again = arrays(subject.outputs(tensors))  # differs where chance is meant
    if not subject.difference(subject.expected(), again) and (
        different := subject.difference(first, second)
    ):
        found.fail(
            "constants of a tf.function", "the same values twice", different, cause
        )

    if numbers:
        variables = [tf.Variable(constant(x)) for x in subject.flat]
        with one_call():
            tf.function(
                lambda: subject.outputs([v.value() for v in variables]),
                autograph=False,
            )()
        compare("variables", arrays([v.value() for v in variables]))
    return "inputs unchanged: eager, tf.function, constants, NumPy arrays, variables"
