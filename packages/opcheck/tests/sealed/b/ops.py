"""The Python side of the ops of the second author, with a bug and without."""

import functools
import math
import os

import numpy as np
import tensorflow as tf

_libraries = {
    name: tf.load_op_library(f"{os.environ['SEALED_OPS']}/libb_{name}.so")
    for name in ("audio", "maps", "options", "pixels", "records", "series")
}


# XdMuExpand


def mu_expand_bad(code, mu=255.0):
    return _libraries["audio"].xd_mu_expand_bad(code, mu=mu)


def mu_expand_good(code, mu=255.0):
    return _libraries["audio"].xd_mu_expand_good(code, mu=mu)


@tf.RegisterGradient("XdMuExpandBad")
def _mu_expand_bad_gradient(op, gradient):
    mu = op.get_attr("mu")
    rate = math.log(mu)
    height = tf.abs(tf.cast(op.inputs[0], tf.float64))
    slope = rate / mu * tf.exp(rate * height)
    return tf.cast(tf.cast(gradient, tf.float64) * slope, gradient.dtype)


@tf.RegisterGradient("XdMuExpandGood")
def _mu_expand_good_gradient(op, gradient):
    mu = op.get_attr("mu")
    rate = math.log1p(mu)
    height = tf.abs(tf.cast(op.inputs[0], tf.float64))
    slope = rate / mu * tf.exp(rate * height)
    return tf.cast(tf.cast(gradient, tf.float64) * slope, gradient.dtype)


def mu_expand_args():
    steps = np.linspace(-0.95, 0.85, 24)
    return [steps.reshape(2, 12).astype(np.float32)]


def mu_expand_reference(code, mu=255.0):
    if not (mu > 0 and np.isfinite(mu)):
        raise ValueError("mu")
    mu = np.float64(np.float32(mu))
    code = np.asarray(code)
    wide = code.astype(np.float64)
    with np.errstate(all="ignore"):
        signal = np.sign(wide) * np.expm1(np.abs(wide) * np.log1p(mu)) / mu
        return signal.astype(code.dtype)


# XdEnvelope


def envelope_bad(signal, decay=0.99):
    return _libraries["audio"].xd_envelope_bad(signal, decay=decay)


def envelope_good(signal, decay=0.99):
    return _libraries["audio"].xd_envelope_good(signal, decay=decay)


def envelope_args():
    time = np.arange(64) / 64
    left = np.exp(-5 * time) * np.sin(40 * time)
    right = np.exp(-3 * time) * np.cos(25 * time)
    return [np.stack([left, right]).astype(np.float32)]


def envelope_reference(signal, decay=0.99):
    signal = np.asarray(signal)
    if signal.ndim < 1 or not 0 <= decay <= 1:
        raise ValueError("signal or decay")
    decay = signal.dtype.type(np.float32(decay))
    envelope = np.empty_like(signal)
    level = np.zeros(signal.shape[:-1], signal.dtype)
    with np.errstate(all="ignore"):
        for i in range(signal.shape[-1]):
            level = np.maximum(np.abs(signal[..., i]), decay * level)
            envelope[..., i] = level
    return envelope


# XdGreatCircle


def great_circle_bad(start, goal, radius=6371.0):
    return _libraries["maps"].xd_great_circle_bad(start, goal, radius=radius)


def great_circle_good(start, goal, radius=6371.0):
    return _libraries["maps"].xd_great_circle_good(start, goal, radius=radius)


def great_circle_args():
    start = np.array([[52.52, 13.405], [48.857, 2.352], [-33.869, 151.209]])
    goal = np.array([[40.713, -74.006], [35.677, 139.65], [51.507, -0.128]])
    return [start, goal]


def great_circle_reference(start, goal, radius=6371.0):
    start, goal = np.asarray(start), np.asarray(goal)
    if start.ndim < 1 or start.shape[-1] != 2 or start.shape != goal.shape:
        raise ValueError("start or goal")
    if not (radius > 0 and np.isfinite(radius)):
        raise ValueError("radius")
    if np.any(np.abs(start[..., 0]) > 90) or np.any(np.abs(goal[..., 0]) > 90):
        raise ValueError("latitude")
    with np.errstate(all="ignore"):
        a, b = np.radians(start.astype(float)), np.radians(goal.astype(float))
        up, across = np.sin((b - a) / 2)[..., 0], np.sin((b - a) / 2)[..., 1]
        h = up**2 + np.cos(a[..., 0]) * np.cos(b[..., 0]) * across**2
        h = np.minimum(h, 1)
        angle = 2 * np.arctan2(np.sqrt(h), np.sqrt(1 - h))
        return np.asarray(np.float32(radius).astype(float) * angle).astype(start.dtype)


