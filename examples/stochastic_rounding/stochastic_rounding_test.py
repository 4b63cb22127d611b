"""Tests of StochasticRound: `pytest examples/stochastic_rounding`."""

import hashlib
import re
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from op_library import load_op_library
from stochastic_rounding import stateless_stochastic_round, stochastic_round
from stochastic_rounding_reference import rounded_reference
from stochastic_rounding_stock import (
    hashed_stochastic_round,
    numbers_of,
    stock_stochastic_round,
    stock_stochastic_round_to_half,
)

from opcheck.testing import op_test

HERE = Path(__file__).parent
DITHER = load_op_library(HERE / "libsolution_dither.so", "dither").dither
NOISE = load_op_library(HERE / "libnoise_like.so", "noise_like").noise_like
DTYPES = [tf.float32, tf.float64]
SMALL = pytest.mark.parametrize("small", [tf.bfloat16, tf.half])
SEED = [5, 7]


def seeded_reference(x, seed, dtype=tf.bfloat16):
    """With TensorFlow's own random numbers."""
    if x.dtype not in (np.float32, np.float64) or seed.shape != (2,):
        raise ValueError("no number to round, or no seed")
    numbers = numbers_of(tf.constant(seed), x.shape).numpy()
    return rounded_reference(x, numbers, tf.as_dtype(dtype).as_numpy_dtype)


def exact_reference(x, dtype=tf.bfloat16, **seed):
    """Of numbers that the dtype has: they stay."""
    return x.astype(tf.as_dtype(dtype).as_numpy_dtype)


test_stateless_stochastic_round_keeps_its_promises = op_test(
    stateless_stochastic_round,
    np.random.default_rng(0).standard_normal([4, 9]).astype(np.float32),
    np.int64(SEED),
    reference=seeded_reference,
)
# Chance has no say where there is nothing to round.
test_stochastic_round_keeps_its_promises = op_test(
    stochastic_round,
    np.float32([[1, -0.5, 3, 0], [-0.0, 1.5, 2**-130, -(2.0**100)]]),
    reference=exact_reference,
    seed=5,
)


def edges(small):
    """Numbers around which a conversion goes wrong, and their neighbours."""
    if small == tf.half:
        some = [65504.0, 65520.0, 65536.0, 2.0**-14, 2.0**-24, 1e-8, 1e-12]
    else:
        some = [(2 - 2**-7) * 2.0**127, 2.0**-126, 2.0**-133, 2.0**-149, 1e38]
    some = np.float32(
        [0, 1, 1 + 2**-8, np.finfo(np.float32).max, np.inf, np.nan, *some]
    )
    with np.errstate(over="ignore"):
        some = [
            some,
            np.nextafter(some, np.float32(np.inf)),
            np.nextafter(some, np.float32(0)),
        ]
    some = np.concatenate(some)
    return np.concatenate([some, -some]).repeat(9)


def assert_same(actual, expected):
    """Bit for bit, but for the bits of a NaN."""
    assert actual.dtype == expected.dtype
    with np.errstate(invalid="ignore"):
        actual, expected = actual.astype(np.float32), expected.astype(np.float32)
    np.testing.assert_array_equal(actual, expected, strict=True)
    np.testing.assert_array_equal(*map(np.signbit, (actual, expected)))


@SMALL
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", [np.int32([-7, 3]), np.int64([2**40, -(2**63)])])
def test_equals_the_reference_with_the_numbers_of_tensorflow(mode, small, dtype, seed):
    random = np.random.default_rng(0)
    x = [
        edges(small),
        random.standard_normal(1001) * 2.0 ** random.uniform(-160, 160, 1001),
        random.standard_normal(1001) * 2.0 ** random.uniform(-30, 20, 1001),
    ]
    with np.errstate(over="ignore"):
        x = np.concatenate(x).astype(dtype.as_numpy_dtype)
    rounded = mode(lambda x, s: stateless_stochastic_round(x, s, small))(x, seed)
    with np.errstate(all="ignore"):
        expected = seeded_reference(x, seed, small)
    assert_same(rounded.numpy(), expected)


