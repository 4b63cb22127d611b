"""The Python side of 52 pairs of ops: each `buggy_x` is `x` with one bug, which a comment names.

They were written without a look at opcheck's code, as was SAMPLES, one call of each as its user would make it.
"""

import re
from pathlib import Path

import numpy as np
import tensorflow as tf
from build_broken_ops import functions

from opcheck import function_of

_OPS = functions("numbers", "layout", "state", "habits")
globals().update({one.__name__: one for one in _OPS.values()})
# Other ops have these names.
log_cosh, buggy_log_cosh = _OPS["StableLogCosh"], _OPS["BuggyStableLogCosh"]
row_median, buggy_row_median = _OPS["MedianOfRow"], _OPS["BuggyMedianOfRow"]


def require(condition, message: str) -> None:
    """What the references do with a call that the op refuses."""
    if not condition:
        raise ValueError(message)


# Values


# Bug of channel_bias: wrong stride in one of the two layouts.
def channel_bias_reference(x, bias, data_format="NHWC"):
    require(x.ndim == 4, "x")
    axis = 3 if data_format == "NHWC" else 1
    require(bias.shape == (x.shape[axis],), "bias")
    return x + (bias if axis == 3 else bias[:, None, None])


# Bug of pair_max_rows: it drops the last row of an odd number.
def pair_max_rows_reference(x):
    require(x.ndim == 2, "x")
    pooled = [x[i : i + 2].max(0) for i in range(0, len(x), 2)]
    return np.reshape(pooled, (-1, x.shape[1]) if pooled else (0, x.shape[1])).astype(
        x.dtype
    )


# Bug of ravel_index: it multiplies in int32.
def ravel_index_reference(rows, columns, width):
    require(rows.ndim == 1 and rows.shape == columns.shape, "rows")
    require(0 < width < 2**31, "width")
    return rows.astype(np.int64) * width + columns


# Bug of dense_from_pairs: what no pair names is not set to zero.
def dense_from_pairs_reference(pairs, values, height, width):
    require(values.ndim == 1 and pairs.shape == (len(values), 2), "pairs")
    require(0 <= height <= 4096 and 0 <= width <= 4096, "height")
    require(np.all((pairs >= 0) & (pairs < [height, width])), "pairs")
    dense = np.zeros((height, width), np.float32)
    for (row, column), value in zip(pairs, values):
        dense[row, column] = value
    return dense


# Bug of abs_sum: its threads add to one sum without a lock.
def abs_sum_reference(x):
    return np.abs(x).sum(dtype=np.float64).astype(np.float32)


# Bug of rms_scale: it ignores epsilon.
def rms_scale_reference(x, scale, epsilon=1e-6):
    require(x.ndim == 2 and scale.shape == x.shape[1:], "scale")
    require(epsilon > 0, "epsilon")
    wide = x.astype(np.float64)
    root = np.sqrt((wide**2).mean(1, keepdims=True) + epsilon)
    return (wide / root * scale).astype(np.float32)


# Bug of running_max: it forgets a NaN.
def running_max_reference(x):
    require(x.ndim == 1, "x")
    return np.maximum.accumulate(x)


# Bug of id_bucket: it divides doubles, which do not hold each int64.
def id_bucket_reference(ids, width=10):
    require(width >= 1, "width")
    return ids // width


# Bug of scale_columns: it reads past a scale of one element.
def scale_columns_reference(x, scale):
    require(x.ndim == 2 and scale.ndim == 1, "x")
    require(len(scale) in (1, x.shape[1]), "scale")
    return x * scale


def _scale_columns_grad(op, grad):
    x, scale = op.inputs
    sums = tf.reduce_sum(grad * x, 0)
    single = tf.equal(tf.size(scale), 1)
    by_scale = tf.cond(single, lambda: tf.reduce_sum(sums)[tf.newaxis], lambda: sums)
    return grad * scale, by_scale


# Bug of join_tokens: it cuts a token at a zero byte.
def join_tokens_reference(tokens, separator=","):
    require(tokens.ndim == 1, "tokens")
    text = separator if isinstance(separator, bytes) else separator.encode()
    return np.array(text.join(tokens.tolist()), object)


# Bug of average_rows: it adds halves in half precision.
def average_rows_reference(x):
    require(x.ndim == 2 and x.shape[1] > 0, "x")
    return x.astype(np.float64).mean(1).astype(x.dtype)


