"""Writes what version 1 saves and computes: `python write_v1.py FOLDER`."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import tensorflow as tf
from op_library import load_op_library
from read_v1 import SIGNAL


def calls_of_version_1() -> dict[str, Callable]:
    """Loads version 1; from the name of a file to a call of one op, or of a chain."""
    v1 = load_op_library(Path(__file__).with_name("libbackward_compatibility_v1.so"))

    def golden(signal: tf.Tensor) -> tf.Tensor:
        snapped = v1.snap(v1.amplify(v1.rectify(signal)), rounding="up")
        return v1.op_by_op_softsign(v1.flip_phase(v1.power(snapped)))

    return {
        "Amplify": v1.amplify,
        "Rectify": v1.rectify,
        "Snap": lambda signal: v1.snap(signal, rounding="up"),
        "Power": v1.power,
        "FlipPhase": v1.flip_phase,
        "OpByOp_Softsign": v1.op_by_op_softsign,
        "Attenuate": v1.attenuate,
        "Limit": v1.limit,
        "Gate": lambda signal: v1.gate(signal, threshold=0.1),
        "Halve": v1.halve,
        "Mix": lambda signal: v1.mix([signal, signal]),
        "Blend": lambda signal: v1.blend(signal, tf.square(signal)),
        "golden": golden,
    }


def main(folder: Path) -> None:
    """Writes NAME.pbtxt, a graph; NAME, a SavedModel; NAME.npy, what SIGNAL becomes."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, call in calls_of_version_1().items():
        traced = tf.function(call, autograph=False).get_concrete_function(
            tf.TensorSpec([None], tf.float32, name="signal")
        )
        np.save(folder / f"{name}.npy", traced(SIGNAL))
        tf.io.write_graph(traced.graph, str(folder), f"{name}.pbtxt")
        tf.saved_model.save(tf.Module(), str(folder / name), signatures=traced)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
