"""Tests of sketches: `pytest examples/sketch`."""

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from op_library import load_op_library
from sketch import (
    copied_like_a_device,
    count,
    count_hashes,
    hashes_of,
    sketch,
)
from sketch_reference import (
    count_hashes_reference,
    sketch_hashes_reference,
)
from tensorflow.core.framework import tensor_pb2, tensor_shape_pb2

from opcheck.testing import op_test

HERE = Path(__file__).parent
REGISTERS = load_op_library(
    HERE / "libsolution_sketch_registers.so", "sketch_registers"
).sketch_registers
Invalid = tf.errors.InvalidArgumentError
HASHES = np.random.default_rng(0).integers(0, 2**64, [3, 50], np.uint64)

test_count_hashes_keeps_its_promises = op_test(
    count_hashes, HASHES[:, :4], precision=5, reference=count_hashes_reference
)


def same(one, other) -> None:
    np.testing.assert_array_equal(REGISTERS(one), REGISTERS(other))


@pytest.mark.parametrize("precision", [4, 9, 16])
def test_the_registers_are_those_of_the_reference(mode, precision):
    keys = [b"ann", b"bob", b"", b"\xff\0", b"ann"]
    made = mode(lambda keys: REGISTERS(sketch(keys, precision)))(tf.constant(keys))
    expected = sketch_hashes_reference(hashes_of(keys).numpy(), precision)
    np.testing.assert_array_equal(made, expected, strict=True)


@pytest.mark.parametrize("hash_", [0, 2**64 - 1, 1, 2**52, 2**51])
def test_the_ends_of_the_range(hash_):
    hashes = np.uint64([hash_])
    np.testing.assert_allclose(
        count_hashes(hashes), count_hashes_reference(hashes), rtol=1e-12
    )


def test_order_shape_and_repetition_do_not_matter():
    keys = np.arange(100)
    same(sketch(keys), sketch(keys[::-1].reshape(4, 25)))
    same(sketch(keys), sketch(np.tile(keys, 3).astype(np.int32)))


def test_tensorflow_hashes_bytes_and_hashes_of_numbers():
    hashes = [tf.fingerprint(np.array([1], dtype)) for dtype in ("int32", "int64")]
    assert (hashes[0] != hashes[1]).numpy().any()
    assert hashes_of(np.int32([1])) == hashes_of(np.int64([1]))


def test_the_estimate_is_near():
    many = [0, 1, 100, 10_000, 1_000_000]
    counts = [count(sketch(np.arange(number))) for number in many]
    np.testing.assert_allclose(counts, many, rtol=4 * 1.04 / 64)


def test_the_error_is_the_theorys():
    counts = np.random.default_rng(1).integers(0, 2**64, [300, 5000], np.uint64)
    found = np.array([count_hashes(hashes, precision=8) for hashes in counts])
    error = np.sqrt(np.mean((found / 5000 - 1) ** 2))
    assert 0.8 < error / (1.04 / 16) < 1.2


def test_add_n_merges(mode):
    def merged(first, second):
        return REGISTERS(tf.add_n([sketch(first), sketch(second), sketch([])]))

    first, second = np.arange(50), np.arange(30, 90)
    expected = REGISTERS(sketch(np.arange(90)))
    np.testing.assert_array_equal(mode(merged)(first, second), expected)


def test_zeros_like_is_an_empty_sketch(mode):
    full = sketch([1, 2, 3], precision=6)
    empty = mode(lambda: REGISTERS(tf.zeros_like(full)))()
    np.testing.assert_array_equal(empty, np.zeros(64, np.uint8), strict=True)


@pytest.mark.parametrize(
    "op, places",
    [
        (lambda x: tf.gather(x, [1, 0]), [1, 0]),
        (lambda x: tf.where([True, False], x, x[::-1]), [0, 0]),
        (lambda x: tf.tile(x, [2]), [0, 1, 0, 1]),
        (lambda x: tf.stack(tf.unstack(x) + tf.unstack(x[1:])), [0, 1, 1]),
        (lambda x: tf.reshape(tf.reshape(x, [1, 2]), [2]), [0, 1]),
    ],
)
def test_tensorflow_moves_elements(op, places):
    stack = tf.stack([sketch([1]), sketch([2, 3])])
    for found, place in zip(tf.unstack(op(stack)), places, strict=True):
        same(found, stack[place])