# XdPolygonArea


def polygon_area_bad(ring):
    return _libraries["maps"].xd_polygon_area_bad(ring)


def polygon_area_good(ring):
    return _libraries["maps"].xd_polygon_area_good(ring)


def _corners(ring):
    ring = tf.cast(ring, tf.float64)
    ring -= ring[..., :1, :]
    x, y = ring[..., 0], ring[..., 1]
    after_x, after_y = tf.roll(x, -1, -1), tf.roll(y, -1, -1)
    wide = tf.roll(x, 1, -1) - after_x
    high = after_y - tf.roll(y, 1, -1)
    return tf.reduce_sum(x * after_y - after_x * y, -1), tf.stack([high, wide], -1)


@tf.RegisterGradient("XdPolygonAreaBad")
def _polygon_area_bad_gradient(op, gradient):
    _, sides = _corners(op.inputs[0])
    scale = tf.cast(tf.convert_to_tensor(gradient), tf.float64) / 2
    return tf.cast(scale[..., None, None] * sides, gradient.dtype)


@tf.RegisterGradient("XdPolygonAreaGood")
def _polygon_area_good_gradient(op, gradient):
    twice, sides = _corners(op.inputs[0])
    scale = tf.cast(tf.convert_to_tensor(gradient), tf.float64) / 2 * tf.sign(twice)
    return tf.cast(scale[..., None, None] * sides, gradient.dtype)


def polygon_area_args():
    angle = np.linspace(0, 2 * np.pi, 6, endpoint=False)
    ring = np.stack([3 * np.cos(angle), 2 * np.sin(angle)], -1)
    return [np.stack([ring, 1.5 * ring + [4.0, -2.0], ring[:, :] * [1.0, 0.5]])]


def polygon_area_reference(ring):
    ring = np.asarray(ring)
    if ring.ndim < 2 or ring.shape[-1] != 2 or ring.shape[-2] < 3:
        raise ValueError("ring")
    with np.errstate(all="ignore"):
        moved = ring.astype(np.float64) - ring[..., :1, :]
        x, y = moved[..., 0], moved[..., 1]
        twice = np.sum(x * np.roll(y, -1, -1) - np.roll(x, -1, -1) * y, -1)
        return np.asarray(np.abs(twice) / 2).astype(ring.dtype)


# XdDtw


def dtw_bad(left, right, band=-1):
    return _libraries["series"].xd_dtw_bad(left, right, band=band)


def dtw_good(left, right, band=-1):
    return _libraries["series"].xd_dtw_good(left, right, band=band)


def dtw_args():
    time = np.arange(24.0)
    left = np.stack([np.sin(time / 3 - 1.5), np.cos(time / 5), np.sin(time / 3)])
    right = np.stack([np.sin(time / 3), np.cos(time / 4), np.sin(time / 2 + 0.3)])
    return [left, right]


def dtw_reference(left, right, band=-1):
    left, right = np.asarray(left), np.asarray(right)
    if left.ndim != 2 or right.ndim != 2 or len(left) != len(right) or band < -1:
        raise ValueError("left, right or band")
    n, m = left.shape[1], right.shape[1]
    if n == 0 or m == 0:
        raise ValueError("no steps")
    width = max(n, m) if band < 0 else max(band, abs(n - m))
    distance = np.empty(len(left))
    with np.errstate(all="ignore"):
        for row, (a, b) in enumerate(zip(left.astype(float), right.astype(float))):
            table = np.full((n + 1, m + 1), np.inf)
            table[0, 0] = 0
            for i in range(1, n + 1):
                for j in range(1, m + 1):
                    if abs(i - j) <= width:
                        near = [table[i - 1, j], table[i - 1, j - 1], table[i, j - 1]]
                        table[i, j] = abs(a[i - 1] - b[j - 1]) + np.min(near)
            distance[row] = table[n, m]
    return distance.astype(left.dtype)


# XdSeasonalDiff


def seasonal_diff_bad(series, period=1):
    return _libraries["series"].xd_seasonal_diff_bad(series, period=period)


def seasonal_diff_good(series, period=1):
    return _libraries["series"].xd_seasonal_diff_good(series, period=period)


