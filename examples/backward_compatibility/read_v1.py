"""Run what version 1 wrote with the op of this process, and compare."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import tensorflow as tf
from google.protobuf import text_format
from op_library import load_op_library
from tensorflow.core.framework.node_def_pb2 import NodeDef
from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

SIGNAL = tf.constant(np.linspace(-1, 1, 41), tf.float32)
REFUSALS = ValueError, KeyError, RuntimeError, TypeError, AttributeError


def read_graph(path: Path) -> tf.compat.v1.GraphDef:
    """Reads a graph in text form."""
    return text_format.Parse(path.read_text(), tf.compat.v1.GraphDef())


def saved_nodes(folder: Path) -> list[NodeDef]:
    """The nodes of MuLaw in the functions of a SavedModel, and those that take their output."""
    model = SavedModel.FromString((folder / "saved_model.pb").read_bytes())
    return [
        node
        for function in model.meta_graphs[0].graph_def.library.function
        for node in function.node_def
        if "MuLaw" in (node.op, node.input[0].partition(":")[0] if node.input else "")
    ]


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


def session_function(folder: Path) -> Callable:
    """Loads a SavedModel into a session of TensorFlow 1, which fills in the defaults of attrs in C++."""

    def call(signal: tf.Tensor) -> np.ndarray:
        values = signal.numpy()
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            model = tf.compat.v1.saved_model.load(session, ["serve"], str(folder))
            signature = model.signature_def["serving_default"]
            [given], [wanted] = signature.inputs.values(), signature.outputs.values()
            return session.run(wanted.name, {given.name: values})

    return call


def loaded_gradient(folder: Path) -> np.ndarray:
    """Loads version 1 without its Python side, and a model of `write_with_gradients`: its gradient."""
    load_op_library(Path(__file__).with_name("libbackward_compatibility_v1.so"))
    model = tf.saved_model.load(str(folder))
    with tf.GradientTape() as tape:
        tape.watch(signal := tf.constant([0.25, 0.5]))
        encoded = model.encode(signal)
    return tape.gradient(encoded, signal).numpy()


def outcome(load: Callable[[], Callable], expected: np.ndarray) -> str:
    """What becomes of a file: `same result`, `another result`, or the error."""
    try:
        result = load()(SIGNAL)
    except (*REFUSALS, tf.errors.OpError) as error:
        return f"{type(error).__name__}: {getattr(error, 'message', error)}"
    same = np.allclose(result, expected, rtol=1e-6, atol=0)
    return "same result" if same else "another result"


def outcomes(folder: Path) -> tuple[str, str]:
    """What becomes of the graph and of the SavedModel that `write_v1.py` wrote."""
    expected = np.load(folder / "features.npy")
    graph = outcome(
        lambda: graph_function(read_graph(folder / "graph.pbtxt")), expected
    )
    return graph, outcome(lambda: saved_model_function(folder / "model"), expected)


def called(library: ModuleType, folder: Path) -> str:
    """What becomes of two calls that version 1 took: `signal` by its place, and by its name."""

    def features() -> np.ndarray:
        def both():
            mild = library.mu_law(signal=SIGNAL, mode="encode", mu=15.0)
            return library.mu_law(SIGNAL, mode="encode"), mild

        results = tf.function(both, autograph=False)()
        return np.stack([result.numpy() for result in results])

    expected = np.load(folder / "features.npy")
    return outcome(lambda: lambda _: features(), expected)


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
