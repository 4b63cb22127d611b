"""Tests of IdxReader, and of the Python code that reads TFRecord: `pytest examples/readers`."""

import contextlib
import gzip
import itertools
import os
import threading
from pathlib import Path

import forked
import numpy as np
import pytest
import solution_salvage
import solution_shuffle
import tensorflow as tf
from readers import IdxReader, library, write_idx
from readers_reference import idx_reference
from record_file import RecordFile, masked_crc, offsets_of, records

from opcheck.testing import op_test

v1 = tf.compat.v1
Invalid, Lost = tf.errors.InvalidArgumentError, tf.errors.DataLossError
NUMBER = itertools.count()


def new_reader():
    return library.idx_reader(shared_name=f"reader of a test, {next(NUMBER)}")


def names_of(*names: str) -> tf.queue.FIFOQueue:
    """A queue of the names of files, to which more can be added."""
    queue = tf.queue.FIFOQueue(64, [tf.string], [[]], shared_name=f"{next(NUMBER)}")
    queue.enqueue_many([[*map(str, names)]])
    return queue


def read(reader, queue) -> tuple[str, bytes]:
    """The next record."""
    key, value = tf.raw_ops.ReaderReadV2(
        reader_handle=reader, queue_handle=queue.queue_ref
    )
    return key.numpy().decode(), value.numpy()


def idx_reader(filename):
    """The items of one file, which has some, by a new reader."""
    name = f"op_test, {next(NUMBER)}"
    queue = tf.raw_ops.FIFOQueueV2(component_types=[tf.string], shared_name=name)
    reader = library.idx_reader(shared_name=name)
    enqueued = tf.raw_ops.QueueEnqueueV2(handle=queue, components=[filename])
    with tf.control_dependencies([enqueued] if enqueued is not None else []):
        found = tf.raw_ops.ReaderReadUpToV2(
            reader_handle=reader, queue_handle=queue, num_records=1000
        )
    return tf.io.decode_raw(found.values, tf.uint8)


SAMPLE = Path(__file__).parents[2] / "build" / "readers_test.idx"
SAMPLE.parent.mkdir(exist_ok=True)
NEW = SAMPLE.with_suffix(f".{os.getpid()}")  # other processes may be reading it
write_idx(NEW, np.arange(12, dtype=np.uint8).reshape(3, 2, 2))
NEW.replace(SAMPLE)


def sample_reference(filename) -> np.ndarray:
    items = idx_reference(SAMPLE.read_bytes())
    return np.stack([np.frombuffer(item, np.uint8) for item in items])


test_idx_reader_keeps_its_promises = op_test(
    idx_reader, str(SAMPLE).encode(), reference=sample_reference
)


@pytest.mark.parametrize("dtype", ["u1", "i1", "i2", "i4", "f4", "f8"])
@pytest.mark.parametrize("shape", [[], [3], [2, 1, 4]])
def test_items_equal_the_reference(tmp_path, dtype, shape):
    items = np.random.default_rng(0).integers(0, 99, [7, *shape]).astype(dtype)
    path = tmp_path / "items.idx"
    write_idx(path, items)
    queue, reader = names_of(path), new_reader()
    read_items = [read(reader, queue) for _ in range(7)]
    assert [key for key, _ in read_items] == [f"{path}:{n}" for n in range(7)]
    values = [value for _, value in read_items]
    assert values == idx_reference(path.read_bytes())
    again = np.frombuffer(b"".join(values), items.dtype.newbyteorder(">"))
    np.testing.assert_array_equal(again.reshape(items.shape), items)


def test_items_larger_than_the_buffer(tmp_path):
    items = np.random.default_rng(0).integers(0, 256, [3, 600, 700], np.uint8)
    write_idx(tmp_path / "large.idx", items)
    queue, reader = names_of(tmp_path / "large.idx"), new_reader()
    for item in items:
        assert read(reader, queue)[1] == item.tobytes()