@pytest.mark.parametrize(
    "op, message",
    [
        (lambda x: tf.expand_dims(x, 0), "ExpandDims on Variant not supported"),
        (lambda x: tf.squeeze(x[None]), "Squeeze on Variant not supported"),
        (lambda x: tf.concat([x, x], 0), "Could not find device for node"),
        (lambda x: tf.reverse(x, [0]), "variant is not in the list of allowed values"),
    ],
)
def test_what_tensorflow_has_no_kernel_for(op, message):
    with pytest.raises(tf.errors.OpError, match=message):
        op(tf.stack([sketch([1]), sketch([2])]))


@pytest.mark.parametrize("op", [lambda x: tf.add_n([x, x]), tf.zeros_like])
def test_tensorflow_adds_scalars_only(op):
    with pytest.raises(Invalid, match="non-scalar"):
        op(tf.stack([sketch([1]), sketch([2])]))


def test_a_merge_changes_none_of_the_two():
    first, second = sketch([1, 2, 3]), sketch([4, 5])
    before = REGISTERS(first).numpy(), REGISTERS(second).numpy()
    for _ in range(3):
        tf.add_n([first, second])
    for kept, now in zip(before, (first, second)):
        np.testing.assert_array_equal(kept, REGISTERS(now))


def test_sketches_go_where_tensors_go():
    batches = tf.constant([["a", "b"], ["b", "c"], ["d", "a"]])

    @tf.function
    def loop(batches):
        total, kept = sketch(tf.constant([], tf.string)), []
        kept = tf.TensorArray(tf.variant, size=3, element_shape=[])
        for i in tf.range(3):
            each = sketch(batches[i])
            total, kept = tf.add_n([total, each]), kept.write(i, each)
        return total, kept.stack()

    total, kept = loop(batches)
    same(total, sketch(["a", "b", "c", "d"]))
    np.testing.assert_allclose(count(kept), [2, 2, 2], rtol=0.001)
    rows = tf.data.Dataset.from_tensor_slices(batches)
    reduced = rows.reduce(
        sketch(tf.constant([], tf.string)),
        lambda total, row: tf.add_n([total, sketch(row)]),
    )
    same(reduced, total)
    [batched] = rows.map(sketch).batch(3)
    same(batched[2], sketch(["a", "d"]))


def test_a_variable_a_checkpoint_and_a_saved_model_hold_a_sketch(tmp_path):
    module = tf.Module()
    module.seen = tf.Variable(sketch(["ann", "bob"]))

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def see(keys):
        module.seen.assign(tf.add_n([module.seen, sketch(keys)]))
        return count(module.seen)

    module.see = see
    see(tf.constant(["cid"]))
    path = tf.train.Checkpoint(seen=module.seen).save(tmp_path / "checkpoint")
    restored = tf.Variable(sketch([]))
    tf.train.Checkpoint(seen=restored).restore(path).assert_consumed()
    same(restored, sketch(["ann", "bob", "cid"]))
    tf.saved_model.save(module, tmp_path / "model")
    loaded = tf.saved_model.load(tmp_path / "model")
    assert round(float(loaded.see(tf.constant(["dan", "ann"])))) == 4


def test_a_sketch_is_the_same_after_bytes():
    made = sketch(["ann", "bob"])
    same(tf.io.parse_tensor(tf.io.serialize_tensor(made), tf.variant), made)


def test_a_changed_bit_is_refused_or_makes_another_sketch():
    data = tf.io.serialize_tensor(sketch(["ann", "bob"], precision=4)).numpy()
    refused, counts = 0, []
    for place, bit in np.ndindex(len(data), 8):
        changed = bytearray(data)
        changed[place] ^= 1 << bit
        try:
            counts.append(count(tf.io.parse_tensor(bytes(changed), tf.variant)))
        except tf.errors.InvalidArgumentError:
            refused += 1
    assert refused > 100 and len(counts) > 50
    assert np.max(counts) < 2**70


def bytes_with(*tensors: tf.Tensor, name: bytes = b"op_by_op::Sketch") -> bytes:
    """A variant of any tensors, as `serialize_tensor` would write it."""
    proto = tensor_pb2.TensorProto(
        dtype=tf.variant.as_datatype_enum,
        tensor_shape=tensor_shape_pb2.TensorShapeProto(),
    )
    value = proto.variant_val.add(type_name=name)
    for tensor in tensors:
        value.tensors.add().ParseFromString(tf.io.serialize_tensor(tensor).numpy())
    return proto.SerializeToString()


def test_registers_from_elsewhere_are_read():
    registers = np.random.default_rng(2).integers(0, 50, 256, np.uint8)
    read = tf.io.parse_tensor(bytes_with(registers), tf.variant)
    np.testing.assert_array_equal(REGISTERS(read), registers)
    full = tf.io.parse_tensor(bytes_with(np.full(16, 61, np.uint8)), tf.variant)
    assert count(full) < 2**70


