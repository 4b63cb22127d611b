"""Three linear models that vote: what `serve` runs."""

import subprocess
from pathlib import Path

import numpy as np
import tensorflow as tf
from majority_vote import majority_vote

FOLDER = Path(__file__).parent

WEIGHTS = (
    ((-1, 0, -2), (-2, 0, -2)),
    ((0, -2, 1), (-2, 2, 0)),
    ((-1, 0, -2), (-1, -1, 2)),
)


class Voters(tf.Module):
    """Finds the class of points in the plane."""

    def votes(self, points: tf.Tensor) -> list[tf.Tensor]:
        """The class, 0 to 2, that each model would give to each row of a matrix of two columns."""
        weights = tf.constant(WEIGHTS, tf.float32)
        return [tf.argmax(points @ each, -1, tf.int32) for each in tf.unstack(weights)]

    @tf.function(input_signature=[tf.TensorSpec([None, 2], name="points")])
    def classify(self, points: tf.Tensor) -> dict[str, tf.Tensor]:
        """The class that most of them give."""
        return {"classes": majority_vote(self.votes(points))}


def run_serve(points: np.ndarray, *libraries: Path, model: Path) -> list[int]:
    """Runs the program `serve`.

    Args:
      points: A matrix of two columns.
      *libraries: The op libraries that it is to load.
      model: The folder of a SavedModel.

    Returns:
      The class of each point.

    Raises:
      RuntimeError: With the last line that the program has printed.
    """
    text = "\n".join(f"{x} {y}" for x, y in points)
    run = subprocess.run(
        [FOLDER / "serve", model, *libraries],
        input=text,
        capture_output=True,
        text=True,
    )
    if run.returncode:
        raise RuntimeError((run.stderr.splitlines() or [f"{run.returncode}"])[-1])
    return [int(number) for number in run.stdout.split()]
