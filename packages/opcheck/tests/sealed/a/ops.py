"""The Python side of the ops of the first author, with a bug and without."""

import collections
import datetime
import functools
import os
import zlib

import numpy as np
import tensorflow as tf

_ops = {
    name: tf.load_op_library(f"{os.environ['SEALED_OPS']}/liba_{name}.so")
    for name in ("data", "images", "signals")
}
Standardized = collections.namedtuple("Standardized", "z scale")
LeGall = collections.namedtuple("LeGall", "approx detail")


def _refuse(message):
    return tf.errors.InvalidArgumentError(None, None, message)


def _tensor(value, name, dtypes):
    tensor = tf.convert_to_tensor(value)
    if tensor.dtype not in dtypes:
        raise _refuse(
            f"{name} must be of {[d.name for d in dtypes]}, but is {tensor.dtype.name}"
        )
    return tensor


FLOATS = (tf.float32, tf.float64)


# ---------------------------------------------------------------- haversine
def haversine_bad(a, b, *, radius=6371000.0):
    return _ops["images"].xc_haversine_bad(a, b, radius=radius)


def haversine_good(a, b, *, radius=6371000.0):
    return _ops["images"].xc_haversine_good(a, b, radius=radius)


def haversine_args():
    """A bus on its way: a fix of the receiver every 20 seconds."""
    rng = np.random.default_rng(1)
    steps = rng.normal([0.0009, 0.0014], 0.0003, [40, 2])
    track = np.array([52.52, 13.405]) + np.cumsum(steps, axis=0)
    track = track.astype(np.float32)
    return [track[:-1], track[1:]]


def haversine_reference(a, b, *, radius=6371000.0):
    if not (np.isfinite(radius) and radius > 0):
        raise ValueError("radius")
    if a.ndim < 1 or a.shape[-1] != 2:
        raise ValueError("a")
    if a.shape != b.shape:
        raise ValueError("b")
    for name, points in (("a", a), ("b", b)):
        if (np.abs(points[..., 0]) > 90).any():
            raise ValueError(name)
    p = np.radians(a.astype(np.float64))
    q = np.radians(b.astype(np.float64))
    cosines = np.cos(p[..., 0]) * np.cos(q[..., 0])
    half = (q - p) / 2
    middle = (q[..., 0] + p[..., 0]) / 2
    near = np.sin(half[..., 0]) ** 2 + cosines * np.sin(half[..., 1]) ** 2
    far = np.sin(middle) ** 2 + cosines * np.cos(half[..., 1]) ** 2
    angle = 2 * np.arctan2(np.sqrt(near), np.sqrt(far))
    return (np.float32(radius) * angle).astype(a.dtype)


# ---------------------------------------------------------- run-length decode
def run_length_decode_bad(values, counts, *, max_length=16777216):
    return _ops["data"].xc_run_length_decode_bad(values, counts, max_length=max_length)


def run_length_decode_good(values, counts, *, max_length=16777216):
    return _ops["data"].xc_run_length_decode_good(values, counts, max_length=max_length)


def run_length_decode_args():
    rng = np.random.default_rng(2)
    return [
        rng.integers(0, 256, 60).astype(np.int32),
        rng.integers(0, 12, 60).astype(np.int64),
    ]


def run_length_decode_reference(values, counts, *, max_length=16777216):
    if values.ndim != 1:
        raise ValueError("values")
    if counts.shape != values.shape or (counts < 0).any():
        raise ValueError("counts")
    if sum(int(count) for count in counts) > max_length:
        raise ValueError("counts")
    return np.repeat(values, counts)


def _run_length_decode_grad(op, grad):
    values, counts = op.inputs
    size = tf.shape(values)[0]
    owners = tf.repeat(tf.range(size), counts)
    return tf.math.unsorted_segment_sum(grad, owners, size), None


for _name in ("XcRunLengthDecodeGood", "XcRunLengthDecodeBad"):
    tf.RegisterGradient(_name)(_run_length_decode_grad)


# ---------------------------------------------------------------- standardize
def standardize_bad(x, *, epsilon=1e-6):
    return Standardized(*_ops["signals"].xc_standardize_bad(x, epsilon=epsilon))