def _average_rows_grad(op, grad):
    x = op.inputs[0]
    columns = tf.cast(tf.shape(x)[1], x.dtype)
    return tf.broadcast_to((grad / columns)[:, tf.newaxis], tf.shape(x))


# Bug of count_ids: it writes wherever an id leads.
def count_ids_reference(ids, size):
    require(ids.ndim == 1 and 0 <= size <= 2**20, "ids")
    require(np.all((ids >= 0) & (ids < size)), "ids")
    return np.bincount(ids, minlength=size).astype(np.int64)


# Bug of sample_grid: it reads before the image at a negative point.
def sample_grid_reference(image, points):
    require(image.ndim == 2 and points.ndim == 2 and points.shape[1] == 2, "points")
    require(np.all((points >= 0) & (points < image.shape)), "points")
    return image[points[:, 0], points[:, 1]]


# Shapes


# Bug of insert_axis: it counts a negative axis from the wrong end.
def insert_axis_reference(x, axis=0):
    return np.expand_dims(x, axis)


# Bug of flatten_rows: its shape function says rank 1 for a vector, the kernel makes a column.
def flatten_rows_reference(x):
    require(x.ndim > 0, "x")
    return x.reshape(len(x), int(np.prod(x.shape[1:])))


def _insert_axis_grad(op, grad):
    return tf.reshape(grad, tf.shape(op.inputs[0]))


_flatten_rows_grad = _insert_axis_grad


# Bug of repeat_each: its shape function does not compute the size, which it could.
def repeat_each_reference(x, times):
    require(x.ndim == 1 and 1 <= times <= 1024, "x")
    return np.repeat(x, times)


def _repeat_each_grad(op, grad):
    times = op.get_attr("times")
    return tf.reduce_sum(tf.reshape(grad, [tf.shape(op.inputs[0])[0], times]), 1)


# Bug of pad_to: its shape function takes it that the size is a constant.
def pad_to_reference(x, size):
    require(x.ndim == 1 and np.ndim(size) == 0, "x")
    require(len(x) <= size <= 2**20, "size")
    return np.pad(x, (0, size - len(x)))


def _pad_to_grad(op, grad):
    grad = tf.convert_to_tensor(grad)  # it may be tf.IndexedSlices
    return grad[: tf.shape(op.inputs[0])[0]], None


# Bug of stack_rows: its shape function takes all parts to be as large as the first.
def stack_rows_reference(parts):
    require(all(part.ndim == 2 for part in parts), "parts")
    return np.concatenate(parts)


def _stack_rows_grad(op, grad):
    return tf.split(grad, [tf.shape(part)[0] for part in op.inputs])


# Gradients


# Bug of soft_ramp: its gradient is right for the default of beta only.
def soft_ramp_reference(x, beta=1.0):
    require(beta > 0, "beta")
    beta = np.float64(np.float32(beta))
    return (np.logaddexp(0, beta * x.astype(np.float64)) / beta).astype(x.dtype)


def _soft_ramp_grad(op, grad):
    return grad * tf.sigmoid(op.get_attr("beta") * op.inputs[0])


def _buggy_soft_ramp_grad(op, grad):
    return grad * tf.sigmoid(op.inputs[0])


# Bug of pick_rows: its gradient keeps one of the rows that are picked twice.
def pick_rows_reference(table, ids):
    require(table.ndim == 2 and ids.ndim == 1, "table")
    require(np.all((ids >= 0) & (ids < len(table))), "ids")
    return table[ids]


def _pick_rows_grad(op, grad):
    table, ids = op.inputs
    return tf.tensor_scatter_nd_add(
        tf.zeros_like(table), ids[:, tf.newaxis], grad
    ), None


def _buggy_pick_rows_grad(op, grad):
    table, ids = op.inputs
    zeros = tf.zeros_like(table)
    return tf.tensor_scatter_nd_update(zeros, ids[:, tf.newaxis], grad), None


# Bug of weigh_rows: its gradient says None for the weights.
def weigh_rows_reference(x, weights):
    require(x.ndim == 2 and weights.shape == x.shape[:1], "weights")
    return (x.astype(np.float64) * weights[:, None]).sum(0).astype(x.dtype)


def _weigh_rows_grad(op, grad):
    x, weights = op.inputs
    return weights[:, tf.newaxis] * grad, tf.reduce_sum(x * grad, 1)


def _buggy_weigh_rows_grad(op, grad):
    return op.inputs[1][:, tf.newaxis] * grad, None


