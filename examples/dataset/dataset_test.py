"""Tests of NpyDataset: `pytest examples/dataset`."""

import contextlib
import gc
import os
from pathlib import Path

import numpy as np
import pytest
import solution_shard
import tensorflow as tf
from dataset import npy_dataset, row_spec
from dataset_memory import not_ahead
from dataset_reference import npy_reference

from opcheck.testing import op_test

HERE = Path(__file__).parent
Invalid, Lost = tf.errors.InvalidArgumentError, tf.errors.DataLossError


def save(path, array) -> str:
    np.save(path, array)
    return str(path)


SAMPLE = HERE.parent.parent / "build" / "dataset_test.npy"
SAMPLE.parent.mkdir(exist_ok=True)
np.save(SAMPLE, np.float32([[1, 2, 3], [4, 5, 6]]))

test_npy_dataset_keeps_its_promises = op_test(
    npy_dataset,
    str(SAMPLE).encode(),
    spec=tf.TensorSpec([3]),
    # Of a dataset, nothing but its shape can be compared; the tests below compare rows.
    reference=lambda filename, spec: np.zeros([]),
)


@pytest.fixture
def numbers(tmp_path):
    """A file of five rows of three numbers, and what is in it."""
    rows = np.arange(15, dtype=np.float32).reshape(5, 3)
    return save(tmp_path / "numbers.npy", rows), rows


def rows_of(dataset) -> np.ndarray:
    return np.stack([row.numpy() for row in dataset])


DTYPES = "f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 c8 c16".split()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [[], [3], [2, 1, 4], [0]])
def test_rows_equal_numpys(tmp_path, dtype, shape):
    rows = np.random.default_rng(0).integers(0, 99, [7, *shape]).astype(dtype)
    name = save(tmp_path / "rows.npy", rows)
    dataset = npy_dataset(name)
    assert len(dataset) == 7
    assert dataset.element_spec == tf.TensorSpec(shape, tf.as_dtype(rows.dtype))
    np.testing.assert_array_equal(rows_of(dataset), rows, strict=True)
    content = Path(name).read_bytes()
    np.testing.assert_array_equal(npy_reference(content), rows, strict=True)


@pytest.mark.parametrize("length", [1, 87_381, 87_382, 100_000, 600_000])
def test_rows_smaller_and_larger_than_the_buffer(tmp_path, length):
    rows = np.random.default_rng(0).integers(0, 256, [4, 3, length], np.uint8)
    name = save(tmp_path / "rows.npy", rows)
    np.testing.assert_array_equal(rows_of(npy_dataset(name).repeat(2))[4:], rows)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_all_versions_of_the_format(tmp_path, version):
    path = tmp_path / "rows.npy"
    with path.open("wb") as file:
        np.lib.format.write_array(file, np.eye(3), version)
    np.testing.assert_array_equal(rows_of(npy_dataset(str(path))), np.eye(3))


def test_no_rows(tmp_path):
    dataset = npy_dataset(save(tmp_path / "empty.npy", np.zeros([0, 3], np.int8)))
    assert len(dataset) == 0 and list(dataset) == []


def test_a_million_rows(tmp_path):
    name = save(tmp_path / "many.npy", np.arange(10**6))
    dataset = npy_dataset(name)
    assert len(dataset) == 10**6
    batches = [batch.numpy() for batch in dataset.batch(8192)]
    np.testing.assert_array_equal(np.concatenate(batches), np.arange(10**6))


def test_in_a_function(mode, numbers):
    name, rows = numbers
    spec = tf.TensorSpec([3])

    def total(name):
        return npy_dataset(name, spec).reduce(np.float32(0), lambda s, row: s + row[1])

    assert mode(total)(tf.constant(name)) == rows[:, 1].sum()


def test_sizes_may_be_unknown(tmp_path):
    names = [
        save(tmp_path / f"{n}.npy", np.full([2, n], n, np.int32)) for n in (1, 2, 3)
    ]
    spec = tf.TensorSpec([None], tf.int32)
    rows = tf.data.Dataset.from_tensor_slices(names).flat_map(
        lambda name: npy_dataset(name, spec)
    )
    expected = [[1], [1], [2, 2], [2, 2], [3, 3, 3], [3, 3, 3]]
    assert [row.numpy().tolist() for row in rows] == expected


def test_skip_and_shard(numbers):
    name, rows = numbers
    dataset = npy_dataset(name)
    np.testing.assert_array_equal(rows_of(dataset.skip(3)), rows[3:])
    np.testing.assert_array_equal(rows_of(dataset.shard(2, 1)), rows[1::2])
    assert list(dataset.skip(5)) == list(dataset.skip(9)) == []