def test_equals_the_same_made_of_stock_ops(mode):
    x = np.random.default_rng(0).standard_normal([9, 11]).astype(np.float32)
    stock = mode(stock_stochastic_round)(tf.constant(x), SEED)
    assert_same(stateless_stochastic_round(x, SEED).numpy(), stock.numpy())


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("eighths", range(1, 8))
def test_hashes_round_as_often_as_they_should(jit_compile, eighths):
    round = tf.function(hashed_stochastic_round, jit_compile=jit_compile)
    x = tf.fill([300, 1000], np.float32(1 + eighths / 8 * 2**-7))
    above, other = (
        tf.cast(round(x, seed), tf.float32) > 1 for seed in ([5, 7], [5, 8])
    )
    # Of 300,000 independent numbers, the share is off by 0.005 less than once in a million times.
    shares = [tf.reduce_mean(tf.cast(one, tf.float64)) for one in (above, other)]
    np.testing.assert_allclose(shares, eighths / 8, atol=0.005)
    both = tf.reduce_mean(tf.cast(above & other, tf.float64))
    beside = tf.reduce_mean(tf.cast(above[:, 1:] & above[:, :-1], tf.float64))
    np.testing.assert_allclose([both, beside], (eighths / 8) ** 2, atol=0.01)


def test_stock_ops_round_to_half_too(mode):
    random = np.random.default_rng(0)
    x = random.standard_normal(4000) * 2.0 ** random.uniform(-10, 12, 4000)
    x = x[(abs(x) >= 2**-14) & (abs(x) <= 65472)].astype(np.float32)
    stock = mode(stock_stochastic_round_to_half)(tf.constant(x), SEED)
    assert_same(stateless_stochastic_round(x, SEED, tf.half).numpy(), stock.numpy())


def test_hashes_of_each_step_are_no_permutation():
    """Else each step rounds up as often as the first, and the error never averages out."""
    x = tf.fill([4096], np.float32(1 + 0.3 * 2**-7))
    counts = [
        int(tf.math.count_nonzero(hashed_stochastic_round(x, [step, 7]) > 1))
        for step in range(10)
    ]
    assert len(set(counts)) > 5


def test_stock_ops_do_not_keep_nan():
    x = np.uint32([0xFFFFFFFF, 0x7F800001] * 50).view(np.float32)
    assert np.isnan(stateless_stochastic_round(x, SEED).numpy()).all()
    stock = stock_stochastic_round(tf.constant(x), SEED).numpy().astype(np.float32)
    assert 0 in stock and np.inf in stock


def test_the_mean_is_right():
    """If it fails, suspect the op: by Hoeffding's bound, a right one fails with 1 seed of 1,000,000,000.

    It notices a bias of more than about 1 % of a unit.
    """
    count = 100_000
    x = np.float32(1 + np.arange(17) / 16 * 2**-7)  # from 1 to the next bfloat16
    rounded = stateless_stochastic_round(np.tile(x, [count, 1]), SEED)
    assert set(np.unique(rounded).astype(float)) == {1, 1 + 2**-7}
    mean = np.mean(rounded.numpy().astype(float), axis=0)
    np.testing.assert_allclose(mean, x, rtol=0, atol=3.5 / count**0.5 * 2**-7)
    assert mean[0] == x[0] and mean[-1] == x[-1]


@SMALL
def test_a_number_of_the_dtype_stays(small):
    """All of them: -0 and infinities too."""
    x = np.arange(2**16, dtype=np.uint16).view(small.as_numpy_dtype)
    x = np.concatenate([x, x])
    with np.errstate(invalid="ignore"):
        single, double = x.astype(np.float32), x.astype(np.float64)
    assert_same(stochastic_round(single, small, seed=1).numpy(), x)
    assert_same(stateless_stochastic_round(double, SEED, small).numpy(), x)


