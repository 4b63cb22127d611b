"""Pictures from inside a graph, drawn by matplotlib and written to a log for TensorBoard."""

import numpy as np
import tensorflow as tf
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

WIDTH, HEIGHT = 160, 180


def drawn(images: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Pictures, `[count, HEIGHT, WIDTH, 3]`, of images from 0 to 1, `[count, height, width]`, under their labels."""
    pictures = np.empty([len(images), HEIGHT, WIDTH, 3], np.uint8)
    for picture, image, label in zip(pictures, images, labels, strict=True):
        figure = Figure((WIDTH / 100, HEIGHT / 100), dpi=100, layout="constrained")
        axes = figure.subplots()
        axes.imshow(image, cmap="gray", vmin=0, vmax=1)
        axes.set_title(label.decode(errors="replace"), parse_math=False)
        axes.axis("off")
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        picture[:] = np.asarray(canvas.buffer_rgba())[..., :3]
    return pictures


def summarize_labeled_images(
    name: str,
    images: tf.Tensor,
    labels: tf.Tensor,
    step: tf.Tensor,
    max_outputs: int = 3,
) -> tf.Tensor:
    """Writes pictures of the first images and their labels to the default summary writer.

    Args:
      name: Of the pictures in TensorBoard.
      images: `[count, height, width]`, a floating-point dtype, from 0, black, to 1, white.
      labels: Strings or numbers, `[count]`.
      step: The step of the training, int64.
      max_outputs: How many pictures at most.

    Returns:
      Whether they were written.
    """
    scope = tf.get_current_name_scope()  # without that of tf.cond, for the name
    labels = tf.convert_to_tensor(labels)
    if labels.dtype != tf.string:
        labels = tf.strings.as_string(labels)

    def write():
        some = images[:max_outputs], labels[:max_outputs]
        pictures = tf.numpy_function(drawn, some, tf.uint8)
        pictures = tf.ensure_shape(pictures, [None, HEIGHT, WIDTH, 3])
        with tf.name_scope(f"{scope}/"):
            return tf.summary.image(name, pictures, step, max_outputs)

    recorded = tf.summary.should_record_summaries()
    return tf.cond(recorded, write, lambda: tf.constant(False))
