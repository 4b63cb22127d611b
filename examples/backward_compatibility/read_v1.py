"""Run what version 1 wrote with the ops of this process, and compare."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import tensorflow as tf
from google.protobuf import text_format

SIGNAL = tf.constant([-2.25, -0.75, -0.25, 0.0, 0.25, 0.75, 2.25])


def read_graph(path: Path) -> tf.compat.v1.GraphDef:
    """Reads a graph in text form."""
    return text_format.Parse(path.read_text(), tf.compat.v1.GraphDef())


def graph_function(graph: tf.compat.v1.GraphDef) -> Callable:
    """Imports a graph: from the tensor `signal` to the tensor `Identity`."""

    def imported(signal: tf.Tensor) -> tf.Tensor:
        return tf.graph_util.import_graph_def(
            graph, {"signal:0": signal}, ["Identity:0"]
        )[0]

    spec = tf.TensorSpec([None], tf.float32)
    return tf.function(imported, autograph=False).get_concrete_function(spec)


def saved_model_function(folder: Path) -> Callable:
    """Loads a SavedModel: its signature of one input and one output."""
    signature = tf.saved_model.load(str(folder)).signatures["serving_default"]

    def call(signal: tf.Tensor) -> tf.Tensor:
        (result,) = signature(signal).values()
        return result

    return call


def outcome(folder: Path, name: str) -> tuple[str, str]:
    """What becomes of the graph and of the SavedModel of that name.

    Returns:
      For each of them `same result`, `another result`, or `refused`.
    """
    expected = np.load(folder / f"{name}.npy")
    outcomes = []
    for load in (
        lambda: graph_function(read_graph(folder / f"{name}.pbtxt")),
        lambda: saved_model_function(folder / name),
    ):
        try:
            same = np.array_equal(load()(SIGNAL), expected)
            outcomes.append("same result" if same else "another result")
        except (ValueError, RuntimeError, tf.errors.OpError):
            outcomes.append("refused")
    return tuple(outcomes)


def logged(call: Callable) -> str:
    """Runs a function and returns what C++ code wrote to the standard error."""
    kept = os.dup(2)
    with tempfile.TemporaryFile("w+") as log:
        os.dup2(log.fileno(), 2)
        try:
            call()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        log.seek(0)
        return log.read()