def _seasonal_diff_gradient(op, gradient):
    period = op.get_attr("period")
    other = tf.zeros([tf.rank(gradient) - 1, 2], tf.int64)
    before = tf.concat([other, tf.constant([[period, 0]], tf.int64)], 0)
    after = tf.concat([other, tf.constant([[0, period]], tf.int64)], 0)
    result = tf.pad(gradient, before) - tf.pad(gradient, after)
    result.set_shape(op.inputs[0].shape)
    return result


tf.RegisterGradient("XdSeasonalDiffBad")(_seasonal_diff_gradient)
tf.RegisterGradient("XdSeasonalDiffGood")(_seasonal_diff_gradient)


def seasonal_diff_args():
    month = np.arange(36)
    sales = 100 + month + 20 * np.sin(month * np.pi / 6)
    return [np.stack([sales, 2 * sales - 30]).astype(np.float32)]


def seasonal_diff_reference(series, period=1):
    series = np.asarray(series)
    if series.ndim < 1 or period < 1 or period > series.shape[-1]:
        raise ValueError("series or period")
    with np.errstate(all="ignore"):
        return series[..., period:] - series[..., : series.shape[-1] - period]


# XdTrimmedMean


def trimmed_mean_bad(scores, trim=1):
    return _libraries["series"].xd_trimmed_mean_bad(scores, trim=trim)


def trimmed_mean_good(scores, trim=1):
    return _libraries["series"].xd_trimmed_mean_good(scores, trim=trim)


def trimmed_mean_args():
    return [
        np.array(
            [[9.1, 8.7, 9.4, 9.0, 6.5, 8.9], [7.5, 8.1, 9.9, 7.8, 8.0, 7.7]], np.float32
        )
    ]


def trimmed_mean_reference(scores, trim=1):
    scores = np.asarray(scores)
    if scores.ndim < 1 or trim < 0 or 2 * trim >= scores.shape[-1]:
        raise ValueError("scores or trim")
    ordered = np.sort(scores, -1)[..., trim : scores.shape[-1] - trim]
    with np.errstate(all="ignore"):
        mean = np.asarray(np.mean(ordered.astype(np.float64), -1))
    return np.where(np.isnan(scores).any(-1), np.nan, mean).astype(scores.dtype)


# XdReciprocalRank


def reciprocal_rank_bad(scores, target):
    return _libraries["records"].xd_reciprocal_rank_bad(scores, target)


def reciprocal_rank_good(scores, target):
    return _libraries["records"].xd_reciprocal_rank_good(scores, target)


def reciprocal_rank_args():
    scores = np.array(
        [[0.1, 0.7, 0.3, 0.9], [0.6, 0.2, 0.8, 0.1], [0.5, 0.4, 0.3, 0.2]], np.float32
    )
    return [scores, np.array([1, 2, 3], np.int32)]


def reciprocal_rank_reference(scores, target):
    scores, target = np.asarray(scores), np.asarray(target)
    if scores.ndim != 2 or target.shape != scores.shape[:1]:
        raise ValueError("scores or target")
    if np.any(target < 0) or np.any(target >= scores.shape[1]):
        raise ValueError("target")
    if len(target) == 0:
        return np.zeros(0, scores.dtype)
    own = np.take_along_axis(scores, target[:, None].astype(np.int64), 1)
    rank = 1.0 / (1 + np.sum(scores > own, 1))
    return np.where(np.isnan(own[:, 0]), np.nan, rank).astype(scores.dtype)


# XdDegree


def degree_bad(edges, nodes, most=2147483647):
    return _libraries["records"].xd_degree_bad(edges, nodes=nodes, most=most)


def degree_good(edges, nodes, most=2147483647):
    return _libraries["records"].xd_degree_good(edges, nodes=nodes, most=most)


def degree_args():
    return [np.array([[0, 1], [0, 2], [3, 0], [2, 3], [4, 4], [1, 3]], np.int32)]


def degree_reference(edges, nodes, most=2147483647):
    edges = np.asarray(edges)
    if edges.ndim != 2 or edges.shape[1] != 2 or nodes < 0 or most < 0:
        raise ValueError("edges")
    if np.any(edges < 0) or np.any(edges >= nodes):
        raise ValueError("edges")
    degree = np.bincount(edges.ravel().astype(np.int64), minlength=nodes)[:nodes]
    return np.minimum(degree, most).astype(np.int64)


