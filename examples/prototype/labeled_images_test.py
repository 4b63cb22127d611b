"""The function that writes pictures from inside a graph."""

import numpy as np
import pytest
import tensorflow as tf
from labeled_images import drawn, summarize_labeled_images

pytest.importorskip("tensorboard", reason="tf.summary.image needs it")

IMAGES = np.linspace(0, 1, 5 * 4 * 3, dtype=np.float32).reshape(5, 4, 3)
LABELS = [b"one", b"two", b"three", b"four", b"five"]


@pytest.mark.parametrize("eager", [True, False])
@pytest.mark.parametrize(("count", "most"), [(1, 3), (5, 3), (5, 2)])
def test_pictures_are_written(tmp_path, count, most, eager):
    summarize = (
        summarize_labeled_images if eager else tf.function(summarize_labeled_images)
    )
    batch = IMAGES[:count], LABELS[:count]
    with tf.summary.create_file_writer(str(tmp_path)).as_default() as writer:
        assert summarize("some", *batch, tf.constant(7, tf.int64), most)
        writer.flush()
    (log,) = tmp_path.iterdir()
    events = [
        tf.compat.v1.Event.FromString(record.numpy())
        for record in tf.data.TFRecordDataset(str(log))
    ]
    (value,) = events[-1].summary.value
    width, height, *pngs = tf.make_ndarray(value.tensor)
    assert (events[-1].step, value.tag) == (7, "some")
    assert value.metadata.plugin_data.plugin_name == "images"
    got = [tf.io.decode_png(png) for png in pngs]
    np.testing.assert_array_equal(got, drawn(*batch)[:most])
    assert got[0].shape[:2] == (int(height), int(width))


@pytest.mark.parametrize(
    ("gray", "expected"), [(0, 0), (0.2, 51), (0.9, 230), (1, 255)]
)
def test_gray_is_as_dark_as_it_is(gray, expected):
    """Whatever else is in the image: `imshow` by itself stretches each to full contrast."""
    (picture,) = drawn(np.full([1, 4, 3], gray, np.float32), LABELS[:1])
    center = picture[picture.shape[0] // 2, picture.shape[1] // 2]
    np.testing.assert_array_equal(center, expected)


def test_a_label_is_no_formula():
    labels = [rb"$\foo$", b"$1_$", b"\xff"]
    pictures = drawn(IMAGES[[0, 0, 0]], labels)
    assert len({picture.tobytes() for picture in pictures}) == 3


def test_a_missing_label_is_an_error():
    with pytest.raises(ValueError, match="shorter"):
        drawn(IMAGES, LABELS[:2])


@pytest.mark.parametrize("recorded", [True, False])
def test_drawn_only_where_it_is_written(tmp_path, monkeypatch, recorded):
    calls = []
    monkeypatch.setattr(
        "labeled_images.drawn",
        lambda images, labels: calls.append(len(images)) or drawn(images, labels),
    )
    step = tf.function(
        lambda: summarize_labeled_images(
            "some", *map(tf.constant, (IMAGES, LABELS)), 0
        ),
        autograph=False,
    )
    assert not step()
    assert not calls
    with (
        tf.summary.create_file_writer(str(tmp_path)).as_default(),
        tf.summary.record_if(recorded),
    ):
        tf.function(step.python_function, autograph=False)()
    assert calls == [3] * recorded


def test_numbers_are_labels_too(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(
        "labeled_images.drawn",
        lambda images, labels: seen.extend(labels) or drawn(images, labels),
    )
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        assert summarize_labeled_images("some", IMAGES, tf.range(5), 0)
    assert seen == [b"0", b"1", b"2"]


def test_xla_cannot_compile_a_step_with_it(tmp_path):
    step = tf.function(
        lambda images: summarize_labeled_images("some", images, LABELS, 0),
        autograph=False,
        jit_compile=True,
    )
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="unsupported operations"
        ):
            step(tf.constant(IMAGES))


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
