"""Generated calls in a child process: the fast way to make very many of them."""

import pickle
from collections.abc import Sequence

import tensorflow as tf

from opcheck.calls import Outcome, apply, in_graph, outcome_of
from opcheck.subject import Subject, arrays, constant
from opcheck.variations import variations


def fuzz(
    subject: Subject,
    inputs: Sequence,
    attrs: dict,
    count: int,
    thorough: bool,
    outputs: bool,
) -> list[Outcome]:
    """A generated call and its variations, up to the first that breaks a promise.

    Args:
      subject: The op.
      inputs: Arrays and lists of arrays.
      attrs: Keyword arguments.
      count: How many variations.
      thorough: Whether to make a graph for the very shapes of the generated call; else, as
        for the variations, the graph that serves all shapes is used: several times faster.
      outputs: Whether the caller wants to see the outputs.
    """
    outcomes = []
    for number, (varied, _) in enumerate(variations(inputs, count)):
        subject.progress(str(number))
        outcome = _one(subject, varied, attrs, thorough and number == 0)
        outcomes.append(outcome)
        if outcome.mismatch or not outcome.clean:
            break
        if not outputs and outcome.outputs is not None:
            outcome.outputs = []
    return outcomes


def _one(subject: Subject, inputs, attrs: dict, thorough: bool) -> Outcome:
    """Eager, in a graph, shapes inferred, inputs unchanged."""
    flat = tf.nest.flatten(list(inputs))
    tensors = [constant(x) for x in flat]
    outcome = outcome_of(lambda: (arrays(apply(subject, tensors, inputs, attrs)), ""))
    if different := subject.difference(flat, arrays(tensors), exact=True):
        outcome.mismatch = f"an input changed: {different.replace('output', 'input')}"
        outcome.kind = "immutability"
        return outcome
    if thorough:
        graph = outcome_of(lambda: in_graph(subject, flat, inputs, attrs))
    else:
        graph = outcome_of(lambda: _any_shape(subject, tensors, inputs, attrs))
    if graph.mismatch:
        outcome.mismatch, outcome.kind = graph.mismatch, "static_shape"
    elif not graph.clean:
        return graph
    elif (graph.outputs is None) != (outcome.outputs is None):
        seen = [one.error or "a result" for one in (outcome, graph)]
        outcome.mismatch = f"eager: {seen[0]}; in a graph: {seen[1]}"
        outcome.kind = "eager_vs_graph"
    elif graph.outputs is not None:
        if different := subject.difference(outcome.outputs, graph.outputs):
            outcome.mismatch = f"in a graph, {different}"
            outcome.kind = "eager_vs_graph"
    return outcome


def _any_shape(subject: Subject, tensors, inputs, attrs: dict):
    """One function for all shapes; it is made once for dtypes and attrs."""
    functions = subject.functions
    layout = tuple(len(x) if isinstance(x, list | tuple) else -1 for x in inputs)
    key = (layout, tuple(x.dtype for x in tensors), pickle.dumps(attrs))
    if key not in functions:
        if len(functions) > 200:
            functions.clear()
        specs = [tf.TensorSpec(None, x.dtype) for x in tensors]
        template = list(inputs)
        functions[key] = tf.function(
            lambda *flat: apply(subject, flat, template, attrs), autograph=False
        ).get_concrete_function(*specs)
    return arrays(functions[key](*tensors)), ""