@SMALL
def test_between_the_largest_number_and_infinity(small):
    largest = 65504.0 if small == tf.half else (2 - 2**-7) * 2.0**127
    step = 2.0**5 if small == tf.half else 2.0**120
    x = np.float32([largest + step / 4, -largest - step * 3 / 4] * 5000)
    rounded = stateless_stochastic_round(x, SEED, small).numpy().astype(float)
    assert set(np.abs(rounded)) == {largest, np.inf}
    share = np.mean(np.isinf(rounded).reshape(-1, 2), axis=0)
    np.testing.assert_allclose(share, [0.25, 0.75], atol=3.5 / 5000**0.5)


@SMALL
def test_tiny_doubles_are_rounded_up_now_and_then(small):
    """As rarely as they should be: the smaller they are, the more of their digits have gone."""
    least = 2.0**-24 if small == tf.half else 2.0**-133
    x = np.repeat(least / np.array([2**11, 2**12, 2**14]), 2**17)
    rounded = stateless_stochastic_round(x, SEED, small).numpy()
    assert_same(rounded, seeded_reference(x, np.array(SEED), small))
    assert np.count_nonzero(rounded.reshape(3, -1), axis=1).min() > 0


def halves(size=4000):
    """Each is in the middle between two neighbours."""
    return tf.fill([size], np.float32(1 + 2**-8))


def bits_of(rounded) -> bytes:
    return tf.convert_to_tensor(rounded).numpy().tobytes()


def test_each_call_goes_on(mode):
    for seed in (None, 3):
        call = mode(lambda x, seed=seed: stochastic_round(x, seed=seed))
        calls = {bits_of(call(halves())) for _ in range(4)}
        assert len(calls) == 4


def test_seeds_repeat_the_sequence(mode):
    def two_calls(global_seed, seed):
        tf.random.set_seed(global_seed)
        call = mode(lambda x: stochastic_round(x, seed=seed))
        return [bits_of(call(halves())) for _ in range(2)]

    for seed in (2, None):
        first, again = (two_calls(1, seed) for _ in range(2))
        assert first == again
    others = [two_calls(*seeds) for seeds in [(1, 2), (1, 3), (2, 2), (1, None)]]
    assert len({call for calls in others for call in calls}) == 8


def test_a_call_takes_one_number_for_each_element():
    """In groups of four: calls of 4 and of 8 elements are those of one of 12."""

    def rounded(*sizes):
        tf.random.set_seed(1)
        parts = [stochastic_round(halves(size), seed=2) for size in sizes]
        return bits_of(tf.concat(parts, 0))

    assert rounded(4, 8) == rounded(12) == rounded(0, 12)
    assert rounded(3, 8) != rounded(11)


def test_the_seeds_are_key_and_counter():
    """Of the numbers that TensorFlow's ops give for the same key and counter."""
    tf.random.set_seed(11)
    rounded = stochastic_round(halves(), seed=22).numpy()
    numbers = tf.raw_ops.StatelessRandomUniformFullIntV2(
        shape=[4000],
        key=tf.constant([11], tf.uint64),
        counter=tf.constant([0, 22], tf.uint64),
        alg=1,
        dtype=tf.uint32,
    )
    small = tf.bfloat16.as_numpy_dtype
    assert_same(rounded, rounded_reference(halves().numpy(), numbers.numpy(), small))


def test_threads_that_share_a_kernel_get_different_numbers():
    from concurrent.futures import ThreadPoolExecutor

    tf.random.set_seed(1)
    with ThreadPoolExecutor(4) as threads:
        calls = threads.map(lambda _: stochastic_round(halves(256), seed=2), range(40))
        together = sorted(bits_of(call) for call in calls)
    tf.random.set_seed(1)
    assert together == sorted(
        bits_of(stochastic_round(halves(256), seed=2)) for _ in range(40)
    )


def digest():
    """Of a result that several threads share."""
    return hashlib.sha256(
        bits_of(stateless_stochastic_round(halves(10**6), SEED))
    ).hexdigest()


def test_the_bits_do_not_depend_on_the_number_of_threads(with_threads):
    assert len({with_threads(threads, digest) for threads in (1, 7)}) == 1


def noise_digest():
    return hashlib.sha256(NOISE(tf.zeros([10**6]), SEED).numpy().tobytes()).hexdigest()


