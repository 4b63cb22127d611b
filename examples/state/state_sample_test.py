"""A random sample in checkpoints: `pytest examples/state`."""

import numpy as np
import pytest
import tensorflow as tf
from state_sample import Sample, library

VALUES = np.arange(1000, dtype=np.float32)


def values_of(sample: Sample) -> list[float]:
    return sample.values().numpy().tolist()


def continued(tmp_path, before: Sample, after: Sample) -> Sample:
    path = tf.train.Checkpoint(sample=before).save(tmp_path / "checkpoint")
    tf.train.Checkpoint(sample=after).restore(path).assert_consumed()
    return after


def test_a_smaller_one_goes_on_as_if_it_had_always_been(tmp_path):
    small = Sample(3, seed=3)
    small.add(VALUES)
    large = Sample(5, seed=3)
    large.add(VALUES[:500])
    other = continued(tmp_path, large, Sample(3))
    other.add(VALUES[500:])
    assert values_of(other) == values_of(small)


def test_each_value_is_as_likely_as_any_other():
    found = np.zeros(10)
    for seed in range(1000):
        sample = Sample(3, seed)
        sample.add(VALUES[:4])
        sample.add(VALUES[4:10])
        kept = values_of(sample)
        assert len(set(kept)) == 3
        found[np.int64(kept)] += 1
    assert (abs(found - 300) < 60).all(), "more than four standard deviations"


def test_it_goes_on_as_if_never_interrupted(tmp_path, mode):
    whole, half = Sample(5, seed=3), Sample(5, seed=3)
    mode(lambda x: [whole.add(x)][:0])(tf.constant(VALUES))
    mode(lambda x: [half.add(x)][:0])(tf.constant(VALUES[:500]))
    other = continued(tmp_path, half, Sample(5, seed=8))
    other.add(VALUES[500:])
    assert values_of(other) == values_of(whole)


def test_a_larger_one_is_refused_if_something_is_gone(tmp_path):
    few = Sample(5)
    few.add(VALUES[:5])
    other = continued(tmp_path, few, Sample(7, seed=4))
    whole = Sample(7)
    whole.add(VALUES)
    other.add(VALUES[5:])
    assert values_of(other) == values_of(whole)
    few.add(VALUES[5:6])
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match="a sample of 7 cannot go on from 5 of 6 values",
    ):
        continued(tmp_path, few, Sample(7))


def test_a_saved_model_holds_it(tmp_path):
    module = tf.Module()
    module.sample = Sample(3)
    module.sample.add(VALUES)
    module.read = tf.function(module.sample.values, input_signature=[])
    tf.saved_model.save(module, tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    assert loaded.read().numpy().tolist() == values_of(module.sample)


def test_a_named_sample_has_one_capacity(mode):
    def named(capacity):
        return library.named_sample(capacity=capacity, shared_name=f"named, {mode}")

    library.add_to_sample(named(2), VALUES[:2])
    found = mode(lambda: library.read_sample(named(2)).values)()
    assert {*found.numpy()} == {0, 1}
    match = "capacity must be that of the sample with this name, 2, got 3"
    with pytest.raises(tf.errors.InvalidArgumentError, match=match):
        mode(lambda: library.read_sample(named(3)).values)()
    tf.raw_ops.DestroyResourceOp(resource=named(2))


def test_wrong_shapes_are_refused(mode):
    handle = Sample(3).resource_handle
    good = [handle, tf.zeros(2), tf.zeros(2, tf.int64), *tf.zeros([2], tf.int64)]
    wrong = [
        (0, tf.stack([handle, handle]), "sample must be a scalar|rank 0"),
        (1, tf.zeros([2, 1]), "must be vectors|rank 1"),
        (2, tf.zeros([3], tf.int64), "must be vectors|must be equal"),
        (3, tf.zeros([1], tf.int64), "must be scalars|rank 0"),
        (4, tf.zeros([1], tf.int64), "must be scalars|rank 0"),
    ]
    for i, tensor, message in wrong:
        inputs = [*good]
        inputs[i] = tensor
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=message):
            mode(library.write_sample)(*inputs)
    for function in (library.read_sample, lambda x: library.add_to_sample(x, 1.0)):
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
            mode(function)(tf.stack([handle, handle]))


@pytest.mark.parametrize("seen", [1, -1])
def test_fewer_values_seen_than_kept_are_refused(mode, seen):
    sample = Sample(3)
    sample.add(VALUES[:2])
    handle, kept = sample.resource_handle, library.read_sample(sample.resource_handle)
    match = f"seen must be at least the number of values, 2, got {seen}"
    with pytest.raises(tf.errors.InvalidArgumentError, match=match):
        mode(lambda seen: [library.write_sample(handle, *kept[:2], seen, 0)][:0])(
            tf.constant(seen, tf.int64)
        )
    assert library.read_sample(handle).seen == 2


def test_what_has_been_seen_can_grow(mode):
    sample = Sample(2)

    def write(seen):
        return library.write_sample(sample.resource_handle, [1.0], [1], seen, 0)

    with pytest.raises(
        tf.errors.InvalidArgumentError, match=f"seen must be at most {2**62}, got"
    ):
        mode(lambda seen: [write(seen)][:0])(tf.constant(2**62 + 1, tf.int64))
