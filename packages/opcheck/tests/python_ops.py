"""Ops made of Python, most of them with one fault, and samples for them."""

import os
import signal
import time

import numpy as np
import tensorflow as tf

import opcheck
from opcheck.inputs.memory import filled_memory


def normal(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def strings(*values):
    return np.array(values, object)


def result(check, op, *inputs, fast=True, **options) -> opcheck.Result:
    """What one check finds; soon, where a first look is enough."""
    return opcheck.check(op, *inputs, checks=check, fast=fast, **options)[check]


def printed(text: str, capsys) -> str:
    """What Python prints here. It may fill new memory, but not for the tests that follow."""
    with filled_memory(255):
        exec(text, {})
    return capsys.readouterr().out


def adds_one(x):
    return x + 1


@tf.function
def adds_one_by_autograph(x):
    return x + 1


def adds_two(x):
    return x + 2


def adds_and_subtracts(x):
    return x + x - x


def root_of_magnitude(x):
    return tf.sqrt(tf.abs(x))


def fours(x, rows):
    if rows < 0:
        raise ValueError("rows must not be negative")
    if rows > 1 << 16:
        words = f"Encountered overflow when multiplying 4 with {rows}, result: -4"
        raise tf.errors.InvalidArgumentError(None, None, words)
    return tf.fill([rows, 4], tf.reduce_sum(x))


adds_one_as_a_graph = tf.function(adds_one)


def _that_adds(n):
    def adds(x):
        return x + n

    return adds


adds_three = _that_adds(3)


def adds_some(x, others):
    return tf.add_n([x, *others])


def adds_threads(x):
    return x + tf.config.threading.get_intra_op_parallelism_threads()


@tf.custom_gradient
def sums_parts_in_its_gradient(x, scale):
    """Each thread stores its part of the gradient of the scale; small ones are computed by one thread."""
    threads = tf.config.threading.get_intra_op_parallelism_threads()

    def grad(dy):
        parts = threads if tf.size(x) > 1 << 12 else 1
        return dy * scale, tf.reduce_sum(dy * x) / tf.cast(parts, x.dtype)

    return x * scale, grad


def dies(x):
    os.kill(os.getpid(), signal.SIGSEGV)
    return x


def dies_of_scalars(x):
    if x.shape.rank == 0:
        os.abort()
    return tf.identity(x)


def dies_of_one_column(x):
    if x.shape[-1] == 1:
        os.abort()
    return tf.identity(x)


def dies_of_negatives(x, index=0):
    if tf.executing_eagerly() and tf.reduce_any(x < 0) and index > 3:
        os.abort()
    return tf.identity(x)


_CALLS = []


def dies_in_company(x):
    """Of two calls at once."""
    if tf.executing_eagerly():
        _CALLS.append(x)
        if len(_CALLS) > 1:
            os.abort()
        time.sleep(0.01)
        _CALLS.pop()
    return tf.identity(x)


def sleeps_on_high_ranks(x):
    if x.shape.rank >= 5:
        time.sleep(1000)
    return tf.identity(x)


def dies_of_rank_5_after_2(x):
    """In a process that has called it with rank 2."""
    if tf.executing_eagerly():
        if x.shape.rank == 5 and 2 in _CALLS:
            os.abort()
        _CALLS.append(x.shape.rank)
    return tf.identity(x)


def breaks_memory(x, calls=12):
    """So many calls later it shows."""
    if tf.executing_eagerly():
        _CALLS.append(x)
        if len(_CALLS) == calls:
            os.write(2, b"free(): invalid pointer\n")
            os.abort()
    return tf.identity(x)


def breaks_memory_soon(x):
    return breaks_memory(x, 3)


def is_worn_out(x):
    """After twenty calls."""
    _CALLS.append(x.shape.rank)
    return tf.identity(x) + float(len(_CALLS) > 20)


def takes_its_time(x):
    time.sleep(int(x) / (1 << 26))
    return tf.identity(x)


def hangs_always(x):
    if tf.executing_eagerly():
        time.sleep(1000)
    return tf.identity(x)


def waits_for_ever_if_large(x):
    if tf.executing_eagerly() and tf.size(x) > 4:
        time.sleep(1000)
    return tf.identity(x)


def waits_from_the_tenth_call(x):
    _CALLS.append(x)
    if len(_CALLS) > 9:
        time.sleep(1000)
    return tf.identity(x)


def computes_forever(x):
    while tf.executing_eagerly():
        pass
    return tf.identity(x)


def fills_memory(x):
    """It fills 300 MiB, in two seconds and more."""
    blocks = []
    for number in range(24 if tf.executing_eagerly() else 0):
        blocks.append(np.full((25 << 20) // 2, number, np.uint8))
        time.sleep(0.09)
    return tf.identity(x)


def gives_much(x):
    """So much that it cannot be told to another process within 400 MiB."""
    return tf.fill([36 << 20 if x.shape.rank == 5 else 1], 1.0)


def dies_of_too_much(x):
    if x.shape.rank == 5 and tf.executing_eagerly():
        os.write(
            2, b"terminate called after throwing an instance of 'std::bad_alloc'\n"
        )
        os.abort()
    return tf.identity(x)


def fills_memory_and_dies(x):
    if x.shape.rank == 5 and tf.executing_eagerly():
        fills_memory(x)
    return dies_of_too_much(x)


def sleeps_a_second(x):
    if tf.executing_eagerly():
        time.sleep(1)
    return tf.identity(x)


def dies_without_tensors(x, others):
    if not others:
        os.abort()
    return tf.add_n([x, *others])


def dies_of_scalars_in_graphs(x):
    if x.shape.rank == 0 and not tf.executing_eagerly():
        os.abort()
    return tf.identity(x)


def filled(x, size):
    return tf.fill([size], x)


def transposed(x):
    y = tf.transpose(x)
    rows, columns = x.shape if x.shape.rank == 2 else (None, None)
    if columns is None and rows is not None:
        y.set_shape([rows, rows])
    return y


def is_odd_for_unknown_ranks(x, others, k=1):
    return x + k if x.shape.rank is None else tf.identity(x)


def halved(x):
    """Errors name num_split, which is no argument of this function."""
    return tf.raw_ops.Split(axis=0, value=x, num_split=2)


def counted(ids, add=True):
    """How often each of four ids comes."""
    change = tf.tensor_scatter_nd_add if add else tf.tensor_scatter_nd_update
    return change(tf.zeros([4], tf.int32), ids[:, tf.newaxis], tf.ones_like(ids))


def counted_once(ids):
    """The second of two equal ids overwrites the first."""
    return counted(ids, add=False)


def ramp(x, size, last=lambda size: tf.maximum(size - 1, 1)):
    """Numbers from 0 to x."""
    steps = tf.range(tf.cast(size, tf.float32))
    return x * steps / tf.cast(last(size), tf.float32)


def ramp_without_steps(x, size):
    """0 / 0 for the size 1."""
    return ramp(x, size, lambda size: size - 1)


def scattered(x, seed):
    """Noise that depends on the seed alone."""

    def run(values):
        noise = np.random.default_rng(seed).normal(size=values.shape)
        return values + noise.astype(values.dtype)

    y = tf.numpy_function(run, [x], x.dtype, stateful=False)
    return tf.ensure_shape(y, x.shape)


def scattered_anew(x, seed):
    """The seed 0 stands for another one in each call."""
    return scattered(x, seed or None)


def in_turns(parts):
    return tf.reshape(tf.stack(parts, 1), [-1])


def in_turns_of_two(parts):
    """It takes it that there are two."""
    first, second = in_turns([parts[0], parts[-1]]), parts[1:-1]
    return tf.concat([first, *second], 0)


def lengths(splits, checks=True):
    def run(values):
        falls = (np.diff(values.reshape(-1)) < 0).any()
        ends = values[[0, -1]].tolist() if values.ndim == 1 and values.size else []
        if ends != [0, 6] or (checks and falls):
            raise ValueError("splits must go from 0 to 6")
        if falls:
            os.abort()
        return np.diff(values)

    return tf.numpy_function(run, [splits], splits.dtype, stateful=False)


def lengths_by_the_ends(splits):
    return lengths(splits, checks=False)


def adds_in_some_order(x):
    """Of large vectors, every second call adds the last element first."""

    def run(values):
        _CALLS.append(values.size)
        other = values.size > 1 << 10 and len(_CALLS) % 2
        return np.add.accumulate(values[:: -1 if other else 1])[-1]

    return tf.numpy_function(run, [x], x.dtype, stateful=False)


def divided_by_the_first_size(x):
    """As if a kernel had kept it: the eager one has met four elements, that of a graph is new."""
    return x / (4 if tf.executing_eagerly() else tf.cast(tf.size(x), x.dtype))


def hour_of(seconds, local):
    def run(values):
        to_time = time.localtime if local else time.gmtime
        return np.array([to_time(x).tm_hour for x in values.tolist()], np.int32)

    return tf.numpy_function(run, [seconds], tf.int32, stateful=False)


def stacked_with_double(x, axis=0, summed=None):
    @tf.custom_gradient
    def op(x):
        def grad(dy):
            along = axis if summed is None else summed
            return tf.gather(dy, 0, axis=along) + 2 * tf.gather(dy, 1, axis=along)

        return tf.raw_ops.Pack(values=[x, 2 * x], axis=axis), grad

    return op(x)


def refuses_negatives(x, keep=lambda x: None):
    if tf.executing_eagerly() and tf.reduce_any(x < 0):
        _CALLS.append(keep(x))
        raise tf.errors.InvalidArgumentError(None, None, "x must not be negative")
    return tf.identity(x)


def counts_windows(x, length, whole=tf.math.floordiv):
    """How many windows of a length fit, one each four elements; with the division of C++, one where none fits."""
    if not 0 < length < 1 << 15:
        raise tf.errors.InvalidArgumentError(None, None, "length is not so long")
    return tf.maximum(whole(tf.size(x) - length, 4) + 1, 0)


def counts_windows_as_cpp(x, length):
    return counts_windows(x, length, tf.truncatediv)


def turned(x, axis):
    return tf.reverse(x, [axis])


def turned_at_the_end(x, axis):
    """If the axis is negative."""
    return tf.reverse(x, [axis if axis >= 0 else -1])


def scaled(x, scale):
    """A scale of fewer elements begins again at its end."""
    size = tf.maximum(tf.size(scale), 1)
    places = tf.reshape(tf.range(tf.size(x)) % size, tf.shape(x))
    return x * tf.gather(tf.reshape(scale, [-1]), places)


def pair_number(a, b, size, dtype=tf.int64):
    bound = tf.cast(size, a.dtype)
    if tf.executing_eagerly() and tf.reduce_any((b < 0) | (b >= bound)):
        raise tf.errors.InvalidArgumentError(None, None, f"b is not below size {size}")
    return tf.cast(
        tf.cast(a, dtype) * tf.cast(size, dtype) + tf.cast(b, dtype), tf.int64
    )


def pair_number_in_int32(a, b, size):
    return pair_number(a, b, size, tf.int32)


def no_rows(x, columns):
    if columns < 0:
        raise tf.errors.InvalidArgumentError(None, None, "columns is negative")
    return tf.zeros(tf.constant([0, columns], tf.int64))


def takes_columns(x, count, told="x has {} columns, but {} are wanted"):
    columns = x.shape[-1] or 0
    if tf.executing_eagerly() and count > columns:
        message = told.format(columns, count)
        raise tf.errors.InvalidArgumentError(None, None, message)
    return x[..., : max(count, 0)]


def takes_columns_or_not(x, count):
    return takes_columns(x, count, "x has {} columns, too few")


def opens_a_file_and_refuses(x):
    return refuses_negatives(x, lambda x: open(os.devnull))


def copies_and_refuses(x):
    return refuses_negatives(x, lambda x: np.array(x))


def first_bytes(path, stateful=True):
    """Of a file."""

    def run(name):
        with open(np.asarray(name).item(), "rb") as file:
            return file.read(8)

    y = tf.numpy_function(run, [path], tf.string, stateful=stateful)
    return tf.ensure_shape(y, path.shape)


def first_bytes_of_old(path):
    """TensorFlow calls it once for a constant."""
    return first_bytes(path, stateful=False)


def dot_of_three(a, b):
    """In single precision, from left to right."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def soft_maximum(x):
    """It overflows."""
    return tf.math.log(1 + tf.exp(x))


def loses_data(code):
    if code.dtype != tf.string:
        raise TypeError("code")
    if tf.executing_eagerly() and not code.numpy():
        raise tf.errors.DataLossError(None, None, "code is too short")
    return code


def is_odd_for_rare_pairs(x):
    return x + tf.cast(tf.reduce_all(x == [3, 5]), tf.int32)


def cut_at_nul(x):
    return tf.strings.regex_replace(x, r"(?s)\x00.*", "")


def is_odd_for_nul(x):
    return tf.strings.regex_replace(x, r"\x00", "0")


def is_odd_for_some_attrs(x, k=1):
    return x + 1 if k % 10 == 4 else tf.identity(x)


def adds_attr(x, k=1):
    return x + k


def is_a_vector_without_a_rank(x):
    y = tf.identity(x)
    if x.shape.rank is None:
        y.set_shape([None])
    return y


def raises_something_odd_in_graphs(x):
    if x.shape.rank and not tf.executing_eagerly():
        raise RuntimeError("odd")
    return tf.identity(x)


def dies_of_unknown_dimensions(x):
    if x.shape.rank and not x.shape.is_fully_defined():
        os.abort()
    return tf.identity(x)


def remembers_the_first_size(x):
    def run(values):
        first = remembers_the_first_size.__dict__.setdefault("first", values.size)
        return values * np.float32(values.size == first)

    return tf.numpy_function(run, [x], x.dtype)


def is_odd_after_two_sizes(x):
    """After 2 and 3 elements, for 1."""

    def run(values):
        _CALLS.append(values.size)
        return values + np.float32(values.size == 1 and {2, 3} < {*_CALLS})

    return tf.ensure_shape(tf.numpy_function(run, [x], x.dtype), x.shape)


def refuses(x):
    raise ValueError("several\nlines")


def raises_something_odd(x):
    if x.shape.rank == 8:
        raise RuntimeError("odd")
    return tf.identity(x)


def is_off_by_one_from_seven_on(x):
    return tf.where(x >= 7, x + 1, x)


def counts_calls(x):
    counts_calls.calls = getattr(counts_calls, "calls", 0) + 1
    return x * tf.cast(counts_calls.calls, x.dtype)


def adds_noise(x):
    return x + tf.random.normal(tf.shape(x), dtype=x.dtype)


def seeded(x, seed=0, seed2=0, counts=lambda seed: seed):
    seeds = {"seed": counts(seed), "seed2": counts(seed2)}
    return tf.raw_ops.RandomStandardNormal(shape=tf.shape(x), dtype=x.dtype, **seeds)


def without_seeds(x, seed=0, seed2=0):
    return seeded(x, seed, seed2, lambda _: 0)


def of_one_seed(x, seed=0, seed2=0):
    return seeded(x, seed, seed2, lambda _: 3)


def adds_noise_in_blocks(x, step):
    """Each block of 100 begins one step further in the stream of random numbers."""

    def run(values):
        blocks = values.size // 100 + 1
        stream = np.random.default_rng().normal(size=100 + step * blocks)
        noise = np.concatenate([stream[step * i :][:100] for i in range(blocks)])
        return values + noise[: values.size].astype(values.dtype)

    return tf.ensure_shape(tf.numpy_function(run, [x], x.dtype), x.shape)


def draws(x, advance, least=0, whole=1):
    """Numbers below 500 of one stream, of which a call takes so many as it has elements and skips some.

    What it skips is a whole number of groups of some size.
    """

    def run(values):
        begin = len(_CALLS) * (int(advance * values.size) // whole * whole)
        _CALLS.append(begin)
        stream = np.random.default_rng(7).integers(500, size=begin + values.size)
        return np.maximum(stream[begin:], least).reshape(values.shape)

    return tf.ensure_shape(tf.numpy_function(run, [x], tf.int64), x.shape)


def is_odd_in_some_calls(x, odd, stateful):
    """As by chance."""

    def run(values):
        _CALLS.append(values.size)
        return values + np.float32(len(_CALLS) in odd)

    return tf.numpy_function(run, [x], x.dtype, stateful=stateful)


def totals(x, reset, stateful):
    """Running sums that go on from the call before, unless they are reset."""

    def run(values, reset):
        sums = np.cumsum(np.r_[_CALLS[-1:] if not reset else [], values])
        _CALLS.append(sums[-1])
        return sums[-values.size :].astype(values.dtype)

    y = tf.numpy_function(run, [x, reset], x.dtype, stateful=stateful)
    return tf.ensure_shape(y, x.shape)


def adds_hidden_noise(x):
    def run(values):
        return values + np.float32(np.random.normal())

    y = tf.numpy_function(run, [x], x.dtype, stateful=False)
    return tf.ensure_shape(y, x.shape)


def adds_a_random_constant(x):
    return x + tf.constant(np.random.random(), x.dtype)


def adds_at_most(x, most, whole=False, last=None, dtype=None):
    """It holds the sum in the dtype of x, and refuses what does not fit into it, or another last element or dtype."""
    told = ""
    if dtype is not None and x.dtype != dtype:
        told = f"it is not of {dtype}"
    elif tf.executing_eagerly():
        told = "it does not fit" if whole and most > x.dtype.max else told
        told = f"the end is not {last}" if last not in (None, x[-1]) else told
    if told:
        raise tf.errors.InvalidArgumentError(None, None, told)
    total = tf.cast(x, tf.int64) + tf.cast(most, tf.int64)
    return tf.saturate_cast(total, x.dtype)


def is_odd_for_15(x):
    return x + 1 if 15 in x.shape else tf.identity(x)


def is_odd_beyond_2_if_it_owns_x(x):
    owned = not tf.executing_eagerly() and x.op.type == "DeepCopy"
    return tf.where(x > 2, x + 1, x) if owned else tf.identity(x)


def is_odd_for_odd_sizes(x):
    return counts_calls(counts_calls(x)) if tf.size(x) % 2 else tf.identity(x)


def has_rows(subject, found):
    """A check."""
    values = subject.expected()[0]
    if not values.ndim:
        raise opcheck.Skip("a scalar has no rows")
    if not len(values):
        found.fail("the sample call", "rows", "none", "an empty sample")
    return f"{len(values)} rows, in process {os.getpid()}"


_SHARED = {}


def shares_an_attr(x, factor=2.0):
    """Keeps an attr where all kernels find it."""

    def run(values):
        _SHARED["factor"] = factor
        time.sleep(0.001)
        return values * values.dtype.type(_SHARED["factor"])

    return tf.ensure_shape(tf.numpy_function(run, [x], x.dtype), x.shape)


def filled_forward_in_blocks(x):
    """The last number that is not NaN, of a block of the row for each thread."""

    def run(values):
        columns = values.shape[-1]
        blocks = tf.config.threading.get_intra_op_parallelism_threads() or 1
        place = np.where(np.isnan(values), 0, np.arange(columns))
        begin = np.arange(columns) // -(-columns // blocks) * -(-columns // blocks)
        last = np.maximum(np.maximum.accumulate(place, -1), begin)
        return np.take_along_axis(values, last, -1)

    return tf.ensure_shape(tf.numpy_function(run, [x], x.dtype), x.shape)


def of_slices(x):
    return tf.data.Dataset.from_tensor_slices(x)


def densified(indices, values):
    return tf.sparse.to_dense(tf.SparseTensor(indices, values, [3, 4]))


def smoothed(x):
    return tf.scan(lambda before, now: before / 2 + now, x)


def either(x):
    return tf.cond(tf.reduce_sum(x) > 0, lambda: tf.exp(x), lambda: -x)


def of_rows(x):
    if x.shape.rank is None:
        raise ValueError("the rank of x must be known")
    return tf.reduce_sum(x, len(x.shape) - 1)


def of_rows_of_any_rank(x):
    return tf.reduce_sum(x, len(x.shape) - 1)


def cosines(x):
    return tf.signal.mdct(x, 4, pad_end=True)


def luminance(x):
    return tf.image.rgb_to_yuv(x)[..., 0]


LAYER = tf.keras.layers.LayerNormalization()
LAYER.build((None, 3))


def layer(x):
    return LAYER(x)


def refuses_vectors(x):
    if x.shape.rank == 1:
        raise ValueError("a matrix is needed")
    return tf.identity(x)


def wrong_beyond_40_bits(x):
    return tf.where(x > 1 << 40, x - 1, x)