@pytest.fixture
def files(tmp_path) -> list[str]:
    """Three files, of which the second has no items, the others five."""
    names = []
    for n, count in enumerate([5, 0, 5]):
        names.append(str(tmp_path / f"{n}.idx"))
        write_idx(names[n], np.full([count, 2], 10 * n, np.uint8))
    return names


KEYS = [f"{n}.idx:{i}" for n in (0, 2) for i in range(5)]


def base_names(keys) -> list[str]:
    return [Path(os.fsdecode(key)).name for key in keys]


@pytest.mark.parametrize("place", range(11))
def test_a_new_reader_goes_on_where_the_old_one_was(files, place):
    queue, old, new = names_of(*files), new_reader(), new_reader()
    before = [read(old, queue)[0] for _ in range(place)]
    state = tf.raw_ops.ReaderSerializeStateV2(reader_handle=old)
    tf.raw_ops.ReaderRestoreStateV2(reader_handle=new, state=state)
    after = [read(new, queue)[0] for _ in range(10 - place)]
    assert base_names(before + after) == KEYS
    assert tf.raw_ops.ReaderNumRecordsProducedV2(reader_handle=new) == 10


@pytest.mark.parametrize("reader", ["TextLineReaderV2", "TFRecordReaderV2"])
def test_readers_of_lines_and_records_cannot_save_their_place(reader):
    handle = getattr(tf.raw_ops, reader)(shared_name=f"unsaved {reader}")
    with pytest.raises(tf.errors.UnimplementedError):
        tf.raw_ops.ReaderSerializeStateV2(reader_handle=handle)


def test_a_state_that_does_not_fit_is_refused(files):
    queue, old, new = names_of(*files), new_reader(), new_reader()
    for state in (b"", b"abc", b"1:\xff\xff", b"9" * 30 + b":"):
        with pytest.raises(Invalid, match="state was not written by an IdxReader"):
            tf.raw_ops.ReaderRestoreStateV2(reader_handle=new, state=state)
    read(old, queue)
    state = tf.raw_ops.ReaderSerializeStateV2(reader_handle=old).numpy()
    begun, ended, produced = b"\x08", b"\x10", b"\x18"  # fields of the base class
    minus_one, most = b"\xff" * 9 + b"\x01", b"\xff" * 8 + b"\x7f"
    for wrong in (produced + minus_one, ended + minus_one, ended + most, begun + most):
        with pytest.raises(Invalid, match="state was not written by an IdxReader"):
            tf.raw_ops.ReaderRestoreStateV2(reader_handle=new, state=state + wrong)
    for item in (b"6", b"-1"):
        wrong = item + state[1:]
        with pytest.raises(tf.errors.FailedPreconditionError, match="at item .* of 5"):
            tf.raw_ops.ReaderRestoreStateV2(reader_handle=new, state=wrong)
    os.remove(files[0])
    with pytest.raises(tf.errors.NotFoundError, match="0.idx"):
        tf.raw_ops.ReaderRestoreStateV2(reader_handle=new, state=state)
    queue.enqueue(files[2])
    assert base_names([read(new, queue)[0]]) == ["2.idx:0"], "it was reset"


def test_the_base_class_refuses_its_own_state_within_a_file(files):
    """So RestoreStateLocked ignores the error of RestoreBaseState."""
    queue, reader = names_of(*files), new_reader()
    read(reader, queue)
    state = tf.raw_ops.ReaderSerializeStateV2(reader_handle=reader).numpy()
    stock = tf.raw_ops.IdentityReaderV2(shared_name="stock")
    with pytest.raises(Invalid, match="Inconsistent work started"):
        tf.raw_ops.ReaderRestoreStateV2(
            reader_handle=stock, state=state.partition(b":")[2]
        )


def is_open(file: str) -> bool:
    """Whether this process has a descriptor of the file."""
    found = set()
    for descriptor in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # it is closed by now
            found.add(os.readlink(f"/proc/self/fd/{descriptor}"))
    return file in found