def standardize_good(x, *, epsilon=1e-6):
    return Standardized(*_ops["signals"].xc_standardize_good(x, epsilon=epsilon))


def standardize_args():
    rng = np.random.default_rng(3)
    return [(20 + 4 * rng.normal(size=[6, 48])).astype(np.float32)]


def standardize_reference(x, *, epsilon=1e-6):
    if not (np.isfinite(epsilon) and epsilon > 0):
        raise ValueError("epsilon")
    if x.ndim < 1 or x.shape[-1] < 1:
        raise ValueError("x")
    wide = x.astype(np.float64)
    away = wide - wide.mean(axis=-1, keepdims=True)
    scale = np.sqrt((away**2).mean(axis=-1) + np.float32(epsilon))
    return ((away / scale[..., None]).astype(x.dtype), scale.astype(x.dtype))


def _standardize_grad(op, *grads, full):
    grad, scale_grad = map(tf.convert_to_tensor, grads)  # tf.IndexedSlices
    z, scale = op.outputs
    inner = (
        grad
        - tf.reduce_mean(grad, -1, keepdims=True)
        - z * tf.reduce_mean(grad * z, -1, keepdims=True)
    )
    result = inner / scale[..., tf.newaxis]
    if full:
        size = tf.cast(tf.shape(z)[-1], z.dtype)
        result += scale_grad[..., tf.newaxis] * z / size
    return result


@tf.RegisterGradient("XcStandardizeGood")
def _standardize_good_grad(op, *grads):
    return _standardize_grad(op, *grads, full=True)


@tf.RegisterGradient("XcStandardizeBad")
def _standardize_bad_grad(op, *grads):
    return _standardize_grad(op, *grads, full=False)


# --------------------------------------------------------------------- exprel
def exprel_bad(x):
    return _ops["images"].xc_exprel_bad(x)


def exprel_good(x):
    return _ops["images"].xc_exprel_good(x)


def exprel_args():
    rng = np.random.default_rng(4)
    return [rng.uniform(-6, 6, [8, 25]).astype(np.float32)]


def exprel_reference(x):
    wide = x.astype(np.float64)
    with np.errstate(all="ignore"):
        plain = np.expm1(wide) / wide
        large = np.exp(wide / 2) / wide * np.exp(wide / 2)
    result = np.where(wide > 700, large, plain)
    result = np.where(wide == np.inf, np.inf, result)
    with np.errstate(over="ignore"):
        return np.where(wide == 0, 1.0, result).astype(x.dtype)


def _exprel_slope(x, near):
    """The derivative of (exp(x) - 1) / x; `near` tells where to use the series."""
    small = tf.where(near, x, tf.zeros_like(x))
    series = tf.zeros_like(x)
    factorial = 1.0
    terms = []
    for k in range(24):
        terms.append(1 / (factorial * (k + 2)))
        factorial *= k + 1
    for term in reversed(terms):
        series = series * small + tf.constant(term, x.dtype)
    far = tf.where(near, tf.ones_like(x), x)
    low = tf.constant(-1e4, x.dtype)
    high = tf.constant(1e4, x.dtype)
    mid = tf.clip_by_value(far, low, high)
    root = tf.exp(mid / 2)
    ratio = (mid - 1) / mid / mid
    closed = root * ratio * root + 1 / mid / mid
    closed = tf.where(far < low, 1 / far / far, closed)
    closed = tf.where(
        far > high, tf.fill(tf.shape(far), tf.constant(np.inf, x.dtype)), closed
    )
    closed = tf.where(tf.math.is_nan(far), far, closed)
    return tf.where(near, series, closed)


@tf.RegisterGradient("XcExprelGood")
def _exprel_good_grad(op, grad):
    x = op.inputs[0]
    return grad * _exprel_slope(x, tf.abs(x) < 1)


@tf.RegisterGradient("XcExprelBad")
def _exprel_bad_grad(op, grad):
    x = op.inputs[0]
    return grad * _exprel_slope(x, tf.equal(x, 0))


# ------------------------------------------------------------------ chroma420
def chroma420_bad(plane):
    return _ops["images"].xc_chroma420_bad(plane)


def chroma420_good(plane):
    return _ops["images"].xc_chroma420_good(plane)


def chroma420_args():
    rng = np.random.default_rng(5)
    return [rng.integers(0, 256, [2, 48, 64]).astype(np.uint8)]


