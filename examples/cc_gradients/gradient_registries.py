"""What the three registries of gradients hold, and what a gradient in C++ describes."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import tensorflow as tf
from op_library import load_op_library
from tensorflow.core.framework.function_pb2 import FunctionDef
from tensorflow.python.framework import ops  # private: Python's registry

_library = load_op_library(
    Path(__file__).with_name("libgradient_registries.so"),
    *("gradient_registries", "gradient_function"),
)


def registries() -> dict[str, tuple[str, str, str]]:
    """Asks each registry of gradients for each op.

    Returns:
      From the name of each op to what Python's registry holds for it, that of functions in C++, and that of graphs in
      C++: "gradient", "none" for an op that was registered as without a gradient, or "".
    """
    python = ops.gradient_registry
    known = {op: python.lookup(op) for op in python.list()}
    words = {op: "none" if known[op] is None else "gradient" for op in known}
    table = _library.gradient_registries().numpy().astype(str).tolist()
    return {op: (words.get(op, ""), *answers) for op, *answers in table}


def described_gradient(f: Callable, *inputs: tf.Tensor) -> FunctionDef:
    """Asks an op for the function that is its gradient in C++.

    Args:
      f: Calls the op.
      *inputs: What to call it with.

    Returns:
      What the function describes that REGISTER_OP_GRADIENT has registered.

    Raises:
      tf.errors.OpError: There is none, or something in it is not known, as the message says.
    """
    with tf.Graph().as_default():
        output = tf.nest.flatten(f(*map(tf.constant, inputs)))[0]
        node = output.op.node_def.SerializeToString()
    return FunctionDef.FromString(_library.gradient_function(node).numpy())


def saved_graph(
    f: Callable, x: np.ndarray, inside: bool = True
) -> tf.compat.v1.GraphDef:
    """The graph of a model that calls `f`: from the tensor `x` to the tensor `Identity`.

    Args:
      f: From a tensor to a tensor.
      x: What the model is traced for.
      inside: Whether the ops of `f` are in a function that the graph calls, or in the graph itself.
    """
    step = tf.function(f, autograph=False) if inside else f
    model = tf.function(lambda x: step(x), autograph=False)
    traced = model.get_concrete_function(tf.TensorSpec(x.shape, x.dtype, name="x"))
    return traced.graph.as_graph_def()


def imported_gradient(f: Callable, x: np.ndarray, inside: bool = True) -> np.ndarray:
    """Imports the saved graph of `f` into a session and differentiates it there, in C++.

    Raises:
      tf.errors.OpError: C++ has no gradient for something in it.
    """
    saved = saved_graph(f, x, inside)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        start = tf.constant(x)
        [end] = tf.import_graph_def(saved, {"x": start}, ["Identity:0"])
        return session.run(tf.gradients(end, start)[0])


def wrapped_gradient(f: Callable, x: np.ndarray, inside: bool = True) -> np.ndarray:
    """Imports the saved graph of `f` into a `wrap_function` and differentiates that with a tape.

    Raises:
      tf.errors.NotFoundError: C++ has no gradient for something in it.
    """
    saved = saved_graph(f, x, inside)
    wrapped = tf.compat.v1.wrap_function(
        lambda: tf.import_graph_def(saved, name=""), []
    )
    call = wrapped.prune("x:0", "Identity:0")
    with tf.GradientTape() as tape:
        tape.watch(start := tf.constant(x))
        end = call(start)
    return tape.gradient(end, start).numpy()


def tried(f: Callable, x: np.ndarray, gradient: Callable = imported_gradient) -> str:
    """Saves a function as a graph, imports it, and differentiates it there, in C++.

    In a session, TensorFlow first simplifies the graph, which may remove an op without a gradient.

    Args:
      f: From a tensor to a tensor.
      x: Where to differentiate.
      gradient: `imported_gradient`, in a session, or `wrapped_gradient`, whose error names no op.

    Returns:
      "as in Python", "wrong, without an exception", "none for `Op`", or the error.
    """
    with tf.GradientTape() as tape:
        tape.watch(start := tf.constant(x))
        end = f(start)
    expected = tf.convert_to_tensor(tape.gradient(end, start))
    try:
        dx = gradient(f, x)
    except tf.errors.OpError as error:
        if missing := re.search(r"No gradient defined for op: (\S+)", error.message):
            return f"none for `{missing[1]}`"
        where = r"\s|$|<stack|Graph execution|Detected at|Node: "
        lines = error.message.splitlines()
        return next(line for line in lines if not re.match(where, line))
    close = np.allclose(dx, expected, rtol=1e-4, atol=1e-5)
    return "as in Python" if close else "wrong, without an exception"