def test_noise_does_not_depend_on_the_number_of_threads(with_threads):
    assert len({with_threads(threads, noise_digest) for threads in (1, 7)}) == 1


def test_noise_is_tensorflows_own(mode):
    for size in (0, 1, 4, 10, 1001):
        noise = mode(NOISE)(tf.zeros([size]), tf.constant(SEED, tf.int64))
        expected = tf.raw_ops.StatelessRandomUniformV2(
            shape=[size], key=np.uint64([5]), counter=np.uint64([0, 7]), alg=1
        )
        np.testing.assert_array_equal(noise, expected)
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match="2"):
        mode(NOISE)([1.0], tf.constant([1, 2, 3], tf.int64))


@SMALL
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_gradient_is_that_of_a_cast(mode, small, dtype):
    x = tf.constant([[0.3, -4.7]], dtype)

    def gradients(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            rounded = (
                stochastic_round(x, small),
                stateless_stochastic_round(x, SEED, small),
            )
            loss = sum(tf.reduce_sum(tf.cast(one, dtype) * [2, 3]) for one in rounded)
        return tape.gradient(loss, x)

    gradient = mode(gradients)(x)
    np.testing.assert_array_equal(
        gradient, np.array([[4, 6]], dtype.as_numpy_dtype), strict=True
    )


def test_a_generator_goes_on_from_a_checkpoint(tmp_path):
    generator = tf.random.Generator.from_seed(1)

    def rounded():
        return bits_of(
            stateless_stochastic_round(halves(), generator.make_seeds()[:, 0])
        )

    rounded()
    path = tf.train.Checkpoint(generator=generator).save(tmp_path / "checkpoint")
    calls = [rounded() for _ in range(2)]
    tf.train.Checkpoint(generator=generator).restore(path).assert_consumed()
    assert [rounded() for _ in range(2)] == calls and calls[0] != calls[1]


REPLICAS = """
import numpy as np
import tensorflow as tf
[processor] = tf.config.list_physical_devices("CPU")
devices = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(processor, devices)
from stochastic_rounding import stateless_stochastic_round

def different(seed_of):
    def round():
        replica = tf.distribute.get_replica_context().replica_id_in_sync_group
        return stateless_stochastic_round(tf.fill([999], 1.004), seed_of(replica))
    values = strategy.run(tf.function(round)).values
    return len({one.numpy().tobytes() for one in values})

strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
print(different(lambda replica: [5, 7]), different(lambda replica: tf.random.fold_in([5, 7], replica)))
"""


def test_replicas_round_alike_but_for_their_number_in_the_seed(in_process):
    assert in_process(REPLICAS).split() == ["1", "2"]


REFUSED = [
    (
        ([1.0], [1, 2, 3]),
        {},
        "seed must have shape .2., got shape .3.|Dimension must be 2 but is 3",
    ),
    (([1.0], 1), {}, r"seed must have shape .2., got shape \[\]|rank 1 but is rank 0"),
    (
        ([1.0], [[1, 2]]),
        {},
        "seed must have shape .2., got shape .1,2.|rank 1 but is rank 2",
    ),
    (([1.0], [1.5, 2]), {}, "Tseed|int32, int64|Expected int"),
    (([1.0], tf.constant([1, 2], tf.uint8)), {}, "Tseed|allowed values|int32, int64"),
    (([1], SEED), {}, "allowed values|float32, float64"),
    (
        ([1.0], SEED),
        dict(dtype=tf.float32),
        "allowed values|bfloat16, float16|bfloat16, half",
    ),
]


@pytest.mark.parametrize("arguments, attrs, message", REFUSED)
def test_what_is_refused(mode, arguments, attrs, message):
    errors = ValueError, TypeError, tf.errors.InvalidArgumentError
    with pytest.raises(errors, match=message):
        mode(lambda: stateless_stochastic_round(*arguments, **attrs))()


def test_what_the_stateful_op_refuses(mode):
    errors = TypeError, tf.errors.InvalidArgumentError
    with pytest.raises(errors, match="allowed values|float32, float64"):
        mode(stochastic_round)(tf.constant([1]))


def test_the_solution_of_the_exercise(mode):
    grey = np.random.default_rng(0).random([7, 9], np.float32)
    dots = mode(DITHER)(grey, SEED)
    numbers = numbers_of(SEED, grey.shape).numpy()
    expected = np.where(numbers / 2**32 < grey, 255, 0).astype(np.uint8)
    np.testing.assert_array_equal(dots, expected, strict=True)
    with pytest.raises(
        (ValueError, tf.errors.InvalidArgumentError), match="seed|must be 2"
    ):
        mode(DITHER)(grey, [1, 2, 3])


# The kernels of the GPU, on the host.


def run(op, *tensors, label=""):
    """What the kernel with this label gives: "" is the CPU's own, "on_host" the GPU's."""

    @tf.function(autograph=False)
    def labelled(*tensors):
        labels = dict.fromkeys(["StochasticRound", "StatelessStochasticRound"], label)
        with tf.compat.v1.get_default_graph()._kernel_label_map(labels):
            return op(*tensors)

    return bits_of(labelled(*map(tf.convert_to_tensor, tensors)))


def one_of_each(x, small):
    """A call of both ops, with fixed seeds."""
    tf.random.set_seed(1)
    return tf.stack(
        [stochastic_round(x, small, seed=2), stateless_stochastic_round(x, SEED, small)]
    )


@pytest.mark.xdist_group("StochasticRound's GPU kernels on the host")
@SMALL
@pytest.mark.parametrize("dtype", DTYPES)
def test_kernels_of_the_gpu_give_the_same_bits(on_host, small, dtype):
    def stateful(x):
        tf.random.set_seed(1)
        return stochastic_round(x, small, seed=2)

    def stateless(x):
        return stateless_stochastic_round(x, SEED, small)

    some = edges(small).astype(dtype.as_numpy_dtype)
    for x in (some, some[:1], some[:0]):
        # One at a time: on the host, launches share blockIdx and threadIdx.
        for op in (stateful, stateless):
            assert run(op, x, label="on_host") == run(op, x)


@pytest.mark.xdist_group("StochasticRound's GPU kernels on the host")
def test_launches(on_host):
    """One for each call, on TensorFlow's stream; what fails is an error."""
    on_host.calls()
    run(stateless_stochastic_round, halves(4097), SEED, label="on_host")
    assert on_host.calls() == [("launch", 5, 256, 0, 4711)]
    on_host.fail_at(1)
    with pytest.raises(tf.errors.InternalError, match="CUDA says: unknown error"):
        run(stateless_stochastic_round, halves(), SEED, label="on_host")


@pytest.mark.xdist_group("StochasticRound's GPU kernels on the host")
@pytest.mark.parametrize(
    "op, read", [("StochasticRound", []), ("StatelessStochasticRound", ["seed"])]
)
def test_what_the_host_reads_stays_in_its_memory(host_memory_args, op, read):
    assert host_memory_args(op) == [read] * len(DTYPES) * 2


@SMALL
@pytest.mark.parametrize("dtype", DTYPES)
def test_gpu_equals_the_cpu(gpu, mode, small, dtype):
    """Bit for bit, all in integers."""
    found = {}
    for device in ("CPU:0", "GPU:0"):
        with tf.device(device):
            x = tf.constant(edges(small), dtype)
            both = mode(lambda x: one_of_each(x, small))(x)
        assert both.device.endswith(device)
        found[device] = both.numpy().tobytes()
    assert found["GPU:0"] == found["CPU:0"]


def test_the_gpu_has_the_kernels_of_the_cpu():
    """In the source; where there is no CUDA compiler, the library lacks them."""
    registered = [
        re.findall(
            r"^REGISTER_STOCHASTIC_ROUND\w*\((.*)\);", (HERE / name).read_text(), re.M
        )
        for name in ("stochastic_rounding.cc", "stochastic_rounding_gpu.cc")
    ]
    assert registered[0] == registered[1] and len(registered[0]) == len(DTYPES) * 2