# Bug of shift_columns: its gradient has the wrong shape for one shift of all columns.
def shift_columns_reference(x, shift):
    require(x.ndim == 2 and shift.ndim == 1, "x")
    require(len(shift) in (1, x.shape[1]), "shift")
    return x + shift


def _shift_columns_grad(op, grad):
    sums = tf.reduce_sum(grad, 0)
    single = tf.equal(tf.size(op.inputs[1]), 1)
    return grad, tf.cond(single, lambda: tf.reduce_sum(sums)[tf.newaxis], lambda: sums)


def _buggy_shift_columns_grad(op, grad):
    return grad, tf.reduce_sum(grad, 0)


# Bug of log_cosh: its gradient is a constant for the second order.
def log_cosh_reference(x):
    size = np.abs(x.astype(np.float64))
    return (size + np.log1p(np.exp(-2 * size)) - np.log(2)).astype(x.dtype)


def _stable_log_cosh_grad(op, grad):
    return grad * tf.tanh(op.inputs[0])


def _buggy_stable_log_cosh_grad(op, grad):
    return grad * tf.tanh(tf.stop_gradient(op.inputs[0]))


# Bug of sine_square: its gradient computes in float32 for float64.
def sine_square_reference(x):
    return (np.sin(x.astype(np.float64)) ** 2).astype(x.dtype)


def _sine_square_grad(op, grad):
    return grad * tf.sin(2 * op.inputs[0])


def _buggy_sine_square_grad(op, grad):
    slope = tf.sin(2 * tf.cast(op.inputs[0], tf.float32))
    return grad * tf.cast(slope, grad.dtype)


# Bug of masked_average: its gradient does not divide by the number of rows.
def masked_average_reference(x, mask):
    require(x.ndim == 2 and mask.shape == x.shape[:1], "mask")
    kept = x[mask].astype(np.float64)
    return (kept.sum(0) / max(len(kept), 1)).astype(x.dtype)


def _masked_average_grad(op, grad):
    kept = tf.cast(op.inputs[1], grad.dtype)
    count = tf.maximum(tf.reduce_sum(kept), 1)
    return kept[:, tf.newaxis] * grad / count, None


def _buggy_masked_average_grad(op, grad):
    return tf.cast(op.inputs[1], grad.dtype)[:, tf.newaxis] * grad, None


# State, threads and memory


# Bug of hann_window: it keeps the window of the longest input.
def hann_window_reference(x):
    require(x.ndim == 1, "x")
    angles = 2 * np.pi * np.arange(len(x)) / max(len(x), 1)
    return (x * (0.5 - 0.5 * np.cos(angles))).astype(np.float32)


def _hann_window_grad(op, grad):
    return _OPS[op.type](grad)