# XdTicket


def ticket_bad(count, book="tickets"):
    return _libraries["records"].xd_ticket_bad(count, book=book)


def ticket_good(count, book="tickets"):
    return _libraries["records"].xd_ticket_good(count, book=book)


def ticket_args():
    return [np.array(3, np.int32)]


# XdReverseComplement


def reverse_complement_bad(reads):
    return _libraries["records"].xd_reverse_complement_bad(reads)


def reverse_complement_good(reads):
    return _libraries["records"].xd_reverse_complement_good(reads)


def reverse_complement_args():
    return [np.array([b"ACGTTGCA", b"GATTACA", b"ccgtNNAT", b"TTAGGGTTA"], object)]


_PAIRS = bytes.maketrans(b"ACGTNacgtn", b"TGCANtgcan")


def reverse_complement_reference(reads):
    reads = np.asarray(reads)
    strands = np.empty(reads.shape, object)
    for place in np.ndindex(reads.shape):
        read = bytes(reads[place])
        if read.translate(None, b"ACGTNacgtn"):
            raise ValueError("reads")
        strands[place] = read.translate(_PAIRS)[::-1]
    return strands


# XdBootstrap


def bootstrap_bad(values, seed, resamples=100):
    return _libraries["records"].xd_bootstrap_bad(values, seed, resamples=resamples)


def bootstrap_good(values, seed, resamples=100):
    return _libraries["records"].xd_bootstrap_good(values, seed, resamples=resamples)


def bootstrap_args():
    values = 50 + 10 * np.sin(np.arange(40) * 1.7)
    return [values, np.array([7, 11], np.int64)]


# XdLuminance


def luminance_bad(image):
    return _libraries["pixels"].xd_luminance_bad(image)


def luminance_good(image):
    return _libraries["pixels"].xd_luminance_good(image)


def luminance_args():
    return [np.random.default_rng(3).integers(0, 256, (6, 8, 3), np.uint8)]