def test_reset_closes_and_forgets_the_file(files):
    queue, reader = names_of(files[0], files[2]), new_reader()
    assert base_names([read(reader, queue)[0]]) == ["0.idx:0"]
    assert is_open(files[0])
    tf.raw_ops.ReaderResetV2(reader_handle=reader)
    assert not is_open(files[0])
    assert tf.raw_ops.ReaderNumRecordsProducedV2(reader_handle=reader) == 0
    assert base_names([read(reader, queue)[0]]) == ["2.idx:0"]


def test_readers_of_one_name_are_one(files):
    queue = names_of(*files)
    first, second = (library.idx_reader(shared_name="shared") for _ in range(2))
    keys = [read(reader, queue)[0] for reader in (first, second, first)]
    assert base_names(keys) == KEYS[:3]


def test_a_destroyed_reader_is_made_again(files):
    queue = names_of(*files)
    for key in ("0.idx:0", "2.idx:0"):
        reader = library.idx_reader(shared_name="destroyed")
        assert base_names([read(reader, queue)[0]]) == [key]
        tf.raw_ops.DestroyResourceOp(resource=reader)
        with pytest.raises(tf.errors.NotFoundError, match="destroyed.*does not exist"):
            read(reader, queue)


def test_two_threads_read_each_item_once(files):
    queue, reader = names_of(*files * 20), new_reader()
    found = [[], []]

    def run(keys):
        for _ in range(100):
            keys.append(read(reader, queue)[0])

    threads = [threading.Thread(target=run, args=[keys]) for keys in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(base_names(found[0] + found[1])) == sorted(KEYS * 20)


GOOD = bytes([0, 0, 8, 2, 0, 0, 0, 3, 0, 0, 0, 4]) + bytes(range(12))
BROKEN = {
    "empty": (b"", Invalid, "an IDX file was expected"),
    "short": (GOOD[:3], Invalid, "an IDX file was expected"),
    "other": (b"PK" + GOOD[2:], Invalid, r"got .*PK"),
    "packed": (gzip.compress(GOOD), Invalid, "gzip, unpack it first"),
    "type 10": (GOOD[:2] + b"\x0a" + GOOD[3:], Invalid, "a type from 8 to 14"),
    "type 255": (GOOD[:2] + b"\xff" + GOOD[3:], Invalid, "a type from 8 to 14"),
    "scalar": (GOOD[:3] + b"\0" + GOOD[4:], Invalid, "a number of dimensions"),
    "header": (GOOD[:11], Lost, "ends in its header"),
    "cut": (GOOD[:-1], Lost, "3 items of 4 bytes, but 11 bytes follow"),
    "long": (GOOD + b"x", Lost, "3 items of 4 bytes, but 13 bytes follow"),
    "no size": (GOOD[:11] + b"\0", Invalid, "size 1 in its header is 0"),
    "huge": (b"\0\0\x0e\x04" + b"\xff" * 16 + GOOD, Invalid, "size 2 in its header"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_is_refused_by_name_and_the_next_one_is_read(
    tmp_path, files, kind
):
    content, error, message = BROKEN[kind]
    path = tmp_path / "broken.idx"
    path.write_bytes(content)
    queue, reader = names_of(path, files[0]), new_reader()
    with pytest.raises(error, match=f"filename {path}: .*{message}"):
        read(reader, queue)
    assert base_names([read(reader, queue)[0]]) == ["0.idx:0"]


def test_what_the_system_says_of_a_file_is_the_error(tmp_path):
    queue, reader = names_of(tmp_path), new_reader()
    with pytest.raises(tf.errors.FailedPreconditionError, match="Is a directory"):
        read(reader, queue)


def test_changed_bytes_give_the_items_of_the_reference_or_an_error(tmp_path):
    random = np.random.default_rng(0)
    path = tmp_path / "x.idx"
    good = bad = 0
    for _ in range(150):
        changed = bytearray(GOOD[: len(GOOD) - int(random.choice([0, 0, 0, 1, 9]))])
        for _ in range(random.integers(3)):
            at = random.integers(len(changed))
            changed[at] = random.choice([0, 1, 2, 8, 9, 12, random.integers(256)])
        path.write_bytes(changed)
        queue, reader = names_of(path, tmp_path / "none"), new_reader()
        got = []
        try:
            expected = idx_reference(bytes(changed))
        except (ValueError, IndexError):
            expected = None
        try:
            for _ in range(20):
                got.append(read(reader, queue)[1])
        except tf.errors.NotFoundError:  # the next file
            assert got == expected
            good += 1
        except (Invalid, Lost):
            assert expected is None
            bad += 1
    assert good > 20 and bad > 20


def test_a_file_cut_while_it_is_read_is_no_end(tmp_path):
    """The queues take OutOfRangeError for the end of the data."""
    path = tmp_path / "items.idx"
    write_idx(path, np.zeros([10, 1 << 17], np.uint8))
    queue, reader = names_of(path), new_reader()
    read(reader, queue)
    os.truncate(path, 1 << 18)
    with pytest.raises(Lost, match=f"filename {path}: has been cut .*in item 1"):
        for _ in range(3):
            read(reader, queue)


def all_keys(session_graph, batch) -> list[str]:
    """What a pipeline gives until its data end."""
    found = []
    with v1.Session(graph=session_graph) as session:
        session.run(v1.local_variables_initializer())
        coordinator = v1.train.Coordinator()
        threads = v1.train.start_queue_runners(session, coordinator)
        try:
            while True:
                found += session.run(batch).tolist()
        except tf.errors.OutOfRangeError:
            coordinator.request_stop()
        coordinator.join(threads)
    return base_names(found)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_pipeline_of_queues_gives_each_item_once_in_each_epoch(files, threads):
    with tf.Graph().as_default() as graph:
        names = v1.train.string_input_producer(files, num_epochs=2)
        key, value = IdxReader().read(names)
        batch = v1.train.shuffle_batch([key, value], 4, 20, 8, num_threads=threads)
        assert sorted(all_keys(graph, batch[0])) == sorted(KEYS * 2)


def test_the_class_is_for_graphs():
    with pytest.raises(RuntimeError, match="Readers are not supported when eager"):
        IdxReader()


@pytest.mark.parametrize(
    "items", [np.zeros([2, 3], np.int64), np.float32(1), np.zeros([2, 0], np.int8)]
)
def test_what_the_format_cannot_hold_is_refused(tmp_path, items):
    with pytest.raises(ValueError, match="IDX has no "):
        write_idx(tmp_path / "x.idx", np.asarray(items))


@pytest.mark.parametrize("name", ["string", "slice", "range"])
@pytest.mark.parametrize("shuffle", [None, False])
def test_producers_shuffle_and_never_end_unless_told(name, shuffle):
    numbers = list(range(20))
    given = {"string": [*map(str, numbers)], "slice": [numbers], "range": 20}[name]
    settings = {} if shuffle is None else {"shuffle": shuffle}
    with tf.Graph().as_default():
        producer = getattr(v1.train, f"{name}_input_producer")(given, **settings)
        value = producer[0] if name == "slice" else producer.dequeue()
        with v1.train.MonitoredSession() as session:
            found = [int(session.run(value)) for _ in range(60)]
    epochs = [found[begin : begin + 20] for begin in (0, 20, 40)]
    assert [sorted(epoch) for epoch in epochs] == [numbers] * 3
    assert (epochs == [numbers] * 3) == (shuffle is False)


# TFRecord.
PAYLOADS = [b"one", b"seven", b"", b"four"]


@pytest.fixture
def record_path(tmp_path) -> Path:
    path = tmp_path / "some.tfrecord"
    with tf.io.TFRecordWriter(str(path)) as writer:
        for payload in PAYLOADS:
            writer.write(payload)
    return path


def test_the_check_sum_is_that_of_the_standard():
    """RFC 3720 gives 0x8a9136aa for 32 zeros."""
    crc = 0x8A9136AA
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    assert masked_crc(bytes(32)) == masked


def test_bytes_with_their_plain_checksum_all_have_the_same_one():
    """Why the sum is masked."""

    def plain(data: bytes) -> int:
        rotated = (masked_crc(data) - 0xA282EAD8) & 0xFFFFFFFF
        return (rotated << 15 | rotated >> 17) & 0xFFFFFFFF

    def of_both(data: bytes) -> int:
        return plain(data + plain(data).to_bytes(4, "little"))

    assert of_both(b"") == of_both(b"a record") == of_both(bytes(range(256)))


def python_and_tensorflow(path) -> list[tuple[list[bytes], bool]]:
    """What both read of a file, and whether there was an error."""
    found = [], []
    failed = []
    try:
        with open(path, "rb") as file:
            found[0].extend(records(file))
        failed.append(False)
    except ValueError as error:
        assert str(path) in str(error)
        failed.append(True)
    try:
        for record in tf.data.TFRecordDataset(str(path)):
            found[1].append(record.numpy())
        failed.append(False)
    except Lost:
        failed.append(True)
    return list(zip(found, failed))


def test_python_reads_what_tensorflow_does(record_path):
    assert python_and_tensorflow(record_path) == [(PAYLOADS, False)] * 2


def test_every_changed_byte_is_found(record_path):
    content = record_path.read_bytes()
    begins = np.cumsum([0] + [16 + len(payload) for payload in PAYLOADS])
    for at in range(len(content)):
        changed = bytearray(content)
        changed[at] ^= 1 << at % 8
        record_path.write_bytes(changed)
        number = np.searchsorted(begins, at, "right") - 1
        expected = [(PAYLOADS[:number], True)] * 2
        assert python_and_tensorflow(record_path) == expected, at


def test_every_cut_is_found_but_tensorflow_takes_some_for_the_end(record_path):
    content = record_path.read_bytes()
    begins = np.cumsum([0] + [16 + len(payload) for payload in PAYLOADS])
    for length in range(len(content)):
        record_path.write_bytes(content[:length])
        number = np.searchsorted(begins, length, "right") - 1
        over = length - begins[number]
        expected = [(PAYLOADS[:number], over > 0), (PAYLOADS[:number], over >= 12)]
        assert python_and_tensorflow(record_path) == expected, length


def forged(length: int) -> bytes:
    """A record with a length that is impossible, although its checksum is right."""
    written = length.to_bytes(8, "little")
    return written + masked_crc(written).to_bytes(4, "little") + b"payload"


@pytest.mark.parametrize("opened", [open, gzip.open])
@pytest.mark.parametrize("length", [2**62, 2**63, 2**64 - 1])
def test_a_forged_length_is_refused(tmp_path, opened, length):
    path = tmp_path / "forged.tfrecord"
    with opened(path, "wb") as file:
        file.write(forged(length))
    with opened(path, "rb") as file:
        with pytest.raises(ValueError, match=f"byte 0: no memory for its {length} "):
            list(records(file))


def test_a_cut_gzip_file_is_an_error(tmp_path):
    path = tmp_path / "cut.tfrecord.gz"
    path.write_bytes(gzip.compress(forged(7))[:-1])
    with gzip.open(path, "rb") as file, pytest.raises(EOFError):
        list(records(file))


@pytest.mark.parametrize("length", [2**47, 2**62])
def test_a_forged_length_ends_tensorflows_process(tmp_path, length):
    path = tmp_path / "forged.tfrecord"
    path.write_bytes(forged(length))
    with path.open("rb") as file, pytest.raises(ValueError, match="the file ends"):
        offsets_of(file)
    code = "import sys, tensorflow as tf; list(tf.data.TFRecordDataset(sys.argv[1]))"
    assert forked.run(code, path).returncode < 0


def test_records_by_number(record_path):
    with record_path.open("rb") as file:
        offsets = offsets_of(file)
        some = RecordFile(file, offsets)
        assert [some[n] for n in (3, 0, 2, 1)] == [PAYLOADS[n] for n in (3, 0, 2, 1)]
        assert len(some) == len(PAYLOADS)
        for number in (4, -1):
            with pytest.raises(IndexError, match=f"has 4 records, no {number}"):
                some[number]


def test_reading_by_number_moves_no_position(record_path):
    """So that threads can read at the same time."""
    with record_path.open("rb") as file:
        some = RecordFile(file, offsets_of(file))
        file.seek(1)
        assert some[3] == PAYLOADS[3] and file.tell() == 1
        numbers = tf.data.Dataset.range(400).map(
            lambda n: tf.numpy_function(some.__getitem__, [n % 4], tf.string),
            num_parallel_calls=8,
        )
        assert list(numbers.as_numpy_iterator()) == PAYLOADS * 100


def test_a_record_may_come_in_parts(record_path, monkeypatch):
    """As one of 2 GiB does."""
    read = os.pread
    monkeypatch.setattr(os, "pread", lambda file, n, at: read(file, min(n, 7), at))
    with record_path.open("rb") as file:
        assert list(RecordFile(file, offsets_of(file))) == PAYLOADS


def test_the_error_of_a_record_names_its_place_in_the_file(record_path):
    with record_path.open("rb") as file:
        offsets = offsets_of(file)
    content = record_path.read_bytes()
    record_path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with record_path.open("rb") as file:
        message = f"record at byte {offsets[3]}: its payload is damaged"
        with pytest.raises(ValueError, match=message):
            RecordFile(file, offsets)[3]


def test_an_index_and_a_damaged_file(record_path):
    with record_path.open("rb") as file:
        offsets = offsets_of(file)
    content = record_path.read_bytes()
    begin = int(offsets[2])
    changed = content[:begin] + b"x" + content[begin + 1 :]
    for damaged, at, message in [
        (content[:-1], offsets[3], "the file ends before the record does"),
        (content[: begin + 5], begin, "the file ends in its header"),
        (content[: begin + 14], begin, "the file ends before the record does"),
        (changed, begin, "its length is damaged"),
    ]:
        record_path.write_bytes(damaged)
        with record_path.open("rb") as file:
            with pytest.raises(ValueError, match=f"record at byte {at}: {message}$"):
                offsets_of(file)
    record_path.write_bytes(content[:begin])  # between two records
    with record_path.open("rb") as file:
        with pytest.raises(ValueError, match=f"the file ends before byte {begin}"):
            list(RecordFile(file, offsets))


def all_but_the_damaged_are_saved(salvage, folder) -> None:
    """Takes a record of three apart, at each of its bytes."""
    path = folder / "three.tfrecord"
    written = [b"first", b"second", b"third"]
    with tf.io.TFRecordWriter(str(path)) as writer:
        for payload in written:
            writer.write(payload)
    content = path.read_bytes()
    assert list(salvage(content)) == written
    begin, end = 16 + 5, 2 * 16 + 5 + 6  # of the second record
    for at in range(begin, end):
        changed = bytes([content[at] ^ 4])
        for instead in (changed, b"", changed + b"more"):
            damaged = content[:at] + instead + content[at + 1 :]
            assert list(salvage(damaged)) == [b"first", b"third"]
    assert list(salvage(content[:-3])) == [b"first", b"second"]


def test_salvage_takes_what_looks_like_a_record_for_one(record_path):
    """Of a damaged record that holds a TFRecord file, it yields the records of that file."""
    content = record_path.read_bytes()
    with tf.io.TFRecordWriter(str(record_path)) as writer:
        writer.write(content)
    outer = record_path.read_bytes()
    assert list(solution_salvage.salvage(outer)) == [content]
    damaged = outer[:-1] + bytes([outer[-1] ^ 1])
    assert list(solution_salvage.salvage(damaged)) == PAYLOADS


def test_the_solution_on_records(tmp_path):
    all_but_the_damaged_are_saved(solution_salvage.salvage, tmp_path)


def test_the_solution_on_queues():
    for capacity in (1, 5, 100):
        values = list(solution_shuffle.shuffled(range(40), capacity, seed=1))
        assert sorted(values) == list(range(40))
        early = max(value - place for place, value in enumerate(values))
        assert early < capacity and (values == sorted(values)) == (capacity == 1)
