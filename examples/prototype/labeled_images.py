"""Pictures from inside a graph, drawn by matplotlib and written to a log for TensorBoard."""

import io

import numpy as np
import tensorflow as tf
from matplotlib.figure import Figure

WIDTH, HEIGHT = 400, 160


def drawn(images: np.ndarray, labels: np.ndarray) -> bytes:
    """A PNG of images, `[count, height, width]`, with a label, a string, over each."""
    size = WIDTH / 100, HEIGHT / 100  # inches
    figure = Figure(size, dpi=100, layout="constrained")
    (row,) = figure.subplots(1, len(images), squeeze=False)
    for axes, image, label in zip(row, images, labels):
        axes.imshow(image, cmap="gray")
        axes.set_title(label.decode())
        axes.axis("off")
    png = io.BytesIO()
    figure.savefig(png, format="png")
    return png.getvalue()


def visualize_labeled_images(
    name: str, images: tf.Tensor, labels: tf.Tensor, step: tf.Tensor
) -> tf.Tensor:
    """Writes a picture of images and their labels to the default summary writer.

    Args:
      name: Of the pictures in TensorBoard.
      images: `[count, height, width]`, at least one, a floating-point dtype.
      labels: Strings, `[count]`.
      step: The step of the training, int64.

    Returns:
      Whether there was a writer.
    """

    def picture() -> tf.Tensor:
        png = tf.numpy_function(drawn, [images, labels], tf.string)
        return tf.stack([str(WIDTH), str(HEIGHT), tf.ensure_shape(png, [])])

    metadata = tf.compat.v1.SummaryMetadata()
    metadata.plugin_data.plugin_name = "images"
    return tf.summary.write(name, picture, step, metadata)