def chroma420_reference(plane):
    if plane.ndim < 2:
        raise ValueError("plane")
    *rest, height, width = plane.shape
    out_height, out_width = (height + 1) // 2, (width + 1) // 2
    sums = np.zeros([*rest, out_height, out_width])
    counts = np.zeros([out_height, out_width])
    for i in range(2):
        for j in range(2):
            part = plane[..., i::2, j::2]
            h, w = part.shape[-2:]
            sums[..., :h, :w] += part
            counts[:h, :w] += 1
    mean = sums / np.maximum(counts, 1)
    if plane.dtype.kind == "u":
        mean = np.floor(mean + 0.5)
    return mean.astype(plane.dtype)


def _chroma_grad(op, grad):
    shape = tf.shape(op.inputs[0])
    height, width = shape[-2], shape[-1]
    rows = tf.minimum(2, height - 2 * tf.range((height + 1) // 2))
    columns = tf.minimum(2, width - 2 * tf.range((width + 1) // 2))
    counts = tf.cast(rows[:, tf.newaxis] * columns, grad.dtype)
    each = grad / counts
    each = tf.repeat(tf.repeat(each, 2, axis=-2), 2, axis=-1)
    return each[..., :height, :width]


for _name in ("XcChroma420Good", "XcChroma420Bad"):
    tf.RegisterGradient(_name)(_chroma_grad)


# -------------------------------------------------------------------- le gall
def le_gall_bad(x):
    return LeGall(*_ops["signals"].xc_le_gall_bad(x))


def le_gall_good(x):
    return LeGall(*_ops["signals"].xc_le_gall_good(x))


def le_gall_args():
    """10 ms of stereo at 44.1 kHz."""
    rng = np.random.default_rng(6)
    time = np.arange(441) / 44100
    tone = 9000 * np.sin(2 * np.pi * np.array([[440.0], [554.4]]) * time)
    return [np.round(tone + rng.normal(0, 300, tone.shape)).astype(np.int32)]


def le_gall_reference(x):
    if x.ndim < 1 or (np.abs(x.astype(np.int64)) > 2**29).any():
        raise ValueError("x")
    x = x.astype(np.int64)
    length = x.shape[-1]
    even, odd = x[..., ::2], x[..., 1::2]
    if length < 2:
        return even.astype(np.int32), odd.astype(np.int32)
    right = even[..., 1:]
    if length % 2 == 0:
        right = np.concatenate([right, even[..., -1:]], axis=-1)
    detail = odd - (even[..., : odd.shape[-1]] + right) // 2
    left = np.concatenate([detail[..., :1], detail], axis=-1)
    right = np.concatenate([detail, detail[..., -1:]], axis=-1)
    size = even.shape[-1]
    approx = even + (left[..., :size] + right[..., :size] + 2) // 4
    return approx.astype(np.int32), detail.astype(np.int32)


# ---------------------------------------------------------------------- adler
def adler_bad(text):
    return _ops["data"].xc_adler_bad(text)


def adler_good(text):
    return _ops["data"].xc_adler_good(text)


def adler_args():
    return [
        np.array(
            [
                b"",
                b"Wikipedia",
                b"message digest",
                "Zürich".encode(),
                b"The quick brown fox jumps over the lazy dog",
            ],
            dtype=object,
        )
    ]


def adler_reference(text):
    sums = [zlib.adler32(bytes(each)) for each in text.ravel()]
    return np.array(sums, np.int64).reshape(text.shape)


# ------------------------------------------------------------------- drawdown
def drawdown_bad(prices, *, axis=-1):
    return _ops["data"].xc_drawdown_bad(prices, axis=axis)


def drawdown_good(prices, *, axis=-1):
    return _ops["data"].xc_drawdown_good(prices, axis=axis)


def drawdown_args():
    """Paths of three assets over 60 days."""
    rng = np.random.default_rng(8)
    steps = rng.normal(0, 0.02, [3, 60])
    return [(100 * np.exp(np.cumsum(steps, axis=1))).astype(np.float32)]


def drawdown_reference(prices, *, axis=-1):
    if prices.ndim < 1 or (prices <= 0).any():
        raise ValueError("prices")
    if not -prices.ndim <= axis < prices.ndim:
        raise ValueError("axis")
    with np.errstate(invalid="ignore"):
        return 1 - prices / np.maximum.accumulate(prices, axis=axis)


# --------------------------------------------------------------- pre-emphasis
def pre_emphasis_bad(x, *, coefficient=0.96875):
    return _ops["signals"].xc_pre_emphasis_bad(x, coefficient=coefficient)


def pre_emphasis_good(x, *, coefficient=0.96875):
    return _ops["signals"].xc_pre_emphasis_good(x, coefficient=coefficient)


def pre_emphasis_args():
    rng = np.random.default_rng(9)
    return [rng.normal(0, 0.1, [4, 200]).astype(np.float32)]


def _pre_emphasis_grad(op, grad):
    coefficient = tf.cast(op.get_attr("coefficient"), grad.dtype)
    after = tf.concat([grad[..., 1:], tf.zeros_like(grad[..., :1])], -1)
    return grad - coefficient * after


for _name in ("XcPreEmphasisGood", "XcPreEmphasisBad"):
    tf.RegisterGradient(_name)(_pre_emphasis_grad)


# ------------------------------------------------------------- gaussian taper
def gaussian_taper_bad(x, sigma):
    return _ops["signals"].xc_gaussian_taper_bad(x, sigma)


def gaussian_taper_good(x, sigma):
    return _ops["signals"].xc_gaussian_taper_good(x, sigma)


def gaussian_taper_args():
    rng = np.random.default_rng(10)
    return [rng.normal(size=[3, 65]).astype(np.float32), np.float32(0.4)]


def _gaussian_taper_grad(op, grad):
    x, sigma = op.inputs
    length = tf.shape(x)[-1]
    middle = tf.cast(length - 1, tf.float64) / 2
    place = tf.cast(tf.range(length), tf.float64) - middle
    place /= tf.where(middle > 0, middle, tf.ones_like(middle))
    width = tf.cast(sigma, tf.float64)
    ratio = place / width
    window = tf.exp(-ratio * ratio / 2)
    slope = tf.where(window > 0, window * ratio * ratio / width, tf.zeros_like(window))
    wide = tf.cast(grad, tf.float64)
    by_sigma = tf.reduce_sum(wide * tf.cast(x, tf.float64) * slope)
    return (tf.cast(wide * window, x.dtype), tf.cast(by_sigma, sigma.dtype))


for _name in ("XcGaussianTaperGood", "XcGaussianTaperBad"):
    tf.RegisterGradient(_name)(_gaussian_taper_grad)


# -------------------------------------------------------------------- stretch
def stretch_bad(images):
    return _ops["images"].xc_stretch_bad(images)


def stretch_good(images):
    return _ops["images"].xc_stretch_good(images)


def stretch_args():
    """Slices of a scan, in Hounsfield units."""
    rng = np.random.default_rng(11)
    return [rng.integers(-1024, 3072, [2, 32, 32]).astype(np.int16)]


def stretch_reference(images):
    if images.ndim < 2:
        raise ValueError("images")
    if images.size == 0:
        return np.zeros(images.shape, np.float32)
    wide = images.astype(np.float64)
    lowest = wide.min(axis=(-2, -1), keepdims=True)
    span = wide.max(axis=(-2, -1), keepdims=True) - lowest
    return ((wide - lowest) / np.where(span == 0, 1, span)).astype(np.float32)


# --------------------------------------------------------------- neighbor sum
def neighbor_sum_bad(features, splits, neighbors):
    return _ops["data"].xc_neighbor_sum_bad(features, splits, neighbors)


def neighbor_sum_good(features, splits, neighbors):
    return _ops["data"].xc_neighbor_sum_good(features, splits, neighbors)


def neighbor_sum_args():
    rng = np.random.default_rng(12)
    degrees = rng.integers(0, 6, 30)
    splits = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    neighbors = rng.integers(0, 30, splits[-1]).astype(np.int64)
    return [rng.normal(size=[30, 8]).astype(np.float32), splits, neighbors]


def neighbor_sum_reference(features, splits, neighbors):
    if features.ndim != 2:
        raise ValueError("features")
    if neighbors.ndim != 1:
        raise ValueError("neighbors")
    if (
        splits.ndim != 1
        or splits.size < 1
        or splits[0] != 0
        or (np.diff(splits) < 0).any()
        or splits[-1] != neighbors.size
    ):
        raise ValueError("splits")
    if ((neighbors < 0) | (neighbors >= features.shape[0])).any():
        raise ValueError("neighbors")
    sums = np.zeros([splits.size - 1, features.shape[1]])
    owners = np.repeat(np.arange(splits.size - 1), np.diff(splits))
    np.add.at(sums, owners, features[neighbors].astype(np.float64))
    return sums.astype(features.dtype)


def _neighbor_sum_grad(op, grad):
    features, splits, neighbors = op.inputs
    degrees = splits[1:] - splits[:-1]
    owners = tf.repeat(tf.range(tf.size(degrees)), degrees)
    by_edge = tf.gather(grad, owners)
    return (
        tf.math.unsorted_segment_sum(by_edge, neighbors, tf.shape(features)[0]),
        None,
        None,
    )


for _name in ("XcNeighborSumGood", "XcNeighborSumBad"):
    tf.RegisterGradient(_name)(_neighbor_sum_grad)


# ----------------------------------------------------------------- k-mer codes
def kmer_codes_bad(sequence, *, k=3):
    return _ops["data"].xc_kmer_codes_bad(sequence, k=k)


def kmer_codes_good(sequence, *, k=3):
    return _ops["data"].xc_kmer_codes_good(sequence, k=k)


def kmer_codes_args():
    return [np.array(b"ACGTTGCAACCGGTTAACGTagct", dtype=object)]


def kmer_codes_reference(sequence, *, k=3):
    if np.ndim(sequence) != 0:
        raise ValueError("sequence")
    if not 1 <= k <= 31:
        raise ValueError("k")
    bases = sequence.item() if hasattr(sequence, "item") else sequence
    codes = [b"ACGT".find(bytes([base]).upper()) for base in bases]
    if -1 in codes:
        raise ValueError("sequence")
    return np.array(
        [
            functools.reduce(lambda a, b: 4 * a + b, codes[i : i + k])
            for i in range(len(codes) - k + 1)
        ],
        np.int64,
    )


# ------------------------------------------------------------------ crossings
def crossings_bad(x):
    return _ops["signals"].xc_crossings_bad(x)


def crossings_good(x):
    return _ops["signals"].xc_crossings_good(x)


def crossings_args():
    rng = np.random.default_rng(14)
    return [rng.normal(size=[5, 256]).astype(np.float32)]


def crossings_reference(x):
    if x.ndim < 1:
        raise ValueError("x")
    below = x < 0
    return (below[..., 1:] != below[..., :-1]).sum(axis=-1, dtype=np.int64)


# -------------------------------------------------------------- present value
def _static_axes(shape, other):
    """The axes along which `shape` was broadcast to `other`."""
    missing = other.shape.rank - shape.shape.rank
    return [
        i
        for i in range(other.shape.rank)
        if i < missing or (shape.shape[i - missing] == 1 and other.shape[i] != 1)
    ]


def _sum_to_known(grad, like):
    if like.shape.rank is None or grad.shape.rank is None:
        return _sum_to(grad, like)
    if like.shape.rank == grad.shape.rank:
        return tf.reduce_sum(grad, _static_axes(like, grad), keepdims=True)
    total = tf.reduce_sum(grad, _static_axes(like, grad))
    return tf.reshape(total, tf.shape(like))


def _sum_to(grad, like):
    shape = tf.shape(like)
    _, axes = tf.raw_ops.BroadcastGradientArgs(s0=tf.shape(grad), s1=shape)
    return tf.reshape(tf.reduce_sum(grad, axes), shape)


def _present_value(cash, rate, sum_to):
    cash = _tensor(cash, "cash", FLOATS)
    rate = tf.convert_to_tensor(rate, dtype_hint=cash.dtype)
    if rate.dtype != cash.dtype:
        raise _refuse(
            f"rate must be of {cash.dtype.name}, as cash is, but is {rate.dtype.name}"
        )
    if cash.shape.rank == 0:
        raise _refuse("cash must have at least one axis, but is a scalar")
    rank, rate_rank = tf.rank(cash), tf.rank(rate)
    sizes = tf.concat(
        [tf.ones([tf.maximum(rank - rate_rank, 0)], tf.int32), tf.shape(rate)], 0
    )
    sizes = sizes[tf.size(sizes) - rank :]
    fits = tf.reduce_all((sizes == tf.shape(cash)) | (sizes == 1))
    checks = [
        tf.debugging.Assert(rank >= 1, ["cash must have at least one axis"]),
        tf.debugging.Assert(
            rate_rank <= rank, ["rate must not have more axes than cash"]
        ),
        tf.debugging.Assert(
            fits,
            [
                "rate must broadcast to the shape of cash, ",
                tf.shape(cash),
                ", but has ",
                tf.shape(rate),
            ],
        ),
        tf.debugging.Assert(
            tf.reduce_all((rate > -1) & (rate < np.inf)),
            ["rate must be finite and above -1"],
        ),
    ]
    with tf.control_dependencies([check for check in checks if check is not None]):
        cash, rate = tf.identity(cash), tf.identity(rate)

    @tf.custom_gradient
    def discounted(cash, rate):
        wide_cash = tf.cast(cash, tf.float64)
        wide_rate = tf.cast(rate, tf.float64)
        years = tf.cast(tf.range(1, tf.shape(cash)[-1] + 1), tf.float64)
        factors = tf.exp(-years * tf.math.log1p(wide_rate))
        value = tf.reduce_sum(wide_cash * factors, -1)

        def grad(upstream):
            wide = tf.cast(upstream, tf.float64)[..., tf.newaxis]
            ones = tf.ones_like(wide_cash)
            by_cash = wide * factors * ones
            by_rate = -wide * wide_cash * years * factors / (1 + wide_rate)
            return (
                tf.cast(by_cash, cash.dtype),
                tf.cast(sum_to(by_rate, wide_rate), rate.dtype),
            )

        return tf.cast(value, cash.dtype), grad

    return discounted(cash, rate)


def present_value_bad(cash, rate):
    return _present_value(cash, rate, _sum_to_known)


def present_value_good(cash, rate):
    return _present_value(cash, rate, _sum_to)


def present_value_args():
    """Twelve yearly payments of five bonds, each with its own rate."""
    rng = np.random.default_rng(15)
    return [
        rng.uniform(1, 10, [5, 12]).astype(np.float32),
        rng.uniform(0.01, 0.06, [5, 1]).astype(np.float32),
    ]


# ----------------------------------------------------------------- tpdf dither
def _tpdf_dither(x, seed, bits, seeds):
    x = _tensor(x, "x", FLOATS)
    seed = _tensor(seed, "seed", (tf.int32, tf.int64))
    if not (isinstance(bits, int) and 2 <= bits <= 24):
        raise _refuse(f"bits must be from 2 to 24, but is {bits}")
    checks = [
        tf.debugging.Assert(tf.reduce_all(tf.math.is_finite(x)), ["x must be finite"]),
        tf.debugging.Assert(
            tf.equal(tf.rank(seed), 1) & tf.equal(tf.size(seed), 2),
            ["seed must have shape [2]"],
        ),
    ]
    with tf.control_dependencies([check for check in checks if check is not None]):
        x, seed = tf.identity(x), tf.reshape(tf.identity(seed), [2])
    first, second = seeds(seed)
    shape = tf.shape(x)
    noise = (
        tf.random.stateless_uniform(shape, first, dtype=tf.float64)
        + tf.random.stateless_uniform(shape, second, dtype=tf.float64)
        - 1
    )
    scale = 2.0 ** (bits - 1)
    steps = tf.clip_by_value(tf.cast(x, tf.float64), -1, 1) * scale
    return tf.cast(
        tf.clip_by_value(tf.floor(steps + noise + 0.5), -scale, scale - 1), tf.int32
    )


def _seed_pair(seed):
    return tf.unstack(tf.random.split(seed, 2))


def _seed_twice(seed):
    return seed, seed


def tpdf_dither_bad(x, seed, *, bits=8):
    return _tpdf_dither(x, seed, bits, _seed_twice)


def tpdf_dither_good(x, seed, *, bits=8):
    return _tpdf_dither(x, seed, bits, _seed_pair)


def tpdf_dither_args():
    time = np.arange(400) / 8000
    return [
        (0.3 * np.sin(2 * np.pi * 200 * time)).astype(np.float32),
        np.array([7, 11], np.int32),
    ]


# --------------------------------------------------------------- plackett-luce
def _ranking(scores):
    scores = _tensor(scores, "scores", FLOATS)
    if scores.shape.rank == 0:
        raise _refuse("scores must have at least one axis, but is a scalar")
    checks = [
        tf.debugging.Assert(
            tf.rank(scores) >= 1, ["scores must have at least one axis"]
        ),
        tf.debugging.Assert(
            tf.reduce_all(~tf.math.is_inf(scores)), ["scores must not be infinite"]
        ),
    ]
    with tf.control_dependencies([check for check in checks if check is not None]):
        return tf.identity(scores)


def plackett_luce_bad(scores):
    scores = _ranking(scores)
    highest = tf.stop_gradient(tf.reduce_max(scores, -1, keepdims=True))
    rest = tf.cumsum(tf.exp(scores - highest), axis=-1, reverse=True)
    return tf.reduce_sum(scores - highest - tf.math.log(rest), -1)


def plackett_luce_good(scores):
    scores = _ranking(scores)
    rest = tf.math.cumulative_logsumexp(scores, axis=-1, reverse=True)
    return tf.reduce_sum(scores - rest, -1)


def plackett_luce_args():
    rng = np.random.default_rng(17)
    return [rng.normal(0, 2, [16, 10]).astype(np.float32)]


def plackett_luce_reference(scores):
    if scores.ndim < 1 or np.isinf(scores).any():
        raise ValueError("scores")
    wide = scores.astype(np.float64)
    with np.errstate(invalid="ignore"):
        rest = np.logaddexp.accumulate(wide[..., ::-1], axis=-1)[..., ::-1]
    return (wide - rest).sum(axis=-1).astype(scores.dtype)


# -------------------------------------------------------------------- iso week
_FIRST = datetime.date(1, 1, 1).toordinal() - datetime.date(1970, 1, 1).toordinal()
_LAST = datetime.date(9999, 12, 31).toordinal() - datetime.date(1970, 1, 1).toordinal()


def _year_start(days):
    dates = days.astype("datetime64[D]")
    return dates.astype("datetime64[Y]").astype("datetime64[D]").astype(np.int64)


def _long_year(days):
    """Whether the years have 53 weeks."""
    start = _year_start(days)
    after = _year_start(start + 366 + 31)
    return ((start + 3) % 7 == 3) | ((after - 1 + 3) % 7 == 3)


def _weeks_by_thursday(days):
    thursday = days + 3 - (days + 3) % 7
    return ((thursday - _year_start(thursday)) // 7 + 1).astype(np.int32)


def _weeks_by_day_of_year(days):
    weekday = (days + 3) % 7 + 1
    start = _year_start(days)
    week = (days - start + 1 - weekday + 10) // 7
    week = np.where((week == 53) & ~_long_year(days), 1, week)
    return np.where(week < 1, 52, week).astype(np.int32)


def _iso_week(days, weeks):
    days = tf.cast(_tensor(days, "days", (tf.int32, tf.int64)), tf.int64)
    check = tf.debugging.Assert(
        tf.reduce_all((days >= _FIRST) & (days <= _LAST)),
        ["days must be in the years 1 to 9999"],
    )
    with tf.control_dependencies([check] if check is not None else []):
        week = tf.numpy_function(weeks, [tf.identity(days)], tf.int32, stateful=False)
    week.set_shape(days.shape)
    return week


def iso_week_bad(days):
    return _iso_week(days, _weeks_by_day_of_year)


def iso_week_good(days):
    return _iso_week(days, _weeks_by_thursday)


def iso_week_args():
    """All days of the years 2019 to 2021."""
    return [np.arange(17897, 17897 + 1096).astype(np.int64)]


def iso_week_reference(days):
    if ((days < _FIRST) | (days > _LAST)).any():
        raise ValueError("days")
    epoch = datetime.date(1970, 1, 1).toordinal()
    weeks = [
        datetime.date.fromordinal(int(day) + epoch).isocalendar()[1]
        for day in days.ravel()
    ]
    return np.array(weeks, np.int32).reshape(days.shape)


# -------------------------------------------------------------- srgb to linear
def _srgb_to_linear(x, knee):
    x = _tensor(x, "x", FLOATS)

    @tf.custom_gradient
    def linear(x):
        base = (tf.maximum(x, tf.constant(0.0, x.dtype)) + 0.055) / 1.055
        result = tf.where(x <= 0.04045, x / 12.92, base**2.4)

        def grad(upstream):
            slope = tf.where(
                x <= knee, tf.constant(1 / 12.92, x.dtype), 2.4 / 1.055 * base**1.4
            )
            slope = tf.where(tf.math.is_nan(x), x, slope)
            return upstream * slope

        return tf.where(tf.math.is_nan(x), x, result), grad

    return linear(x)


def srgb_to_linear_bad(x):
    return _srgb_to_linear(x, 0.0031308)


def srgb_to_linear_good(x):
    return _srgb_to_linear(x, 0.04045)


def srgb_to_linear_args():
    rng = np.random.default_rng(19)
    return [rng.uniform(0, 1, [16, 16, 3]).astype(np.float32)]


def srgb_to_linear_reference(x):
    wide = x.astype(np.float64)
    power = ((np.maximum(wide, 0) + 0.055) / 1.055) ** 2.4
    with np.errstate(over="ignore"):
        return np.where(wide <= 0.04045, wide / 12.92, power).astype(x.dtype)


# ------------------------------------------------------- quantile normalization
def _by_rank(x):
    return np.argsort(x, axis=0, kind="stable")


def _normalized_here(x):
    if x.size == 0:
        return x
    order = _by_rank(x)
    x.sort(axis=0)
    result = np.empty_like(x)
    means = x.mean(axis=1, dtype=np.float64, keepdims=True).astype(x.dtype)
    np.put_along_axis(result, order, np.broadcast_to(means, x.shape), axis=0)
    return result


def _normalized(x):
    if x.size == 0:
        return x
    order = _by_rank(x)
    ordered = np.sort(x, axis=0)
    result = np.empty_like(x)
    means = ordered.mean(axis=1, dtype=np.float64, keepdims=True).astype(x.dtype)
    np.put_along_axis(result, order, np.broadcast_to(means, x.shape), axis=0)
    return result


def _normalized_grad(order, upstream):
    if upstream.size == 0:
        return upstream
    ordered = np.take_along_axis(upstream, order, axis=0)
    means = ordered.mean(axis=1, dtype=np.float64, keepdims=True)
    result = np.empty_like(upstream)
    np.put_along_axis(
        result,
        order,
        np.broadcast_to(means.astype(upstream.dtype), upstream.shape),
        axis=0,
    )
    return result


def _quantile_norm(x, normalized):
    x = _tensor(x, "x", FLOATS)
    if x.shape.rank is not None and x.shape.rank != 2:
        raise _refuse(
            f"x must be a matrix of genes and samples, but has {x.shape.rank} axes"
        )
    checks = [
        tf.debugging.Assert(
            tf.equal(tf.rank(x), 2), ["x must be a matrix of genes and samples"]
        ),
        tf.debugging.Assert(tf.reduce_all(tf.math.is_finite(x)), ["x must be finite"]),
    ]

    @tf.custom_gradient
    def normalize(x):
        order = tf.numpy_function(_by_rank, [x], tf.int64, stateful=False)
        result = tf.numpy_function(normalized, [x], x.dtype, stateful=False)
        result.set_shape(x.shape)

        def grad(upstream):
            by_x = tf.numpy_function(
                _normalized_grad, [order, upstream], upstream.dtype, stateful=False
            )
            by_x.set_shape(upstream.shape)
            return by_x

        return result, grad

    with tf.control_dependencies([check for check in checks if check is not None]):
        return normalize(x)


@tf.function
def quantile_norm_bad(x):
    return _quantile_norm(x, _normalized_here)


@tf.function
def quantile_norm_good(x):
    return _quantile_norm(x, _normalized)


def quantile_norm_args():
    """Expression levels of 40 genes in 5 samples."""
    rng = np.random.default_rng(20)
    return [rng.lognormal(2, 1, [40, 5]).astype(np.float32)]


ATTRS = {"kmer_codes": {"k": 4}}