# Bug of row_median: all calls sort in one member of the kernel.
def row_median_reference(x):
    require(x.ndim == 2 and x.shape[1] > 0, "x")
    upper = np.sort(x, 1)[:, x.shape[1] // 2]
    return np.where(np.isnan(x).any(1), np.float32(np.nan), upper)


# Bug of jitter: it is random, and TensorFlow does not know.
def _jitter_grad(op, grad):
    return tf.identity(grad)


# Bug of parse_prices: it forgets to free a copy of each string.
def parse_prices_reference(prices):
    text = prices.reshape(-1).tolist()
    require(not any(re.search(rb"[^ -~\s]|_", each) for each in text), "prices")
    return np.array([float(each) for each in text], np.float32).reshape(prices.shape)


# Bug of parse_counts: it takes what is not a number as 0.
def parse_counts_reference(counts):
    text = counts.reshape(-1).tolist()
    require(all(re.fullmatch(rb"\s*[+-]?[0-9]+\s*", each) for each in text), "counts")
    return np.array([int(each) for each in text], np.int64).reshape(counts.shape)


# Bug of count_lines: it does not close the file.
def count_lines_reference(path):
    require(np.ndim(path) == 0, "path")
    name = path if isinstance(path, (bytes, str)) else path.item()
    return np.int64(Path(tf.compat.as_str(name)).read_bytes().count(b"\n"))


# Bug of swap_halves: it writes into its input's buffer while it still reads from it.
def swap_halves_reference(x):
    require(x.ndim == 1, "x")
    return np.roll(x, -(len(x) // 2))


def _swap_halves_grad(op, grad):
    return tf.roll(grad, tf.shape(grad)[0] // 2, 0)


# Bug of sum_of_numbers: it replaces each NaN in the caller's tensor.
def sum_of_numbers_reference(x):
    return np.nansum(x, dtype=np.float64).astype(np.float32)


def _sum_of_numbers_grad(op, grad):
    x = op.inputs[0]
    return tf.where(tf.math.is_nan(x), tf.zeros_like(x), grad)


# Bug of dot_four: it reads four floats where fewer are left.
def dot_four_reference(x, y):
    require(x.ndim == 1 and x.shape == y.shape, "x")
    return np.dot(x.astype(np.float64), y).astype(np.float32)


def _dot_four_grad(op, grad):
    x, y = op.inputs
    return grad * y, grad * x


# Bug of blur_three: it does not clear the last element of its scratch.
def blur_three_reference(x):
    require(x.ndim == 1, "x")
    padded = np.pad(x, 1)
    return (0.25 * padded[:-2] + 0.5 * padded[1:-1] + 0.25 * padded[2:]).astype(
        np.float32
    )


def _blur_three_grad(op, grad):
    return _OPS[op.type](grad)


# Bug of logistic_four: it writes four floats where fewer belong to it.
def logistic_four_reference(x):
    return (1 / (1 + np.exp(-x.astype(np.float64)))).astype(np.float32)


def _logistic_four_grad(op, grad):
    y = op.outputs[0]
    return grad * y * (1 - y)


# Bad input


# Bug of take_window: it takes it that the start is a scalar.
def take_window_reference(x, start, length):
    require(x.ndim == 1 and np.ndim(start) == 0, "start")
    require(0 <= length <= len(x) and 0 <= start <= len(x) - length, "start")
    return x[start : start + length]


def _take_window_grad(op, grad):
    x, start = op.inputs
    after = tf.size(x) - start - op.get_attr("length")
    return tf.pad(grad, [[start, after]]), None


# Bug of sorted_index: it calls its caller's mistake an internal error.
def sorted_index_reference(edges, values):
    require(edges.ndim == 1 and not np.isnan(edges).any(), "edges")
    require(np.all(edges[:-1] <= edges[1:]), "edges")
    return np.searchsorted(edges, values).astype(np.int32)


# Bug of cycle_to: it never ends for an empty input.
def cycle_to_reference(x, length):
    require(x.ndim == 1 and 0 <= length <= 2**20, "x")
    require(len(x) > 0 or length == 0, "x")
    return x[np.arange(length) % max(len(x), 1)]


# Bug of ring_shift: it divides by the size, which can be 0.
def ring_shift_reference(x, shift=1):
    require(x.ndim == 1, "x")
    return np.roll(x, shift)


# What authors forget


# Bug of segment_mean_rows: the mean of no rows is 0 / 0.
def segment_mean_rows_reference(x, segments, count):
    require(x.ndim == 2 and segments.shape == x.shape[:1], "segments")
    require(0 <= count <= 4096, "count")
    require(np.all((segments >= 0) & (segments < count)), "segments")
    means = np.zeros((count, x.shape[1]), np.float32)
    for segment in np.unique(segments):
        means[segment] = x[segments == segment].mean(0, dtype=np.float64)
    return means


def _segment_mean_rows_grad(op, grad):
    segments = op.inputs[1]
    ones = tf.ones_like(segments, grad.dtype)
    rows = tf.math.unsorted_segment_sum(ones, segments, op.get_attr("count"))
    return tf.gather(grad, segments) / tf.gather(rows, segments)[:, tf.newaxis], None


# Bug of top_columns: of equal values it takes the last first.
def top_columns_reference(x, k=1):
    require(x.ndim == 2 and 0 <= k <= x.shape[1], "k")
    return np.argsort(-x, 1, kind="stable")[:, :k].astype(np.int32)


# Bug of unit_rows: its rows are right for a matrix only.
def unit_rows_reference(x):
    require(x.ndim > 0, "x")
    length = np.sqrt((x.astype(np.float64) ** 2).sum(-1, keepdims=True))
    return (x / np.where(length == 0, 1, length)).astype(np.float32)


# Bug of pool_window: it takes the first number of the window for both.
def pool_window_reference(x, window=(2, 2)):
    require(x.ndim == 2 and len(window) == 2 and min(window) >= 1, "window")
    (tall, wide), (rows, columns) = window, np.array(x.shape) // window
    kept = x[: rows * tall, : columns * wide]
    return kept.reshape(rows, tall, columns, wide).max((1, 3))


# Bug of row_variance: it subtracts two large numbers.
def row_variance_reference(x):
    require(x.ndim == 2 and x.shape[1] > 0, "x")
    return x.astype(np.float64).var(1).astype(np.float32)


def _row_variance_grad(op, grad):
    x = op.inputs[0]
    centred = x - tf.reduce_mean(x, 1, keepdims=True)
    grad = tf.convert_to_tensor(grad)  # it may be tf.IndexedSlices
    return 2 * centred * grad[:, tf.newaxis] / tf.cast(tf.shape(x)[1], x.dtype)


# Bug of absolute_difference: the difference of unsigned numbers is never negative.
def absolute_difference_reference(a, b):
    require(a.shape == b.shape, "b")
    return np.where(a < b, b - a, a - b)


def _absolute_difference_grad(op, grad):
    sign = tf.sign(op.inputs[0] - op.inputs[1])
    return grad * sign, -grad * sign


# Bug of to_int8: what does not fit is cut to its last eight bits.
def to_int8_reference(x, scale=0.05):
    require(0 < np.float32(scale) < np.inf, "scale")
    rounded = np.nan_to_num(np.rint(x / np.float32(scale)), posinf=127, neginf=-128)
    return np.clip(rounded, -128, 127).astype(np.int8)


# Bug of ragged_sums: it does not compare the last split with the number of values.
def ragged_sums_reference(values, splits):
    require(values.ndim == 1 and splits.ndim == 1 and len(splits) > 0, "splits")
    require(splits[0] == 0 and splits[-1] == len(values), "splits")
    require(np.all(splits[:-1] <= splits[1:]), "splits")
    rows = np.split(values.astype(np.float64), splits[1:-1])
    return np.float32([row.sum() for row in rows][: len(splits) - 1])


def _ragged_sums_grad(op, grad):
    splits = op.inputs[1]
    return tf.repeat(grad, splits[1:] - splits[:-1]), None


# Bug of sum_first_axis: its shape function takes an unknown rank for 2.
def sum_first_axis_reference(x):
    require(x.ndim > 0, "x")
    return x.astype(np.float64).sum(0).astype(np.float32)


def _sum_first_axis_grad(op, grad):
    return tf.broadcast_to(grad, tf.shape(op.inputs[0]))


# Bug of row_length: its gradient is NaN for a row of zeros.
def row_length_reference(x):
    require(x.ndim == 2, "x")
    return np.sqrt((x.astype(np.float64) ** 2).sum(1)).astype(np.float32)


def _row_length_grad(op, grad):
    factor = tf.math.divide_no_nan(grad, op.outputs[0])
    return op.inputs[0] * factor[:, tf.newaxis]


def _buggy_row_length_grad(op, grad):
    return op.inputs[0] * (grad / op.outputs[0])[:, tf.newaxis]


# Bug of larger: its gradient counts equal elements twice.
def larger_reference(a, b):
    require(a.shape == b.shape, "b")
    return np.maximum(a, b)


def _larger_grad(op, grad):
    first = op.inputs[0] >= op.inputs[1]
    zeros = tf.zeros_like(grad)
    return tf.where(first, grad, zeros), tf.where(first, zeros, grad)


def _buggy_larger_grad(op, grad):
    a, b = op.inputs
    zeros = tf.zeros_like(grad)
    return tf.where(a >= b, grad, zeros), tf.where(b >= a, grad, zeros)


# Bug of row_range: its gradient forgets the second output.
def row_range_reference(x):
    require(x.ndim == 2 and x.shape[1] > 0, "x")
    return x.min(1), x.max(1)


def _row_range_grad(op, low, high):
    x = op.inputs[0]
    smallest, greatest = (
        tf.one_hot(place, tf.shape(x)[1], dtype=x.dtype)
        for place in (tf.argmin(x, 1), tf.argmax(x, 1))
    )
    low, high = map(tf.convert_to_tensor, (low, high))
    return smallest * low[:, tf.newaxis] + greatest * high[:, tf.newaxis]


def _buggy_row_range_grad(op, low, high):
    x = op.inputs[0]
    smallest = tf.one_hot(tf.argmin(x, 1), tf.shape(x)[1], dtype=x.dtype)
    return smallest * tf.convert_to_tensor(low)[:, tf.newaxis]


for _op in _OPS:  # `_buggy_x_grad` or `_x_grad`, where there is one
    _names = (f"_{function_of(one)}_grad" for one in (_op, _op.removeprefix("Buggy")))
    if _found := next(filter(None, map(globals().get, _names)), None):
        tf.RegisterGradient(_op)(_found)
    else:
        tf.no_gradient(_op)


def _normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).normal(size=shape).astype(np.float32)


# Function: inputs and attrs of one call, for it and for its buggy twin.
SAMPLES = {
    "channel_bias": ((_normal(2, 4, 4, 3), _normal(3)), {}),
    "pair_max_rows": ((_normal(6, 3),), {}),
    "ravel_index": ((np.int32([0, 2, 5]), np.int32([7, 1, 3])), {"width": 8}),
    "dense_from_pairs": (
        (np.int64([[0, 1], [2, 3], [1, 1]]), np.float32([1.5, -2, 4])),
        {"height": 3, "width": 5},
    ),
    "abs_sum": ((_normal(64, 128),), {}),
    "rms_scale": ((_normal(4, 16), 1 + _normal(16)), {}),
    "running_max": ((_normal(10),), {}),
    "id_bucket": ((np.int64([3, 41, 119, 40]),), {}),
    "scale_columns": ((_normal(4, 3), _normal(3)), {}),
    "join_tokens": ((np.array([b"to", b"be", b"or"], object),), {}),
    "average_rows": ((_normal(4, 32),), {}),
    "count_ids": ((np.int32([0, 2, 2, 1, 0, 2]),), {"size": 4}),
    "sample_grid": ((_normal(5, 4), np.int32([[0, 0], [4, 3], [2, 1]])), {}),
    "insert_axis": ((_normal(3, 4),), {"axis": 1}),
    "flatten_rows": ((_normal(2, 3, 4),), {}),
    "repeat_each": ((_normal(4),), {"times": 3}),
    "pad_to": ((_normal(5), np.int32(8)), {}),
    "stack_rows": (([_normal(2, 3), _normal(2, 3), _normal(2, 3)],), {}),
    "soft_ramp": ((_normal(3, 4),), {}),
    "pick_rows": ((_normal(5, 3), np.int32([4, 0, 2])), {}),
    "weigh_rows": ((_normal(4, 3), np.abs(_normal(4))), {}),
    "shift_columns": ((_normal(4, 3), _normal(3)), {}),
    "log_cosh": ((_normal(6),), {}),
    "sine_square": ((_normal(6),), {}),
    "masked_average": ((_normal(4, 3), np.array([True, False, True, True])), {}),
    "hann_window": ((_normal(16),), {}),
    "row_median": ((_normal(16, 33),), {}),
    "jitter": ((_normal(3, 4),), {}),
    "parse_prices": ((np.array([b"9.99", b"120", b"0.5"], object),), {}),
    "parse_counts": ((np.array([b"3", b"-14", b"0"], object),), {}),
    "count_lines": ((str(Path(__file__).with_name("pair.h")),), {}),
    "swap_halves": ((_normal(8),), {}),
    "sum_of_numbers": ((_normal(3, 4),), {}),
    "dot_four": ((_normal(8), _normal(8)[::-1].copy()), {}),
    "blur_three": ((_normal(9),), {}),
    "logistic_four": ((_normal(4, 8),), {}),
    "take_window": ((_normal(10), np.int32(2)), {"length": 4}),
    "sorted_index": ((np.float32([0, 1, 2.5, 4]), np.float32([0.5, 3, 9])), {}),
    "cycle_to": ((_normal(4),), {"length": 10}),
    "ring_shift": ((_normal(5),), {"shift": 2}),
    "segment_mean_rows": ((_normal(5, 3), np.int32([0, 0, 1, 2, 1])), {"count": 3}),
    "top_columns": ((_normal(4, 6),), {"k": 3}),
    "unit_rows": ((_normal(4, 3),), {}),
    "pool_window": ((_normal(4, 6),), {}),
    "row_variance": ((_normal(4, 16),), {}),
    "absolute_difference": ((_normal(3, 4), _normal(6, 4)[3:]), {}),
    "to_int8": ((_normal(3, 4),), {}),
    "ragged_sums": ((_normal(7), np.int32([0, 3, 3, 7])), {}),
    "sum_first_axis": ((_normal(4, 3),), {}),
    "row_length": ((_normal(4, 3),), {}),
    "larger": ((_normal(3, 4), _normal(6, 4)[3:]), {}),
    "row_range": ((_normal(4, 5),), {}),
}
# What else their user says.
OPTIONS = {"jitter": {"nondeterministic": True}}