@pytest.mark.parametrize(
    "tensors",
    [
        [],
        [np.zeros(16, np.uint8)] * 2,
        [np.zeros(16, np.int8)],
        [np.zeros(16, np.float32)],
        [np.array([b"a"] * 16, object)],
        [np.zeros([4, 4], np.uint8)],
        [np.zeros([], np.uint8)],
        [np.zeros(0, np.uint8)],
        [np.zeros(8, np.uint8)],
        [np.zeros(17, np.uint8)],
        [np.zeros(2**17, np.uint8)],
        [np.full(16, 62, np.uint8)],
        [np.full(4096, 54, np.uint8)],
    ],
)
def test_what_cannot_be_a_sketch_is_refused(tensors):
    with pytest.raises(Invalid, match="Cannot parse tensor from proto"):
        tf.io.parse_tensor(bytes_with(*tensors), tf.variant)


def test_a_tensor_that_cannot_be_read_is_left_out():
    """`Decode` is called all the same, without it."""
    proto = tensor_pb2.TensorProto.FromString(bytes_with(np.zeros(16, np.uint8)))
    [variant] = proto.variant_val
    variant.tensors[0].tensor_content = b"too short"
    with pytest.raises(Invalid, match="Cannot parse tensor from proto"):
        tf.io.parse_tensor(proto.SerializeToString(), tf.variant)


def test_bytes_of_another_name_are_refused():
    data = bytes_with(np.zeros(16, np.uint8), name=b"op_by_op::Other")
    with pytest.raises(Invalid, match="Cannot parse tensor from proto"):
        tf.io.parse_tensor(data, tf.variant)


@pytest.mark.parametrize("direction", [1, 2, 3])
def test_a_copy_for_a_device_is_another_one(direction):
    assert copied_like_a_device(direction)


@pytest.mark.gpu
@pytest.mark.skipif(
    not tf.config.list_physical_devices("GPU"),
    reason="sees no GPU: GPUS_OF_TESTS=0 shows it one",
)
def test_a_sketch_goes_to_a_gpu_and_back():
    one = sketch(["ann", "bob"])
    with tf.device("GPU:0"):
        there = tf.identity(one)
    assert "GPU" in there.device
    with tf.device("CPU:0"):
        back = tf.identity(there)
    same(back, one)


def another_type():
    shape = tf.constant([], tf.int32)
    return tf.raw_ops.EmptyTensorList(
        element_shape=shape, max_num_elements=-1, element_dtype=tf.float32
    )


REFUSED = [
    (
        lambda: tf.add_n([sketch([1]), sketch([1], precision=5)]),
        "must have the same precision, got a sketch of 4096 registers and .* of 32",
    ),
    (
        lambda: count(another_type()),
        "must hold what SketchHashes makes, got .*tensorflow::TensorList",
    ),
    (
        lambda: REGISTERS(another_type()),
        "must hold what SketchHashes makes, got .*tensorflow::TensorList",
    ),
]


@pytest.mark.parametrize("call, message", REFUSED)
def test_what_is_refused(mode, call, message):
    with pytest.raises(Invalid, match=message):
        mode(call)()


def test_the_shape_function_refuses_what_the_kernel_refuses():
    for precision in 3, 17:
        message = f"precision must be from 4 to 16, got {precision}"
        with pytest.raises(Invalid, match=message):
            sketch([1], precision)
        with pytest.raises(ValueError, match=message):
            tf.function(sketch)([1], precision)
    wrong = tf.stack([sketch([1])] * 2)
    with pytest.raises(Invalid, match="sketch must be a scalar, got shape"):
        REGISTERS(wrong)
    with pytest.raises(ValueError, match="Shape must be rank 0"):
        tf.function(REGISTERS)(wrong)


def test_counts_have_the_shape_of_their_sketches(mode):
    counts = mode(count)(tf.stack([sketch([1, 2]), sketch([])])[:, None])
    assert counts.shape == [2, 1] and counts[1, 0] == 0
    assert count(tf.stack([sketch([])])[:0]).shape == [0]


def test_the_smallest_class():
    library = load_op_library(
        HERE / "libmake_largest.so", "make_largest", "largest_value"
    )
    three, nine = tf.unstack(library.make_largest(value=[3, 9]))
    largest = tf.add_n([three, nine])
    again = tf.io.parse_tensor(tf.io.serialize_tensor(largest), tf.variant)
    assert library.largest_value(largest=[three, again]).numpy().tolist() == [3, 9]
    with pytest.raises(Invalid, match="largest must hold what MakeLargest makes"):
        library.largest_value(largest=sketch([1]))
    with pytest.raises(Invalid, match="sketch must hold what SketchHashes makes"):
        count(three)