def test_a_skip_that_tensorflow_narrows_stays_in_the_rows(numbers):
    """To a negative int: the header lies before the first row."""
    name, rows = numbers
    dataset = npy_dataset(name)
    for count in (2**32 - 5, 2**31):
        np.testing.assert_array_equal(rows_of(dataset.skip(count)), rows)
    np.testing.assert_array_equal(rows_of(dataset.shard(2**32 - 4, 0)), rows)


def test_what_was_read_is_not_written_over(tmp_path):
    """Rows are read into memory that is kept, once nobody else has it."""
    rows = np.random.default_rng(0).normal(size=[40, 50]).astype(np.float32)
    dataset = npy_dataset(save(tmp_path / "rows.npy", rows))
    np.testing.assert_array_equal(np.stack(list(dataset)), rows)
    views = [row.numpy() for row in dataset]
    np.testing.assert_array_equal(views, rows)
    halves = [row[25:] for row in dataset]
    np.testing.assert_array_equal(halves, rows[:, 25:])
    parallel = dataset.map(lambda row: row + 0, num_parallel_calls=4).prefetch(4)
    np.testing.assert_array_equal(rows_of(parallel), rows)


@pytest.fixture
def measured(in_process):
    """What functions of `dataset_memory.py` return in a process in which a freed row goes back to the system."""

    def run(name: str, *functions: str) -> list[int]:
        calls = f"rows = npy_dataset({name!r}); print({', '.join(functions)})"
        script = f"from dataset import *; from dataset_memory import *; {calls}"
        printed = in_process(script, MALLOC_MMAP_THRESHOLD_="65536")
        return [int(number) for number in printed.split()]

    return run


@pytest.mark.slow
def test_memory_of_ten_epochs(tmp_path, measured):
    name = save(tmp_path / "rows.npy", np.ones([256, 1 << 16], np.float32))
    used, kept = measured(
        name, "memory_of_ten_epochs(rows)", "memory_of_ten_epochs(rows.cache())"
    )
    row = (1 << 16) * 4
    assert used < 8 * row
    assert kept > 200 * row, "of a dataset that keeps its rows"


@pytest.mark.slow
def test_memory_after_rows_were_held(tmp_path, measured):
    name = save(tmp_path / "rows.npy", np.ones([256, 1 << 16], np.float32))
    [kept] = measured(name, "memory_after_rows_were_held(rows)")
    assert kept < 32 * (1 << 16) * 4


@pytest.mark.slow
def test_memory_of_large_rows(tmp_path, measured):
    name = save(tmp_path / "rows.npy", np.ones([2, 16 << 20], np.float32))
    used, rows = measured(
        name, "memory_after_the_last_row(rows)", "rows_after_a_shortage(rows)"
    )
    assert used < (64 << 20) / 2
    assert rows == 2


@pytest.mark.parametrize("place", [0, 1, 6, 14, 15])
def test_a_checkpoint_goes_on_where_it_was(tmp_path, place):
    """The page does the same in another process, without a shuffle."""
    names = []
    for n in range(3):
        rows = np.arange(5, dtype=np.int32) + 10 * n
        names.append(save(tmp_path / f"{n}.npy", rows))

    def start():
        rows = tf.data.Dataset.from_tensor_slices(names).interleave(
            lambda name: npy_dataset(name, tf.TensorSpec([], tf.int32)), 2
        )
        return iter(rows.shuffle(4, seed=3, reshuffle_each_iteration=False))

    whole = [int(row) for row in start()]
    assert sorted(whole) == [*range(5), *range(10, 15), *range(20, 25)]
    iterator = start()
    first = [int(next(iterator)) for _ in range(place)]
    saved = tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "place"))
    again = start()
    tf.train.Checkpoint(iterator=again).read(saved).assert_consumed()
    assert first + [int(row) for row in again] == whole


def test_a_symbolic_checkpoint_holds_no_rows(tmp_path):
    """Nor those that were read ahead."""
    rows = np.random.default_rng(0).random([9, 1 << 14], np.float32)
    name = save(tmp_path / "rows.npy", rows)
    options = tf.data.Options()
    options.experimental_symbolic_checkpoint = True
    dataset = npy_dataset(name).prefetch(4).with_options(options)
    iterator = iter(dataset)
    first = [next(iterator) for _ in range(3)]
    place = tf.train.Checkpoint(iterator=iterator).write(f"{name}.place")
    again = iter(dataset)
    tf.train.Checkpoint(iterator=again).read(place).assert_consumed()
    np.testing.assert_array_equal([*first, *again], rows)
    written = sum(file.stat().st_size for file in tmp_path.glob("*.place*"))
    assert written < rows[0].nbytes


