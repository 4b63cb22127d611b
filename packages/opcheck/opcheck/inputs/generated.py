"""Generated calls in a child process: the fast way to make very many of them."""

import pickle
from collections.abc import Sequence
from dataclasses import replace

import tensorflow as tf
from tensorflow.python.framework import op_def_registry

from opcheck.findings.compare import difference
from opcheck.inputs.variations import calls_of
from opcheck.processes.calls import (
    Outcome,
    apply,
    contradiction,
    in_graph,
    outcome_of,
    traced,
)
from opcheck.subject import Subject, names_of_own, types_in
from opcheck.tensors import arrays, constant


def fuzz(
    subject: Subject,
    inputs: Sequence,
    attrs: dict,
    count: int,
    thorough: bool,
    outputs: bool,
    others: Sequence[dict] = (),
    more: Sequence[tuple[list, dict]] = (),
) -> list[Outcome]:
    """A generated call and those of `calls_of`, up to the first that breaks a promise.

    Args:
      subject: The op.
      inputs: Arrays and lists of arrays.
      attrs: Keyword arguments.
      count: How many calls beside the first.
      thorough: Whether to make a graph for the very shapes of the generated call too, beside
        the one that serves all shapes, which is several times faster.
      others: More attrs, which some of the variations have.
      more: Further generated calls.
      outputs: Whether the caller wants to see the outputs.
    """
    outcomes = []
    some = calls_of(inputs, attrs, others, more, count)
    for number, (varied, its_attrs, _) in enumerate(some):
        try:
            every = thorough and number == 0
            outcome = _one(subject, varied, dict(its_attrs), every, number)
        except (
            MemoryError
        ):  # of the comparison of what has been a result, and a large one
            outcome = Outcome(None, "MemoryError", generic=True)
        outcomes.append(outcome)
        wrong = outcome.mismatch or not outcome.clean
        if (wrong or not outputs) and outcome.outputs is not None:
            outcome.outputs = []
        if wrong:
            break
    return outcomes


def eager(subject: Subject, inputs, attrs: dict, tensors=None) -> Outcome:
    """One eager call, and nothing else; the tensors are the flat inputs."""
    if tensors is None:
        tensors = [constant(x) for x in tf.nest.flatten(list(inputs))]
    return outcome_of(lambda: (arrays(apply(subject, tensors, inputs, attrs)), ""))


def _one(subject: Subject, inputs, attrs: dict, thorough: bool, number: int) -> Outcome:
    """Eager, in graphs, shapes inferred, inputs unchanged."""
    subject.progress((number, "eager", None))
    flat = tf.nest.flatten(list(inputs))
    tensors = [constant(x) for x in flat]
    outcome = eager(subject, inputs, attrs, tensors)
    if different := difference(flat, arrays(tensors), exact=True):
        outcome.mismatch = f"an input changed: {different.replace('output', 'input')}"
        outcome.kind, outcome.modes = "immutability", ("eager", "inputs")
        return outcome
    graphs = {"any shape": lambda: _any_shape(subject, tensors, inputs, attrs)}
    if thorough:
        graphs = {"graph": lambda: in_graph(subject, flat, inputs, attrs), **graphs}
        graphs["owned"] = lambda: _any_shape(subject, tensors, inputs, attrs, True)
    for mode, run in graphs.items():
        subject.progress((number, mode, None))
        graph = outcome_of(run)
        graph.modes = (mode,)
        if graph.mismatch:
            outcome.mismatch, outcome.kind = graph.mismatch, "static_shape"
            outcome.modes = ("inferred",)
            outcome.shapes = [x.shape if mode == "graph" else None for x in flat]
        elif not graph.clean:
            return graph
        elif outcome.disagrees(graph):
            seen = [one.error or "a result" for one in (outcome, graph)]
            outcome.mismatch = f"eager: {seen[0]}; in a graph: {seen[1]}"
        elif graph.outputs is not None:
            if different := subject.difference(outcome.outputs, graph.outputs):
                outcome.mismatch = f"in a graph, {different}"
        if outcome.mismatch:
            if not outcome.kind:
                outcome.kind, outcome.modes = "eager_vs_graph", ("eager", mode)
            return outcome
    if thorough and outcome.outputs is not None:
        _infer_from_less(subject, flat, inputs, attrs, outcome)
        if subject.options.get("nondeterministic") and not outcome.mismatch:
            subject.progress((number, "graph", None))
            called = replace(subject, inputs=list(inputs), attrs=attrs)
            if called.varies_unnoticed():
                outcome.mismatch = "other values, though nothing in the graph has state"
                outcome.kind = "determinism"
    return outcome


def own_names(subject: Subject, inputs: Sequence, attrs: dict) -> set[str]:
    """What the ops of a library that a call makes call their inputs and attrs; none if no graph can be made."""
    flat = tf.nest.flatten(list(inputs))
    try:
        specs = subject.specs(lambda x: None, flat)
        graph = traced(subject, specs, inputs, attrs).graph
    except Exception:
        return set()
    return names_of_own(map(op_def_registry.get, types_in(graph)))


def _infer_from_less(subject: Subject, flat, inputs, attrs: dict, outcome) -> None:
    """Tells where a shape that is inferred from all dimensions but one is wrong."""
    for i, axis in [(i, axis) for i, x in enumerate(flat) for axis in range(x.ndim)]:
        shapes = [list(x.shape) for x in flat]
        shapes[i][axis] = None
        subject.progress((0, "inferred", shapes))

        def infer(shapes=shapes):
            pairs = zip(shapes, flat)
            specs = [tf.TensorSpec(shape, tf.as_dtype(x.dtype)) for shape, x in pairs]
            function = traced(subject, specs, inputs, attrs)
            inferred = [x.shape for x in function.outputs]
            return [], contradiction(inferred, outcome.outputs)

        inferred = outcome_of(infer)
        if wrong := inferred.mismatch or inferred.error:
            outcome.mismatch = f"{wrong}, for inputs of shapes {shapes}"
            outcome.kind = "static_shape"
            outcome.modes, outcome.shapes = ("inferred",), shapes
            return


def _any_shape(subject: Subject, tensors, inputs, attrs: dict, owned: bool = False):
    """One function for all shapes; it is made once for dtypes and attrs.

    If the op owns its inputs, as nobody else holds them, it may give their memory to its outputs.
    """
    functions = subject.functions
    layout = tuple(len(x) if isinstance(x, list | tuple) else -1 for x in inputs)
    key = (layout, tuple(x.dtype for x in tensors), pickle.dumps(attrs), owned)
    if key not in functions:
        if len(functions) > 200:
            functions.clear()
        specs = [tf.TensorSpec(None, x.dtype) for x in tensors]
        template = list(inputs)
        functions[key] = traced(subject, specs, template, attrs, owned)
    outputs = arrays(functions[key](*tensors))
    return outputs, contradiction([x.shape for x in functions[key].outputs], outputs)
