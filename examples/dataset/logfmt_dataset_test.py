"""Tests of LogfmtDataset: `pytest examples/dataset`."""

import numpy as np
import pytest
import tensorflow as tf
from logfmt_dataset import _library, logfmt_dataset

LINES = ["level=info id=1", "id=2 level=warn a=b=c", "", "oops", "level=info id=3"]
KEYS = ["id", "level"]
Invalid = tf.errors.InvalidArgumentError


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "a.log"
    path.write_text("\n".join(LINES) + "\n")
    return str(path)


def values_of(dataset) -> list[list[str]]:
    return [[x.decode() for x in row.numpy().tolist()] for row in dataset]


def test_values_in_the_order_of_the_keys(log):
    rows = logfmt_dataset(log, KEYS, missing="-").take(3)
    assert values_of(rows) == [["1", "info"], ["2", "warn"], ["-", "-"]]
    assert values_of(logfmt_dataset(log, ["a"]).take(2)) == [[""], ["b=c"]]
    assert rows.element_spec == tf.TensorSpec([2], tf.string)


def test_a_bad_line_is_named_and_can_be_left_out(log):
    with pytest.raises(Invalid, match="a.log: line 4: unquoted key=.*, got oops"):
        list(logfmt_dataset(log, KEYS))
    rows = values_of(logfmt_dataset(log, KEYS).ignore_errors())
    assert [row[0] for row in rows] == ["1", "2", "", "3"]


def test_quotes_are_refused(tmp_path):
    path = tmp_path / "a.log"
    path.write_text('level=info id="1"\nid=2\n')
    rows = iter(logfmt_dataset(str(path), ["id"]))
    with pytest.raises(Invalid, match='line 1: unquoted key=.*, got id="1"'):
        next(rows)
    assert next(rows) == [b"2"]


def test_bytes_that_are_no_text_can_be_told(tmp_path):
    path = tmp_path / "a.log"
    path.write_bytes(b"id=1\n\xff=2 \xfe\n")
    with pytest.raises(Invalid, match=r"line 2: unquoted key=.*, got \\xfe"):
        list(logfmt_dataset(str(path), KEYS))
    with pytest.raises(tf.errors.NotFoundError, match=r"filename \\xff: "):
        logfmt_dataset(b"\xff", KEYS)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_ends_of_lines(tmp_path, end, last):
    path = tmp_path / "a.log"
    lines = [f"id={i}" for i in range(1000)]
    path.write_bytes((end.join(lines) + end * last).encode())
    rows = values_of(logfmt_dataset(str(path), ["id"]))
    assert rows == [[str(i)] for i in range(1000)]


def test_what_is_left_out_has_a_default(log):
    rows = logfmt_dataset(log, KEYS).ignore_errors()
    assert rows.cardinality() == tf.data.UNKNOWN_CARDINALITY
    assert values_of(rows.skip(3)) == [["3", "info"]]
    assert len(list(rows.shard(2, 1))) == 2


def test_what_cannot_be_read_fails_once(tmp_path):
    rows = iter(logfmt_dataset(str(tmp_path), KEYS))
    with pytest.raises(tf.errors.FailedPreconditionError, match="Is a directory"):
        next(rows)
    assert next(rows, None) is None


def test_symbolic_checkpoints_are_refused(log):
    options = tf.data.Options()
    options.experimental_symbolic_checkpoint = True
    iterator = iter(logfmt_dataset(log, KEYS).batch(1).with_options(options))
    next(iterator)
    with pytest.raises(tf.errors.UnimplementedError, match="LogfmtDataset does not"):
        tf.train.Checkpoint(iterator=iterator).write(f"{log}.place")


@pytest.mark.parametrize("place", [0, 1, 3])
def test_a_checkpoint_goes_on_where_it_was(log, place):
    rows = logfmt_dataset(log, KEYS).ignore_errors().batch(1)
    whole = values_of(rows.unbatch())
    iterator = iter(rows)
    first = [next(iterator)[0] for _ in range(place)]
    saved = tf.train.Checkpoint(iterator=iterator).write(f"{log}.place")
    again = iter(rows)
    tf.train.Checkpoint(iterator=again).read(saved).assert_consumed()
    assert values_of(first + [batch[0] for batch in again]) == whole


def test_in_a_pipeline_that_is_built_again(tmp_path, log):
    """The graph of the pipeline holds keys and attr."""
    files = tf.data.Dataset.from_tensor_slices([log, log])
    rows = files.interleave(
        lambda file: logfmt_dataset(file, KEYS, missing="?").take(3),
        cycle_length=2,
        num_parallel_calls=2,
    )
    assert values_of(rows)[-1] == ["?", "?"]
    iterator = iter(rows)
    next(iterator)
    saved = tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "place"))
    again = iter(rows)
    tf.train.Checkpoint(iterator=again).read(saved).assert_consumed()
    assert values_of(again) == values_of(iterator)


def test_what_is_refused(log, mode):
    options = {"output_types": [tf.string], "output_shapes": [[1]]}
    for filename, keys, message in [
        ([log], ["a"], "filename must be a scalar|rank 0"),
        (log, "a", "keys must be a vector|rank 1"),
    ]:
        with pytest.raises((Invalid, ValueError), match=message):
            mode(lambda x, y: _library.logfmt_dataset(x, y, **options))(
                tf.constant(filename), tf.constant(keys)
            )
    with pytest.raises(tf.errors.NotFoundError, match="nothing.log"):
        logfmt_dataset("nothing.log", ["a"])
    for types, shapes in [
        ([tf.string], [[2]]),
        ([tf.string] * 2, [[1]]),
        ([tf.string], [[1], [1]]),
        ([tf.string], [[]]),
    ]:
        with pytest.raises(Invalid, match="for vectors of 1 strings"):
            _library.logfmt_dataset(
                log, ["a"], output_types=types, output_shapes=shapes
            )
    np.testing.assert_equal(len(list(logfmt_dataset(log, []).take(2))), 2)