def test_a_function_with_a_stateful_op_is_saved_if_the_op_is_exempt(tmp_path):
    """TensorFlow's tables are exempt by the macro that the page names."""
    table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, -1, -2)
    ways = {
        "table": table.lookup,
        "random": lambda i: tf.random.uniform([]),
        "variable": lambda i: variable + i,
    }
    variable, saved = tf.Variable(1, dtype=tf.int64), []
    for way, function in ways.items():
        iterator = iter(tf.data.Dataset.range(3).map(function))
        with contextlib.suppress(tf.errors.FailedPreconditionError):
            tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / way))
            saved.append(way)
    assert saved == ["table"]


def test_symbolic_checkpoints_are_of_any_function_and_forget_its_state(tmp_path):
    tf.random.set_seed(3)
    options = tf.data.Options()
    options.experimental_symbolic_checkpoint = True
    drawn = tf.data.Dataset.range(5).map(lambda i: tf.random.uniform([]))
    iterator = iter(drawn.with_options(options))
    next(iterator)
    place = tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "place"))
    again = iter(drawn.with_options(options))
    tf.train.Checkpoint(iterator=again).read(place)
    rest = [float(x) for x in iterator]
    assert len(rest) == 4
    assert [float(x) for x in again] != rest


def test_a_checkpoint_of_a_longer_file_is_refused(numbers):
    name, rows = numbers
    iterator = iter(npy_dataset(name))
    [next(iterator) for _ in range(4)]  # and perhaps one more is read ahead
    place = tf.train.Checkpoint(iterator=iterator).write(f"{name}.place")
    np.save(name, rows[:2])
    with pytest.raises(tf.errors.FailedPreconditionError, match="row [45] of 2"):
        shorter = tf.train.Checkpoint(iterator=iter(npy_dataset(name)))
        shorter.read(place).assert_consumed()


def test_files_are_closed(tmp_path):
    """Of iterators that were read to the end, and of those that were not."""
    names = [save(tmp_path / f"{n}.npy", np.zeros([50, 9])) for n in range(8)]
    spec = row_spec(names[0])

    def opened():
        found = 0
        for each in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):  # it is closed by now
                found += os.readlink(f"/proc/self/fd/{each}") in names
        return found

    files = tf.data.Dataset.from_tensor_slices(names)
    rows = files.interleave(
        lambda name: npy_dataset(name, spec), 4, num_parallel_calls=4
    ).prefetch(8)
    iterator = iter(rows)
    next(iterator)
    assert opened() >= 4
    del iterator  # cancels what is under way
    gc.collect()
    assert opened() == 0
    iterator = iter(npy_dataset(names[0]))
    assert opened() == 1
    list(iterator)
    assert opened() == 0


def test_fit_and_a_strategy(tmp_path):
    name = save(tmp_path / "rows.npy", np.ones([8, 3], np.float32))
    rows = npy_dataset(name)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    history = model.fit(rows.map(lambda x: (x, x[:1])).batch(4), epochs=2, verbose=0)
    assert len(history.history["loss"]) == 2
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    shared = strategy.experimental_distribute_dataset(rows.batch(4))
    assert sum(float(tf.reduce_sum(batch)) for batch in shared) == 24


@pytest.mark.parametrize("policy, name", [(0, "AUTO"), (1, "FILE"), (2, "DATA")])
def test_sharding_by_itself(numbers, policy, name):
    """TensorFlow does not know that the op reads files, and so shares rows at best."""

    def shared():
        return tf.raw_ops.AutoShardDataset(
            input_dataset=npy_dataset(numbers[0])._variant_tensor,
            **dict(num_workers=2, index=1, auto_shard_policy=policy),
            **dict(output_types=[tf.float32], output_shapes=[[3]]),
        )

    assert tf.data.experimental.AutoShardPolicy[name].value == policy
    if name == "FILE":
        with pytest.raises(
            tf.errors.NotFoundError, match="not find a shardable source"
        ):
            shared()
        return
    rows = tf.data.experimental.from_variant(shared(), tf.TensorSpec([3]))
    np.testing.assert_array_equal(rows_of(rows), numbers[1][1::2])


def changed(content: bytes, old: bytes, new: bytes) -> bytes:
    assert len(old) == len(new) and old in content
    return content.replace(old, new)


