"""The function that writes a picture from inside a graph."""

import numpy as np
import pytest
import tensorflow as tf
from labeled_images import visualize_labeled_images

IMAGES = np.linspace(0, 1, 3 * 4 * 5, dtype=np.float32).reshape(3, 4, 5)
LABELS = [b"one", b"two", b"three"]


@pytest.mark.parametrize("count", [1, 3])
def test_a_picture_is_written(tmp_path, count):
    with tf.summary.create_file_writer(str(tmp_path)).as_default() as writer:
        assert visualize_labeled_images("some", IMAGES[:count], LABELS[:count], 7)
        writer.flush()
    (log,) = tmp_path.iterdir()
    events = [
        tf.compat.v1.Event.FromString(record.numpy())
        for record in tf.data.TFRecordDataset(str(log))
    ]
    (value,) = events[-1].summary.value
    width, height, png = tf.make_ndarray(value.tensor)
    assert (events[-1].step, value.tag) == (7, "some")
    assert value.metadata.plugin_data.plugin_name == "images"
    assert tf.io.decode_png(png).shape[:2] == (int(height), int(width))


@pytest.mark.parametrize("recorded", [True, False])
def test_drawn_only_where_it_is_written(tmp_path, monkeypatch, recorded):
    drawn = []
    monkeypatch.setattr(
        "labeled_images.drawn", lambda images, labels: drawn.append(1) or b""
    )
    step = tf.function(
        lambda: visualize_labeled_images("some", IMAGES, LABELS, 0), autograph=False
    )
    assert not step()
    assert not drawn
    with (
        tf.summary.create_file_writer(str(tmp_path)).as_default(),
        tf.summary.record_if(recorded),
    ):
        tf.function(step.python_function, autograph=False)()
    assert len(drawn) == recorded


def test_the_writer_of_the_tracing_stays(tmp_path):
    """Without a writer at that time, nothing is written later either."""
    write = tf.function(lambda: tf.summary.write("x", 1.0, 0), autograph=False)
    never = tf.function(write.python_function, autograph=False)
    assert not never()
    folders = [tmp_path / "first", tmp_path / "second"]
    writers = [tf.summary.create_file_writer(str(folder)) for folder in folders]
    for writer in writers:
        with writer.as_default():
            assert write()
            assert not never()
    for writer in writers:
        writer.flush()
    logs = [str(log) for folder in folders for log in folder.iterdir()]
    records = [len(list(tf.data.TFRecordDataset(log))) for log in logs]
    assert records == [3, 1]  # the first one is the version of the format