def luminance_reference(image):
    image = np.asarray(image)
    if image.ndim < 1 or image.shape[-1] != 3:
        raise ValueError("image")
    shares = np.array([212656, 715158, 72186])
    total = np.asarray(image.astype(np.int64) @ shares)
    return np.asarray((total + 500000) // 1000000).astype(image.dtype)


# XdBlockMean


def block_mean_bad(images, block=2):
    return _libraries["pixels"].xd_block_mean_bad(images, block=block)


def block_mean_good(images, block=2):
    return _libraries["pixels"].xd_block_mean_good(images, block=block)


def _block_mean_gradient(op, gradient):
    images = op.inputs[0]
    block = tf.constant(op.get_attr("block"), tf.int64)
    size = tf.shape(images, tf.int64)
    blocks = tf.shape(gradient, tf.int64)
    rows = tf.minimum(block, size[1] - block * tf.range(blocks[1]))
    columns = tf.minimum(block, size[2] - block * tf.range(blocks[2]))
    scale = tf.cast(rows[:, None, None] * columns[:, None], gradient.dtype)
    result = tf.repeat(tf.repeat(gradient / scale, rows, 1), columns, 2)
    return tf.reshape(result, size)


tf.RegisterGradient("XdBlockMeanBad")(_block_mean_gradient)
tf.RegisterGradient("XdBlockMeanGood")(_block_mean_gradient)


def block_mean_args():
    image = np.random.default_rng(5).random((2, 8, 6, 3))
    return [image.astype(np.float32)]


def block_mean_reference(images, block=2):
    images = np.asarray(images)
    if images.ndim != 4 or block < 1:
        raise ValueError("images or block")
    n, height, width, channels = images.shape
    shape = (n, -(-height // block), -(-width // block), channels)
    means = np.empty(shape, images.dtype)
    with np.errstate(all="ignore"):
        for i in range(shape[1]):
            for j in range(shape[2]):
                part = images[
                    :, i * block : (i + 1) * block, j * block : (j + 1) * block
                ]
                means[:, i, j] = part.astype(np.float64).mean((1, 2))
    return means


# XdCallOption


def call_option_bad(spot, strike, volatility, years, rate=0.0):
    return tuple(
        _libraries["options"].xd_call_option_bad(
            spot, strike, volatility, years, rate=rate
        )
    )


def call_option_good(spot, strike, volatility, years, rate=0.0):
    return tuple(
        _libraries["options"].xd_call_option_good(
            spot, strike, volatility, years, rate=rate
        )
    )


def _normal(x):
    return tf.math.erfc(-x / math.sqrt(2)) / 2


def _density(x):
    return tf.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _price_parts(op):
    s, x, v, t = (tf.cast(value, tf.float64) for value in op.inputs)
    rate = float(np.float32(op.get_attr("rate")))
    root = tf.sqrt(t)
    log = tf.math.log(s) - tf.math.log(x)
    d1 = (log + (rate + v * v / 2) * t) / (v * root)
    later = tf.exp(-rate * t)
    other = _normal(d1 - v * root)
    by_price = (
        _normal(d1),
        -later * other,
        s * _density(d1) * root,
        s * _density(d1) * v / (2 * root) + rate * x * later * other,
    )
    by_delta = (
        _density(d1) / (s * v * root),
        -_density(d1) / (x * v * root),
        _density(d1) * (root - d1 / v),
        _density(d1) * ((rate + v * v / 2) / (2 * v * root) - log / (2 * v * t * root)),
    )
    return by_price, by_delta


@tf.RegisterGradient("XdCallOptionBad")
def _call_option_bad_gradient(op, price, delta):
    by_price, _ = _price_parts(op)
    up = tf.cast(price, tf.float64)
    return [tf.cast(up * part, price.dtype) for part in by_price]


@tf.RegisterGradient("XdCallOptionGood")
def _call_option_good_gradient(op, price, delta):
    by_price, by_delta = _price_parts(op)
    up = tf.cast(price, tf.float64)
    other = tf.cast(delta, tf.float64)
    return [
        tf.cast(up * part + other * second, price.dtype)
        for part, second in zip(by_price, by_delta)
    ]


def call_option_args():
    return [
        np.array([100.0, 95.0, 120.0, 80.0]),
        np.array([100.0, 105.0, 90.0, 85.0]),
        np.array([0.2, 0.35, 0.15, 0.5]),
        np.array([0.5, 1.0, 0.25, 2.0]),
    ]


def call_option_reference(spot, strike, volatility, years, rate=0.0):
    inputs = [np.asarray(value) for value in (spot, strike, volatility, years)]
    if any(value.shape != inputs[0].shape for value in inputs):
        raise ValueError("shapes")
    if any(np.any(value <= 0) for value in inputs) or not np.isfinite(rate):
        raise ValueError("not positive")
    dtype = inputs[0].dtype
    s, x, v, t = (value.astype(np.float64) for value in inputs)
    rate = np.float64(np.float32(rate))
    normal = np.vectorize(lambda z: math.erfc(-z / math.sqrt(2)) / 2, otypes=[float])
    with np.errstate(all="ignore"):
        spread = v * np.sqrt(t)
        d1 = (np.log(s) - np.log(x) + (rate + v * v / 2) * t) / spread
        price = s * normal(d1) - x * np.exp(-rate * t) * normal(d1 - spread)
        return np.asarray(price).astype(dtype), np.asarray(normal(d1)).astype(dtype)


# The ops composed in Python.


def _refuse(message):
    raise tf.errors.InvalidArgumentError(None, None, message)


def _floats(name, value):
    value = tf.convert_to_tensor(value)
    if value.dtype not in (tf.float32, tf.float64):
        _refuse(f"{name} must be float32 or float64, but is {value.dtype.name}")
    return value


def _same_dtype(name, value, other):
    if value.dtype != other.dtype:
        _refuse(f"{name} must be {other.dtype.name}, but is {value.dtype.name}")


def _rank(name, value, rank):
    if value.shape.rank is None:
        message = f"{name} must have {rank} axes"
        tf.debugging.Assert(tf.equal(tf.rank(value), rank), [message, tf.shape(value)])
        value = tf.ensure_shape(value, [None] * rank)
    elif value.shape.rank != rank:
        _refuse(f"{name} must have {rank} axes, but has the shape {value.shape}")
    return value


# XdPlummer: the energy of bodies that attract each other.


def _plummer_parts(positions, masses, softening):
    apart = positions[:, :, None, :] - positions[:, None, :, :]
    squared = tf.reduce_sum(apart * apart, -1) + softening**2
    inverse = tf.math.rsqrt(squared)
    inverse = tf.linalg.set_diag(inverse, tf.zeros_like(masses))
    return apart, inverse


def _plummer_energy(masses, inverse):
    potential = tf.linalg.matvec(inverse, masses)
    return -0.5 * tf.reduce_sum(masses * potential, -1)


def _pull(apart, inverse, masses):
    products = masses[:, :, None] * masses[:, None, :]
    return tf.reduce_sum((products * inverse**3)[..., None] * apart, 2)


@tf.function(autograph=False, reduce_retracing=True)
def _plummer_bad(positions, masses, softening):
    @tf.custom_gradient
    def energy(positions, masses):
        apart, inverse = _plummer_parts(positions, masses, softening)

        def gradient(upstream):
            by_position = _pull(apart, inverse, masses)
            by_mass = -tf.linalg.matvec(inverse, masses)
            return by_position, upstream[:, None] * by_mass

        return _plummer_energy(masses, inverse), gradient

    return energy(positions, masses)


@tf.function(autograph=False, reduce_retracing=True)
def _plummer_good(positions, masses, softening):
    @tf.custom_gradient
    def energy(positions, masses):
        apart, inverse = _plummer_parts(positions, masses, softening)

        def gradient(upstream):
            by_position = _pull(apart, inverse, masses)
            by_mass = -tf.linalg.matvec(inverse, masses)
            return upstream[:, None, None] * by_position, upstream[:, None] * by_mass

        return _plummer_energy(masses, inverse), gradient

    return energy(positions, masses)


def _plummer(body, positions, masses, softening):
    positions = _rank("positions", _floats("positions", positions), 3)
    masses = _rank("masses", _floats("masses", masses), 2)
    _same_dtype("masses", masses, positions)
    if not 1e-6 <= softening <= 1e6:
        _refuse(f"softening must be from 1e-6 to 1e6, but is {softening}")
    if positions.shape[2] not in (None, 3):
        _refuse(f"positions must have 3 coordinates, but has {positions.shape[2]}")
    if not positions.shape[:2].is_compatible_with(masses.shape):
        _refuse(
            f"masses must have the shape {positions.shape[:2]}, but has {masses.shape}"
        )
    checks = []
    if not (positions.shape.is_fully_defined() and masses.shape.is_fully_defined()):
        size = tf.shape(positions)
        fits = tf.reduce_all(tf.equal(size[:2], tf.shape(masses)))
        message = (
            "masses must have the first axes of positions, positions 3 coordinates"
        )
        checks.append(tf.debugging.Assert(fits & tf.equal(size[2], 3), [message, size]))
    with tf.control_dependencies([check for check in checks if check is not None]):
        return body(positions, masses, tf.constant(softening, positions.dtype))


def plummer_bad(positions, masses, softening=0.1):
    return _plummer(_plummer_bad, positions, masses, softening)


def plummer_good(positions, masses, softening=0.1):
    return _plummer(_plummer_good, positions, masses, softening)


# XdSpanMask: a random span of every spectrogram becomes silent.


def _mask_span(spectrograms, first, second):
    steps = tf.shape(spectrograms)[1]
    start = tf.cast(first * tf.cast(steps - second + 1, tf.float64), tf.int32)
    start = tf.minimum(start, steps - second)
    place = tf.range(steps)[None, :]
    hidden = (place >= start[:, None]) & (place < (start + second)[:, None])
    return tf.where(hidden[:, :, None], tf.zeros_like(spectrograms), spectrograms)


def _width(draw, longest, steps):
    longest = tf.cast(tf.minimum(tf.cast(steps, tf.int64), longest), tf.float64)
    return tf.cast(tf.minimum(draw * (longest + 1), longest), tf.int32)


@tf.function(autograph=False, reduce_retracing=True)
def _span_mask_bad(spectrograms, seed, longest):
    shape = tf.shape(spectrograms)
    draw = tf.random.uniform(shape[:1], dtype=tf.float64)
    width = _width(draw, longest, shape[1])
    first = tf.random.stateless_uniform(shape[:1], seed, dtype=tf.float64)
    return _mask_span(spectrograms, first, width)


@tf.function(autograph=False, reduce_retracing=True)
def _span_mask_good(spectrograms, seed, longest):
    shape = tf.shape(spectrograms)
    other = tf.random.fold_in(seed, 1)
    draw = tf.random.stateless_uniform(shape[:1], other, dtype=tf.float64)
    width = _width(draw, longest, shape[1])
    first = tf.random.stateless_uniform(shape[:1], seed, dtype=tf.float64)
    return _mask_span(spectrograms, first, width)


def _span_mask(body, spectrograms, seed, longest):
    spectrograms = _rank("spectrograms", _floats("spectrograms", spectrograms), 3)
    seed = tf.convert_to_tensor(seed)
    if seed.dtype not in (tf.int32, tf.int64):
        _refuse(f"seed must be int32 or int64, but is {seed.dtype.name}")
    seed = _rank("seed", seed, 1)
    if seed.shape[0] not in (None, 2):
        _refuse(f"seed must have 2 elements, but has {seed.shape[0]}")
    if not 0 <= longest < 2**31:
        _refuse(f"longest must be from 0 to 2147483647, but is {longest}")
    return body(spectrograms, seed, tf.constant(longest, tf.int64))


def span_mask_bad(spectrograms, seed, longest=10):
    return _span_mask(_span_mask_bad, spectrograms, seed, longest)


def span_mask_good(spectrograms, seed, longest=10):
    return _span_mask(_span_mask_good, spectrograms, seed, longest)


# XdEditDistance: insertions, deletions and replacements of characters.


def _distance(left, right):
    before = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        now = [i]
        for j, b in enumerate(right, 1):
            now.append(min(before[j] + 1, now[-1] + 1, before[j - 1] + (a != b)))
        before = now
    return before[-1]


def _texts(name, values):
    try:
        return [value.decode() for value in values.flat]
    except UnicodeDecodeError:
        raise ValueError(f"{name} must be UTF-8") from None


def _pairs(left, right):
    if left.shape != right.shape:
        raise ValueError(
            f"right must have the shape of left, {left.shape}, but has {right.shape}"
        )
    return zip(_texts("left", left), _texts("right", right))


def _objects(values):
    return np.asarray(values, object)


def _distances_bad(left, right):
    left, right = _objects(left), _objects(right)
    distances = [_distance(*pair) for pair in _pairs(left, right)]
    return np.array(distances).reshape(left.shape)


def _distances_good(left, right):
    left, right = _objects(left), _objects(right)
    distances = [_distance(*pair) for pair in _pairs(left, right)]
    return np.array(distances, np.int64).reshape(left.shape)


def _edit_distance(body, left, right):
    left = tf.convert_to_tensor(left)
    right = tf.convert_to_tensor(right)
    for name, value in (("left", left), ("right", right)):
        if value.dtype != tf.string:
            _refuse(f"{name} must be string, but is {value.dtype.name}")
    if not left.shape.is_compatible_with(right.shape):
        _refuse(f"right must have the shape of left, {left.shape}, not {right.shape}")
    try:
        distances = tf.numpy_function(body, [left, right], tf.int64, stateful=False)
    except ValueError as error:
        _refuse(str(error))
    distances.set_shape(left.shape.merge_with(right.shape))
    return distances


def edit_distance_bad(left, right):
    return _edit_distance(_distances_bad, left, right)


def edit_distance_good(left, right):
    return _edit_distance(_distances_good, left, right)


# XdExposure: images, lighter by some stops.


def _sum_to_bad(gradient, like):
    extra = tf.range(tf.rank(gradient) - tf.rank(like))
    return tf.reduce_sum(gradient, extra)


def _sum_to_good(gradient, like):
    shape = tf.shape(like)
    axes, _ = tf.raw_ops.BroadcastGradientArgs(s0=shape, s1=tf.shape(gradient))
    return tf.reshape(tf.reduce_sum(gradient, axes), shape)


def _exposure(sum_to, images, stops):
    images = _floats("images", images)
    stops = _floats("stops", stops)
    _same_dtype("stops", stops, images)
    if images.shape.rank is not None and stops.shape.rank is not None:
        try:
            tf.broadcast_static_shape(images.shape, stops.shape)
        except ValueError:
            _refuse(f"stops must broadcast with images: {stops.shape}, {images.shape}")

    @tf.custom_gradient
    def expose(images, stops):
        factor = tf.pow(tf.constant(2, stops.dtype), stops)
        lighter = images * factor

        def gradient(upstream):
            by_images = sum_to(upstream * factor, images)
            by_stops = sum_to(upstream * lighter * math.log(2), stops)
            return by_images, by_stops

        return lighter, gradient

    return expose(images, stops)


def exposure_bad(images, stops):
    return _exposure(_sum_to_bad, images, stops)


def exposure_good(images, stops):
    return _exposure(_sum_to_good, images, stops)


# XdMelBands: the power in bands that are as wide as hearing finds them.


def bank(bins, bands, rate):
    """[bins, bands]: triangles, evenly spaced in mel up to half the rate."""
    top = 2595 * np.log10(1 + rate / 2 / 700)
    edges = 700 * (10 ** (np.linspace(0, top, bands + 2) / 2595) - 1)
    frequency = np.linspace(0, rate / 2, bins)[:, None]
    lower, centre, upper = edges[:-2], edges[1:-1], edges[2:]
    rising = (frequency - lower) / (centre - lower)
    falling = (upper - frequency) / (upper - centre)
    return np.maximum(0.0, np.minimum(rising, falling))


_banks_bad = {}
_banks_good = {}


def _bank_bad(bands, rate, bins):
    key = (int(bins), bands)
    if key not in _banks_bad:
        _banks_bad[key] = bank(int(bins), bands, rate)
    return _banks_bad[key]


def _bank_good(bands, rate, bins):
    key = (int(bins), bands, rate)
    if key not in _banks_good:
        _banks_good[key] = bank(int(bins), bands, rate)
    return _banks_good[key]


def _mel_bands(get_bank, power, bands, rate):
    power = _floats("power", power)
    if power.shape.rank == 0:
        _refuse("power must have at least one axis, but is a scalar")
    if not 1 <= bands <= 4096:
        _refuse(f"bands must be from 1 to 4096, but is {bands}")
    if not (rate > 0 and math.isfinite(rate)):
        _refuse(f"rate must be positive and finite, but is {rate}")
    bins = tf.shape(power)[-1]
    get_bank = functools.partial(get_bank, bands, float(rate))
    weights = tf.numpy_function(get_bank, [bins], tf.float64, stateful=False)
    last = None if power.shape.rank is None else power.shape[-1]
    weights.set_shape([last, bands])
    weights = tf.cast(weights, power.dtype)
    rows = tf.reshape(power, [tf.reduce_prod(tf.shape(power)[:-1]), bins])
    shape = tf.concat([tf.shape(power)[:-1], [bands]], 0)
    result = tf.reshape(tf.matmul(rows, weights), shape)
    if power.shape.rank is not None:
        result.set_shape(power.shape[:-1].concatenate(bands))
    return result


def mel_bands_bad(power, bands=20, rate=16000.0):
    return _mel_bands(_bank_bad, power, bands, rate)


def mel_bands_good(power, bands=20, rate=16000.0):
    return _mel_bands(_bank_good, power, bands, rate)


def plummer_args():
    random = np.random.default_rng(8)
    return [random.normal(size=(2, 5, 3)), random.uniform(0.5, 2.0, (2, 5))]


def span_mask_args():
    spectrograms = 1 + np.random.default_rng(9).random((4, 50, 8))
    return [spectrograms.astype(np.float32), np.array([3, 5], np.int32)]


def edit_distance_args():
    left = np.array([b"kitten", b"M\xc3\xbcnchen", b"AB-123-C", b""], object)
    right = np.array([b"sitting", b"Munchen", b"AB-128-G", b"abc"], object)
    return [left, right]


def edit_distance_reference(left, right):
    left, right = np.asarray(left), np.asarray(right)
    if left.shape != right.shape:
        raise ValueError("shapes")
    distance = np.empty(left.shape, np.int64)
    for place in np.ndindex(left.shape):
        a, b = bytes(left[place]).decode(), bytes(right[place]).decode()

        @functools.lru_cache(None)
        def steps(i, j, a=a, b=b):
            if i == 0 or j == 0:
                return i + j
            return min(
                steps(i - 1, j) + 1,
                steps(i, j - 1) + 1,
                steps(i - 1, j - 1) + (a[i - 1] != b[j - 1]),
            )

        distance[place] = steps(len(a), len(b))
    return distance


def exposure_args():
    image = np.random.default_rng(12).random((2, 6, 4, 3))
    return [image, np.array([0.5, -1.0, 0.25])]


def exposure_reference(images, stops):
    with np.errstate(all="ignore"):
        return np.asarray(images * np.exp2(stops)).astype(np.asarray(images).dtype)


def mel_bands_args():
    power = np.random.default_rng(13).random((3, 7, 65))
    return [power.astype(np.float32)]


ATTRS = {
    "envelope": {"decay": 0.9},
    "dtw": {"band": 2},
    "seasonal_diff": {"period": 12},
    "degree": {"nodes": 6},
    "bootstrap": {"resamples": 1000},
    "call_option": {"rate": 0.03},
}