BROKEN = {
    "empty": (lambda c: b"", Invalid, "begins with"),
    "short": (lambda c: c[:9], Invalid, "begins with"),
    "other": (lambda c: b"PK" + c[2:], Invalid, "begins with"),
    "version": (
        lambda c: c[:6] + b"\4\0" + c[8:],
        Invalid,
        "version 1.0, 2.0 or 3.0 .* got 4.0",
    ),
    "minor": (lambda c: c[:7] + b"\1" + c[8:], Invalid, "version 1.0, .* got 1.1"),
    "long": (
        lambda c: c[:8] + b"\x11\x27" + c[10:] + bytes(10_001),
        Invalid,
        "header of at most 10000 bytes was expected, got 10001",
    ),
    "header": (
        lambda c: c[:60],
        Lost,
        "header of 118 bytes was .*, but the file has 60",
    ),
    "row": (
        lambda c: c[:-1],
        Lost,
        r"5 rows of shape \[3\], but the file ends after 4",
    ),
    "rows": (lambda c: c[:128], Lost, "but the file ends after 0"),
    "more": (
        lambda c: changed(c, b"(5, 3), }  ", b"(500, 3), }"),
        Lost,
        "promises 500 rows",
    ),
    "huge": (
        lambda c: changed(
            c, b"(5, 3), }" + b" " * 40, b"(5, 3, 9" + b"9" * 17 + b"), }" + b" " * 20
        ),
        Lost,
        "ends after 0",
    ),
    "negative": (lambda c: changed(c, b"(5, 3)", b"(-5,3)"), Invalid, "'shape'"),
    "open": (lambda c: changed(c, b"(5, 3)", b"(5, 3,"), Invalid, "'shape'"),
    "words": (lambda c: changed(c, b"(5, 3)", b"(x, 3)"), Invalid, "'shape'"),
    "scalar": (lambda c: changed(c, b"(5, 3)", b"()    "), Invalid, "'shape'"),
    "width": (
        lambda c: changed(c, b"(5, 3)", b"(3, 5)"),
        Invalid,
        r"\[3\] were .* \[5\]",
    ),
    "endian": (lambda c: changed(c, b"<f4", b">f4"), Invalid, "'<f4', was expected"),
    "columns": (lambda c: changed(c, b"False", b"True "), Invalid, "fortran_order"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_is_refused_by_name(mode, numbers, kind):
    change, error, message = BROKEN[kind]
    path = Path(numbers[0])
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(error, match=f"(?s)filename {path}: .*{message}"):
        first = mode(lambda name: npy_dataset(name, tf.TensorSpec([3])).take(1))
        list(first(tf.constant(str(path))))


def test_changed_bytes_give_numpys_rows_or_an_error(tmp_path):
    """Any bytes: 400 files, of which many are refused, and none crashes."""
    random = np.random.default_rng(0)
    rows = random.integers(-99, 99, [4, 3]).astype("<i2")
    content = np.frombuffer(Path(save(tmp_path / "x.npy", rows)).read_bytes(), np.uint8)
    good = bad = 0
    spec, path = tf.TensorSpec([3], tf.int16), str(tmp_path / "y.npy")
    for _ in range(400):
        changed = content[
            : len(content) - int(random.choice([0, 0, 0, 1, 30, 140]))
        ].copy()
        for _ in range(random.integers(4)):
            at = random.choice(
                [random.integers(12), random.integers(len(changed) + 20)]
            )
            if at < len(changed):
                changed[at] = random.choice(
                    [*b"0123456789,() '<", random.integers(256)]
                )
        Path(path).write_bytes(changed.tobytes())
        try:
            got = [row.numpy() for row in npy_dataset(path, spec).take(9)]
        except (Invalid, Lost, tf.errors.ResourceExhaustedError) as error:
            assert "filename" in error.message
            bad += 1
            continue
        expected = npy_reference(changed.tobytes())[:9]
        np.testing.assert_array_equal(np.reshape(got, [-1, 3]), expected)
        good += 1
    assert good > 50 and bad > 50


@pytest.mark.parametrize("name", ["", "nothing.npy", "/", str(HERE)])
def test_what_is_no_file_is_refused(name):
    with pytest.raises((Invalid, tf.errors.OpError), match=f"filename {name}: "):
        npy_dataset(name, tf.TensorSpec([3]))


def test_a_file_cut_while_it_is_read(tmp_path):
    name = save(tmp_path / "rows.npy", np.zeros([10, 1 << 17], np.float32))
    dataset = npy_dataset(name)
    iterator = iter(dataset)
    next(iterator)
    os.truncate(name, 3 << 19)
    next(iterator)
    with pytest.raises(Lost, match=f"filename {name}: .* has been cut since"):
        list(iterator)
    with pytest.raises(Lost, match="promises 10 rows .* ends after 2"):
        list(dataset)


def test_a_row_that_could_not_be_read_is_left_out(tmp_path):
    rows = np.arange(10 << 17, dtype=np.float32).reshape(10, -1)
    name = save(tmp_path / "rows.npy", rows)
    whole = Path(name).read_bytes()
    iterator = iter(not_ahead(npy_dataset(name)))
    np.testing.assert_array_equal(next(iterator), rows[0])
    os.truncate(name, 3 << 18)
    with pytest.raises(Lost, match="has been cut since"):
        next(iterator)
    Path(name).write_bytes(whole)
    np.testing.assert_array_equal(list(iterator), rows[2:])


@pytest.mark.timeout(60)
def test_to_ignore_errors_ends_where_a_file_was_cut(tmp_path):
    rows = np.arange(10 << 17, dtype=np.float32).reshape(10, -1)
    name = save(tmp_path / "rows.npy", rows)
    iterator = iter(not_ahead(npy_dataset(name)).ignore_errors())
    next(iterator)
    os.truncate(name, 3 << 19)
    np.testing.assert_array_equal(list(iterator), rows[1:2])


def test_a_file_removed_while_it_is_read(tmp_path):
    name = save(tmp_path / "rows.npy", np.arange(200_000))
    dataset = npy_dataset(name)
    iterator = iter(dataset.batch(1000))
    next(iterator)
    os.remove(name)
    assert len(list(iterator)) == 199, "Linux keeps a file that is open"
    with pytest.raises(tf.errors.NotFoundError, match=f"filename {name}"):
        iter(dataset)


@pytest.mark.parametrize("name", ["numbers.npy", b"of_Latin-1_\xfc.npy"])
def test_a_file_replaced_between_epochs(tmp_path, name):
    """`iter` makes the dataset again, and `repeat` does not."""
    rows = np.arange(15, dtype=np.float32).reshape(5, 3)
    name = os.path.join(bytes(tmp_path), os.fsencode(name))
    save(os.fsdecode(name), rows)
    dataset = npy_dataset(name, tf.TensorSpec([3]))
    iterator = iter(dataset.repeat())
    save(os.fsdecode(name), rows[:2])
    message = r"filename .*\.npy: had 5 rows when the dataset was made, and now has 2"
    with pytest.raises(tf.errors.FailedPreconditionError, match=message):
        [next(iterator) for _ in range(6)]
    np.testing.assert_array_equal(rows_of(dataset), rows[:2])


def test_other_dtypes_and_attrs_are_refused(tmp_path, mode):
    name = save(tmp_path / "rows.npy", np.zeros([2, 3], bool))
    with pytest.raises(Invalid, match="bool is not in the list of allowed values"):
        npy_dataset(name)
    library = tf.load_op_library(str(HERE / "libdataset.so"))
    with pytest.raises(Invalid, match="must have one entry each.*got 2 and 1"):
        mode(library.npy_dataset)(
            name, output_types=[tf.int8, tf.int8], output_shapes=[[3]]
        )
    with pytest.raises((Invalid, ValueError), match="must be a scalar|must be rank 0"):
        mode(library.npy_dataset)([name], output_types=[tf.int8], output_shapes=[[3]])
    with pytest.raises(ValueError, match="with rows was expected, got a scalar"):
        row_spec(save(tmp_path / "one.npy", np.float32(1)))
    for dtype in "M8[s]", [("a", "f4")]:
        unknown = save(tmp_path / "unknown.npy", np.zeros(3, dtype))
        with pytest.raises(ValueError, match=f"{unknown}: Cannot convert"):
            row_spec(unknown)
    (tmp_path / "text.npy").write_text("a text of some length")
    with pytest.raises(ValueError, match=f"{tmp_path}/text.npy: .*magic"):
        npy_dataset(str(tmp_path / "text.npy"))


def each_row_is_read_by_one_worker(rows_of_worker, folder) -> None:
    names = []
    for n in range(3):
        names.append(save(folder / f"{n}.npy", np.arange(4) + 10 * n))
    for workers in (1, 2, 3, 4, 7):
        read = [
            int(row)
            for worker in range(workers)
            for row in rows_of_worker(names, row_spec(names[0]), workers, worker)
        ]
        assert sorted(read) == [*range(4), *range(10, 14), *range(20, 24)]


def test_the_solution(tmp_path):
    each_row_is_read_by_one_worker(solution_shard.rows_of_worker, tmp_path)
