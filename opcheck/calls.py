"""Single calls of the op in a child process, with everything that may come of them."""

import pickle
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from opcheck.memory import filled_memory
from opcheck.subject import CLEAN_ERRORS, Subject, arrays, constant, grown

# What TensorFlow itself says before the op is asked.
_GENERIC = (
    "OOM when allocating",
    "could not be satisfied",
    "Could not find device for node",
    "Dst tensor is not initialized",
    "with input shapes:",
)


@dataclass
class Outcome:
    """What a call gave: outputs, or an error.

    Attributes:
      outputs: The values; None after an error.
      error: The type of the exception and its message.
      clean: Whether the error is one that users can expect of an op.
      generic: Whether the message is TensorFlow's own.
      mismatch: What contradicts the promises of a call that gave outputs.
    """

    outputs: list[np.ndarray] | None = None
    error: str = ""
    clean: bool = True
    generic: bool = False
    mismatch: str = ""


def call(subject: Subject, inputs: Sequence, attrs: dict, modes: Sequence[str]):
    """Calls the op in each mode, "eager" or "graph": a list of Outcomes.

    A graph is made for the very shapes, which must then hold, and runs with grappler.
    """
    flat = tf.nest.flatten(list(inputs))
    outcomes = []
    for mode in modes:
        subject.progress(mode)
        run = {"eager": _eager, "graph": _graph}[mode]
        outcomes.append(_outcome(lambda run=run: run(subject, flat, inputs, attrs)))
    return outcomes


def _outcome(run) -> Outcome:
    try:
        outputs, mismatch = run()
        return Outcome(outputs, mismatch=mismatch)
    except Exception as error:
        message = str(getattr(error, "message", None) or error)
        generic = any(words in message for words in _GENERIC)
        clean = isinstance(error, CLEAN_ERRORS) and not isinstance(error, UnicodeError)
        return Outcome(
            None, f"{type(error).__name__}: {message}"[:1500], clean, generic
        )


def _eager(subject: Subject, flat, inputs, attrs):
    return arrays(_apply(subject, [constant(x) for x in flat], inputs, attrs)), ""


def _graph(subject: Subject, flat, inputs, attrs):
    specs = subject.specs(flat=flat)
    function = tf.function(
        lambda *tensors: _apply(subject, tensors, inputs, attrs), autograph=False
    ).get_concrete_function(*specs)
    outputs = arrays(function(*[constant(x) for x in flat]))
    return outputs, contradiction([x.shape for x in function.outputs], outputs)


def _apply(subject: Subject, tensors, inputs, attrs) -> list[tf.Tensor]:
    packed = tf.nest.pack_sequence_as(list(inputs), list(tensors))
    result = subject.op(*packed, **attrs)
    return [
        tf.convert_to_tensor(x)
        for x in tf.nest.flatten(result, expand_composites=True)
        if x is not None
    ]


def contradiction(static: Sequence, outputs: Sequence[np.ndarray]) -> str:
    """Where an inferred shape does not hold, in one line."""
    for i, (shape, output) in enumerate(zip(static, outputs)):
        if not shape.is_compatible_with(output.shape):
            return (
                f"output {i} of inferred shape {shape} has shape {list(output.shape)}"
            )
    return ""


def fuzz(subject: Subject, inputs: Sequence, attrs: dict, thorough: bool) -> Outcome:
    """One generated call: eager, in a graph, shapes inferred, inputs unchanged.

    Args:
      subject: The op.
      inputs: Arrays and lists of arrays.
      attrs: Keyword arguments.
      thorough: Whether to make a graph for these very shapes; else the graph that serves
        all shapes is used, which is several times faster.
    """
    flat = tf.nest.flatten(list(inputs))
    tensors = [constant(x) for x in flat]
    outcome = _outcome(lambda: (arrays(_apply(subject, tensors, inputs, attrs)), ""))
    if different := subject.difference(flat, arrays(tensors), exact=True):
        outcome.mismatch = f"an input changed: {different.replace('output', 'input')}"
        return outcome
    if thorough:
        graph = _outcome(lambda: _graph(subject, flat, inputs, attrs))
    else:
        graph = _outcome(lambda: _any_shape(subject, tensors, inputs, attrs))
    if graph.mismatch:
        outcome.mismatch = graph.mismatch
    elif not graph.clean:
        return graph
    elif (graph.outputs is None) != (outcome.outputs is None):
        outcome.mismatch = f"eager: {outcome.error or 'a result'}; in a graph: {graph.error or 'a result'}"
    elif graph.outputs is not None:
        if different := subject.difference(outcome.outputs, graph.outputs):
            outcome.mismatch = f"in a graph, {different}"
    return outcome


def _any_shape(subject: Subject, tensors, inputs, attrs):
    """As `_graph`, with one function for all shapes; it is made once for dtypes and attrs."""
    functions = subject.__dict__.setdefault("_any_shape", {})
    layout = tuple(len(x) if isinstance(x, list | tuple) else -1 for x in inputs)
    key = (layout, tuple(x.dtype for x in tensors), pickle.dumps(attrs))
    if key not in functions:
        if len(functions) > 200:
            functions.clear()
        specs = [tf.TensorSpec(None, x.dtype) for x in tensors]
        template = list(inputs)
        functions[key] = tf.function(
            lambda *flat: _apply(subject, flat, template, attrs), autograph=False
        ).get_concrete_function(*specs)
    return arrays(functions[key](*tensors)), ""


def repeat(subject: Subject, times: int) -> list[list[np.ndarray]]:
    """The outputs of eager calls, then of a larger sample; before each, unused memory is filled."""
    larger = grown(subject)
    tensors = [constant(x) for x in subject.flat]
    large_tensors = [constant(x) for x in larger or []]
    runs = []
    for number in range(times):
        with filled_memory((0xFF, 0x01, 0x7F, 0x40, 0xBF)[number % 5]):
            outputs = arrays(subject.outputs(tensors))
            if large_tensors:
                outputs += arrays(subject.outputs(large_tensors))
            runs.append(outputs)
    return runs


def save_model(subject: Subject, folder: str) -> list[np.ndarray]:
    """Writes a SavedModel whose function `serve` calls the op; returns what it should give."""
    module = tf.Module()
    specs = subject.specs(lambda x: [None] * x.ndim)
    module.serve = tf.function(
        lambda *flat: {str(i): x for i, x in enumerate(subject.outputs(flat))},
        input_signature=specs,
        autograph=False,
    )
    tf.saved_model.save(module, folder)
    return subject.expected()


def load_saved_model(folder: str, inputs: Sequence):
    """Loads a SavedModel and calls it: an Outcome."""

    def run():
        model = tf.saved_model.load(folder)
        outputs = model.serve(*[constant(x) for x in tf.nest.flatten(list(inputs))])
        return arrays([outputs[str(i)] for i in range(len(outputs))]), ""

    return _outcome(run)
