"""Writes what version 1 saves and computes: `python write_v1.py FOLDER`."""

import shutil
import sys
from pathlib import Path

import numpy as np
import tensorflow as tf
from op_library import load_op_library
from read_v1 import SIGNAL, read_graph
from tensorflow.core.protobuf.saved_model_pb2 import SavedModel


def write(folder: Path) -> None:
    """Writes `model`, a SavedModel; `graph.pbtxt`; `features.npy`, what SIGNAL becomes."""
    v1 = load_op_library(Path(__file__).with_name("libbackward_compatibility_v1.so"))

    def features(signal: tf.Tensor) -> tf.Tensor:
        strong = v1.mu_law(signal, mode="encode")
        mild = v1.mu_law(signal, mode="encode", mu=15.0)
        return tf.stack([strong, mild])

    traced = tf.function(features, autograph=False).get_concrete_function(
        tf.TensorSpec([None], tf.float32, name="signal")
    )
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "features.npy", traced(SIGNAL))
    tf.io.write_graph(traced.graph, str(folder), "graph.pbtxt")
    tf.saved_model.save(tf.Module(), str(folder / "model"), signatures=traced)


def pretend(folder: Path, copy: Path, producer: int) -> None:
    """Copies what `write` wrote, as if an older TensorFlow had, of this version of the graph format."""
    shutil.copytree(folder, copy, dirs_exist_ok=True)
    graph = read_graph(copy / "graph.pbtxt")
    graph.versions.producer = producer
    tf.io.write_graph(graph, str(copy), "graph.pbtxt")
    file = copy / "model" / "saved_model.pb"
    model = SavedModel.FromString(file.read_bytes())
    model.meta_graphs[0].graph_def.versions.producer = producer
    file.write_bytes(model.SerializeToString())


def write_with_gradients(folder: Path) -> None:
    """Writes `registered` and `custom`: SavedModels with a gradient of the two sorts."""
    v1 = load_op_library(Path(__file__).with_name("libbackward_compatibility_v1.so"))

    def slope(signal: tf.Tensor) -> tf.Tensor:
        return 255 / (tf.math.log(256.0) * (1 + 255 * tf.abs(signal)))

    @tf.RegisterGradient("MuLaw")
    def _mu_law_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
        return grad * slope(op.inputs[0])

    def registered(signal: tf.Tensor) -> tf.Tensor:
        return v1.mu_law(signal, mode="encode")

    @tf.custom_gradient
    def custom(signal: tf.Tensor) -> tuple:
        return registered(signal), lambda grad: grad * slope(signal)

    for function in registered, custom:
        module = tf.Module()
        module.encode = tf.function(
            function, [tf.TensorSpec([None], tf.float32)], autograph=False
        )
        tf.saved_model.save(module, str(folder / function.__name__))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
