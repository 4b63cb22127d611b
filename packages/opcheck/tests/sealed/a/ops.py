"""The Python side of the ops of the first author, and of each a reference in NumPy and a typical call."""

import functools
import os
import re

import numpy as np
import tensorflow as tf

# The library of one of them, with its bug or without.
OPS = tf.load_op_library(os.environ["SEALED_OP"])
for _name in ("PointInPolygon", "QuantizeChannels", "RandomSphere"):
    tf.no_gradient(f"Ua{_name}")


def add_months(days, months):
    """Returns the dates `days` (days since 1970-01-01) moved by `months`."""
    return OPS.ua_add_months(days, months)


def add_months_reference(days, months):
    days, months = np.asarray(days), np.asarray(months)
    if days.shape != months.shape:
        raise ValueError("months must have the shape of days")
    if ((days < -719162) | (days > 2932896)).any():
        raise ValueError("days out of range")
    if (abs(months.astype(np.float64)) > 120000).any():
        raise ValueError("months out of range")
    date = days.astype("datetime64[D]")
    month = date.astype("datetime64[M]")
    day = date - month.astype("datetime64[D]")
    new = month + months
    year = new.astype("datetime64[Y]").astype(np.int64) + 1970
    if ((year < 1) | (year > 9999)).any():
        raise ValueError("months out of range")
    last = (new + 1).astype("datetime64[D]") - np.timedelta64(1, "D")
    return np.minimum(new.astype("datetime64[D]") + day, last).astype(np.int64)


def ceil_to_multiple(x, multiple):
    """Returns for each x the smallest multiple of `multiple` that is not less."""
    return OPS.ua_ceil_to_multiple(x, multiple)


def ceil_to_multiple_reference(x, multiple):
    x, multiple = np.asarray(x), np.asarray(multiple)
    if multiple.ndim or multiple <= 0:
        raise ValueError("multiple must be a positive scalar")
    m = int(multiple)
    out = [-(-int(v) // m) * m for v in x.ravel()]
    if any(v > np.iinfo(x.dtype).max for v in out):
        raise ValueError("x is too large")
    return np.array(out, x.dtype).reshape(x.shape)


@tf.RegisterGradient("UaCenterCrop")
def _center_crop_grad(op, g):
    size = tf.shape(op.inputs[0])[1:3]
    kept = tf.stack([op.get_attr("height"), op.get_attr("width")])
    before = (size - kept) // 2
    after = size - kept - before
    zero = [0, 0]
    return tf.pad(
        g, tf.stack([zero, [before[0], after[0]], [before[1], after[1]], zero])
    )


def center_crop(images, *, height, width):
    """Returns the middle [batch, height, width, channels] of images."""
    return OPS.ua_center_crop(images, height=height, width=width)


def center_crop_reference(images, *, height, width):
    images = np.asarray(images)
    if (
        images.ndim != 4
        or not 1 <= height <= images.shape[1]
        or not 1 <= width <= images.shape[2]
    ):
        raise ValueError(
            "images must be [batch, rows, columns, channels] and large enough"
        )
    top, left = (images.shape[1] - height) // 2, (images.shape[2] - width) // 2
    return images[:, top : top + height, left : left + width]


@tf.RegisterGradient("UaCoalesceCoo")
def _coalesce_coo_grad(op, unused_indices, dvalues, unused_position):
    return None, tf.gather(dvalues, op.outputs[2]), None


def coalesce_coo(indices, values, dense_shape):
    """Returns sorted indices [m, 2], summed values [m] and the position [n] of each entry."""
    return OPS.ua_coalesce_coo(indices, values, dense_shape)


def coalesce_coo_reference(indices, values, dense_shape):
    indices, values, shape = (
        np.asarray(indices),
        np.asarray(values),
        np.asarray(dense_shape),
    )
    if (
        indices.ndim != 2
        or indices.shape[1] != 2
        or values.shape != indices.shape[:1]
        or shape.shape != (2,)
    ):
        raise ValueError("indices must be [n, 2], values [n], dense_shape [2]")
    if (shape < 0).any() or (indices < 0).any() or (indices >= shape).any():
        raise ValueError("indices out of bounds")
    keys = [tuple(map(int, i)) for i in indices]
    unique = sorted(set(keys))
    place = {k: i for i, k in enumerate(unique)}
    position = np.array([place[k] for k in keys], np.int64)
    sums = np.zeros(len(unique), values.dtype)
    with np.errstate(all="ignore"):
        for p, v in zip(position, values):
            sums[p] += v
    return np.array(unique, np.int64).reshape(-1, 2), sums, position


def component_labels(edges, *, num_nodes):
    """Returns the smallest node of the component of each node, and the number of components."""
    return OPS.ua_component_labels(edges, num_nodes=num_nodes)


def component_labels_reference(edges, *, num_nodes):
    edges = np.asarray(edges)
    if edges.ndim != 2 or edges.shape[1] != 2 or num_nodes < 0:
        raise ValueError("edges must be [num_edges, 2]")
    if ((edges < 0) | (edges >= num_nodes)).any():
        raise ValueError("edges out of range")
    labels = np.arange(num_nodes, dtype=np.int64)
    for _ in range(num_nodes):
        before = labels.copy()
        for u, v in edges:
            labels[u] = labels[v] = min(labels[u], labels[v])
        if (before == labels).all():
            break
    return labels, np.int64(len(set(labels)))


def dtw_distance(a, b):
    """Returns the distance of a[i] and b[i] for each i; a is [batch, n], b is [batch, m]."""
    return OPS.ua_dtw_distance(a, b)


def dtw_distance_reference(a, b):
    a, b = np.asarray(a), np.asarray(b)
    if (
        a.ndim != 2
        or b.ndim != 2
        or len(a) != len(b)
        or a.shape[1] < 1
        or b.shape[1] < 1
    ):
        raise ValueError(
            "a and b must be [batch, n] and [batch, m], n and m at least 1"
        )
    n, m = a.shape[1], b.shape[1]
    d = np.full((len(a), n + 1, m + 1), np.inf, a.dtype)
    d[:, 0, 0] = 0
    with np.errstate(all="ignore"):
        for i in range(n):
            for j in range(m):
                best = np.minimum(
                    np.minimum(d[:, i, j], d[:, i, j + 1]), d[:, i + 1, j]
                )
                d[:, i + 1, j + 1] = np.abs(a[:, i] - b[:, j]) + best
    finite = np.isfinite(a).all(1) & np.isfinite(b).all(1)
    return np.where(finite, d[:, n, m], a.dtype.type(np.nan))


@tf.RegisterGradient("UaExpSmooth")
def _exp_smooth_grad(op, dy):
    return OPS.ua_exp_smooth_grad(dy, op.inputs[0], op.outputs[0], op.inputs[1])


def exp_smooth(x, alpha):
    """Returns y with y[0] = x[0] and y[t] = alpha * x[t] + (1 - alpha) * y[t - 1] along the last axis."""
    return OPS.ua_exp_smooth(x, alpha)


def exp_smooth_reference(x, alpha):
    x, alpha = np.asarray(x), np.asarray(alpha)
    if x.ndim < 1 or alpha.ndim:
        raise ValueError("x must have an axis, alpha none")
    if not 0 < alpha <= 1:
        raise ValueError("alpha must be in (0, 1]")
    y = x.copy()
    for t in range(1, x.shape[-1]):
        y[..., t] = alpha * x[..., t] + (1 - alpha) * y[..., t - 1]
    return y


@tf.RegisterGradient("UaGatherWindows")
def _gather_windows_grad(op, g):
    params, starts = op.inputs
    return OPS.ua_gather_windows_grad(
        g, params, starts, width=op.get_attr("width")
    ), None


def gather_windows(params, starts, *, width):
    """Returns [k, width, ...] with the rows starts[i], ..., starts[i] + width - 1 of params."""
    return OPS.ua_gather_windows(params, starts, width=width)


def gather_windows_reference(params, starts, *, width):
    params, starts = np.asarray(params), np.asarray(starts)
    if params.ndim < 1 or starts.ndim != 1 or width < 1:
        raise ValueError("params must be [n, ...], starts [k]")
    if ((starts < 0) | (starts > len(params) - width)).any():
        raise ValueError("starts out of range")
    return params[starts[:, None].astype(np.int64) + np.arange(width)]


@tf.RegisterGradient("UaLogAbsDet")
def _log_abs_det_grad(op, unused_dsign, dlog_abs):
    return OPS.ua_log_abs_det_grad(dlog_abs, op.inputs[0])


def log_abs_det(a):
    """Returns sign and log(abs()) of the determinant of each matrix [..., n, n]."""
    return OPS.ua_log_abs_det(a)


def log_abs_det_reference(a):
    a = np.asarray(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError("a must be [..., n, n]")
    finite = np.isfinite(a).all((-1, -2))
    sign, log_abs = np.linalg.slogdet(
        np.where(finite[..., None, None], a, 0).astype(np.float64)
    )
    return np.where(finite, sign, np.nan).astype(a.dtype), np.where(
        finite, log_abs, np.nan
    ).astype(a.dtype)


def nan_median(x):
    """Returns the median over the last axis of the elements that are not NaN."""
    return OPS.ua_nan_median(x)


def nan_median_reference(x):
    x = np.asarray(x)
    if x.ndim < 1:
        raise ValueError("x must be at least one-dimensional")
    n = x.shape[-1]
    out = np.full(int(np.prod(x.shape[:-1])), np.nan, x.dtype)
    rows = x.reshape(len(out), n)
    for i, row in enumerate(rows):
        v = np.sort(row[~np.isnan(row)])
        if len(v):
            with np.errstate(all="ignore"):
                lo, hi = v[(len(v) - 1) // 2], v[len(v) // 2]
                out[i] = (
                    lo
                    if len(v) % 2
                    else ((lo + hi) / 2 if np.isfinite(lo + hi) else lo / 2 + hi / 2)
                )
    return out.reshape(x.shape[:-1])


def natural_argsort(strings):
    """Returns the order that sorts strings, with runs of digits compared as numbers."""
    return OPS.ua_natural_argsort(strings)


def _compare(a, b):
    while a and b:
        if a[:1].isdigit() and b[:1].isdigit():
            x, y = re.match(rb"[0-9]+", a)[0], re.match(rb"[0-9]+", b)[0]
            if int(x) != int(y):
                return -1 if int(x) < int(y) else 1
            a, b = a[len(x) :], b[len(y) :]
        elif a[0] != b[0]:
            return a[0] - b[0]
        else:
            a, b = a[1:], b[1:]
    return len(a[:1]) - len(b[:1])


def natural_argsort_reference(strings):
    strings = np.asarray(strings, object)
    if strings.ndim != 1:
        raise ValueError("strings must be a vector")
    key = functools.cmp_to_key(_compare)
    return np.array(
        sorted(range(len(strings)), key=lambda i: key(strings[i])), np.int64
    )


def parse_csv(lines, *, num_fields, delimiter=","):
    """Returns the fields of each line, [..., num_fields]."""
    return OPS.ua_parse_csv(lines, num_fields=num_fields, delimiter=delimiter)


def _split(line, delimiter):
    fields, pos = [], 0
    while True:
        if line[pos : pos + 1] == b'"':
            field = b""
            pos += 1
            while True:
                end = line.find(b'"', pos)
                if end < 0:
                    raise ValueError("unterminated quote")
                field += line[pos:end]
                pos = end + 1
                if line[pos : pos + 1] != b'"':
                    break
                field += b'"'
                pos += 1
            if pos < len(line) and line[pos : pos + 1] != delimiter:
                raise ValueError("text after a closing quote")
        else:
            end = line.find(delimiter, pos)
            end = len(line) if end < 0 else end
            field = line[pos:end]
            if b'"' in field:
                raise ValueError("quote inside a plain field")
            pos = end
        fields.append(field)
        if pos >= len(line):
            return fields
        pos += 1


def parse_csv_reference(lines, *, num_fields, delimiter=","):
    lines = np.asarray(lines, object)
    delimiter = delimiter.encode()
    if len(delimiter) != 1 or delimiter == b'"' or num_fields < 1:
        raise ValueError("bad delimiter or num_fields")
    out = []
    for line in lines.ravel():
        fields = _split(line, delimiter)
        if len(fields) != num_fields:
            raise ValueError("wrong number of fields")
        out += fields
    return np.array(out, object).reshape(lines.shape + (num_fields,))


@tf.RegisterGradient("UaPeakToPeak")
def _peak_to_peak_grad(op, g):
    x = op.inputs[0]
    axis = op.get_attr("axis")
    if not op.get_attr("keep_dims"):
        g = tf.expand_dims(g, axis)

    def share(extreme):
        mask = tf.cast(tf.equal(x, extreme), x.dtype)
        return mask / tf.reduce_sum(mask, axis, keepdims=True)

    high = share(tf.reduce_max(x, axis, keepdims=True))
    low = share(tf.reduce_min(x, axis, keepdims=True))
    return g * (high - low)


def peak_to_peak(x, *, axis=-1, keep_dims=False):
    """Returns the maximum minus the minimum along the axis."""
    return OPS.ua_peak_to_peak(x, axis=axis, keep_dims=keep_dims)


def peak_to_peak_reference(x, *, axis=-1, keep_dims=False):
    x = np.asarray(x)
    if not -x.ndim <= axis < x.ndim or x.shape[axis] == 0:
        raise ValueError("axis out of range or empty")
    with np.errstate(all="ignore"):
        return x.max(axis, keepdims=keep_dims) - x.min(axis, keepdims=keep_dims)


def point_in_polygon(points, polygon):
    """Returns for points [..., 2] whether each lies inside polygon [m, 2]."""
    return OPS.ua_point_in_polygon(points, polygon)


def point_in_polygon_reference(points, polygon):
    points, polygon = np.asarray(points), np.asarray(polygon)
    if points.ndim < 1 or points.shape[-1] != 2:
        raise ValueError("points must be [..., 2]")
    if (
        polygon.ndim != 2
        or polygon.shape[1] != 2
        or len(polygon) < 3
        or not np.isfinite(polygon).all()
    ):
        raise ValueError("polygon must be [m, 2], m >= 3, finite")
    x, y = np.moveaxis(points.astype(np.float64), -1, 0)
    inside = np.zeros(points.shape[:-1], bool)
    corners = polygon.astype(np.float64)
    with np.errstate(all="ignore"):
        for (xi, yi), (xj, yj) in zip(corners, np.roll(corners, 1, 0)):
            crosses = (yi > y) != (yj > y)
            inside ^= crosses & (x < xi + (xj - xi) * ((y - yi) / (yj - yi)))
    return inside


def quantize_channels(x, scale, zero_point):
    """Returns round(x / scale) + zero_point as int8; scale and zero_point are per channel, the last axis of x."""
    return OPS.ua_quantize_channels(x, scale, zero_point)


def quantize_channels_reference(x, scale, zero_point):
    x, scale, zero_point = np.asarray(x), np.asarray(scale), np.asarray(zero_point)
    if x.ndim < 1 or scale.shape != x.shape[-1:] or zero_point.shape != x.shape[-1:]:
        raise ValueError("scale and zero_point must be [channels]")
    if (
        not np.isfinite(scale).all()
        or (scale <= 0).any()
        or (abs(zero_point.astype(np.int64) + 0.5) > 128).any()
    ):
        raise ValueError("scale must be positive, zero_point in [-128, 127]")
    with np.errstate(all="ignore"):
        v = np.rint(x / scale).astype(np.float64)
    v = np.where(np.isnan(x), 0, v)
    return np.clip(v + zero_point, -128, 127).astype(np.int8)


def random_sphere(shape, *, dim, seed=0, seed2=0, dtype=tf.float32):
    """Returns random points [shape..., dim] of length one; every call draws new ones."""
    return OPS.ua_random_sphere(shape, dim=dim, seed=seed, seed2=seed2, T=dtype)


@tf.RegisterGradient("UaRunLengthDecode")
def _run_length_decode_grad(op, g):
    counts = op.inputs[1]
    n = tf.size(counts)
    run = tf.repeat(tf.range(n), counts)
    return tf.math.unsorted_segment_sum(g, run, n), None


def run_length_decode(values, counts):
    """Returns a vector with values[i] repeated counts[i] times."""
    return OPS.ua_run_length_decode(values, counts)


def run_length_decode_reference(values, counts):
    values, counts = np.asarray(values), np.asarray(counts)
    if values.ndim != 1 or counts.ndim != 1 or len(values) != len(counts):
        raise ValueError("values and counts must be vectors of one length")
    if (counts < 0).any():
        raise ValueError("counts must not be negative")
    return np.repeat(values, counts)


def scatter_decay(variable, indices, updates, *, decay):
    """Moves variable[indices] towards updates and returns the new value; an array is put in a new variable."""
    if not isinstance(variable, tf.Variable):
        variable = tf.Variable(variable)
    OPS.ua_scatter_decay(variable.handle, indices, updates, decay=decay)
    return variable.read_value()


def scatter_decay_reference(variable, indices, updates, *, decay):
    value, indices, updates = (
        np.array(variable),
        np.asarray(indices),
        np.asarray(updates),
    )
    if not 0 <= decay <= 1 or value.ndim < 1 or indices.ndim != 1:
        raise ValueError("bad decay, variable or indices")
    if (
        updates.shape != indices.shape + value.shape[1:]
        or ((indices < 0) | (indices >= len(value))).any()
    ):
        raise ValueError("bad indices or updates")
    decay = value.dtype.type(np.float32(decay))
    for i, row in zip(indices, updates):
        value[i] = decay * value[i] + (1 - decay) * row
    return value


@tf.RegisterGradient("UaSegmentWeightedMean")
def _segment_weighted_mean_grad(op, dmean, dtotal):
    data, weights, ids = op.inputs
    mean, total = op.outputs
    shape = tf.concat([tf.shape(weights), tf.ones([tf.rank(data) - 1], tf.int32)], 0)
    axes = tf.range(1, tf.rank(data))
    row_total = tf.gather(total, ids)
    row_grad = tf.gather(dmean, ids)
    share = tf.math.divide_no_nan(weights, row_total)
    ddata = row_grad * tf.reshape(share, shape)
    dot = tf.reduce_sum(row_grad * (data - tf.gather(mean, ids)), axes)
    dweights = tf.math.divide_no_nan(dot, row_total) + tf.gather(dtotal, ids)
    return ddata, dweights, None


def segment_weighted_mean(data, weights, segment_ids, *, num_segments):
    """Returns the weighted mean [num_segments, ...] and the total weight [num_segments] of each segment."""
    return OPS.ua_segment_weighted_mean(
        data, weights, segment_ids, num_segments=num_segments
    )


def segment_weighted_mean_reference(data, weights, segment_ids, *, num_segments):
    data, weights, ids = np.asarray(data), np.asarray(weights), np.asarray(segment_ids)
    if data.ndim < 1 or weights.shape != data.shape[:1] or ids.shape != data.shape[:1]:
        raise ValueError("data must be [n, ...], weights and segment_ids [n]")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("weights must be finite and not negative")
    if ((ids < 0) | (ids >= num_segments)).any():
        raise ValueError("segment_ids out of range")
    mean = np.zeros((num_segments,) + data.shape[1:], np.float64)
    total = np.zeros(num_segments, np.float64)
    for row, w, s in zip(data.astype(np.float64), weights.astype(np.float64), ids):
        if w:
            mean[s] += w * row
            total[s] += w
    for s in range(num_segments):
        mean[s] = mean[s] / total[s] if total[s] else 0
    return mean.astype(data.dtype), total.astype(data.dtype)


@tf.RegisterGradient("UaSoftThreshold")
def _soft_threshold_grad(op, dy):
    return OPS.ua_soft_threshold_grad(dy, op.inputs[0], op.inputs[1])


def soft_threshold(x, threshold):
    """Returns sign(x) * max(|x| - threshold, 0)."""
    return OPS.ua_soft_threshold(x, threshold)


def soft_threshold_reference(x, threshold):
    x = np.asarray(x)
    threshold = np.asarray(threshold)
    if threshold.ndim:
        raise ValueError("threshold must be a scalar")
    if not np.isfinite(threshold) or threshold < 0:
        raise ValueError("threshold must be finite and not negative")
    return np.where(
        np.abs(x) <= threshold, x.dtype.type(0), np.copysign(np.abs(x) - threshold, x)
    )


# Function: inputs and attrs of one call.
SAMPLES = {
    "add_months": (
        [
            np.array(
                ["2023-01-31", "2024-01-31", "2023-05-15", "2023-12-01", "2023-03-31"],
                "datetime64[D]",
            ).astype(np.int64),
            np.int64([1, 1, 2, 1, -1]),
        ],
        {},
    ),
    "ceil_to_multiple": ([np.int32([0, 1, 7, 8, 9, 100, -16]), np.int32(8)], {}),
    "center_crop": (
        [np.arange(30, dtype=np.float32).reshape(1, 5, 6, 1)],
        {"height": 2, "width": 2},
    ),
    "coalesce_coo": (
        [
            np.int64([[2, 1], [0, 3], [2, 1], [1, 0]]),
            np.float32([1, 2, 3, 4]),
            np.int64([3, 4]),
        ],
        {},
    ),
    "component_labels": (
        [np.int64([[0, 1], [1, 2], [3, 4], [4, 5], [6, 6]])],
        {"num_nodes": 8},
    ),
    "dtw_distance": (
        [
            np.float32([[0, 1, 2, 3, 2, 0], [1, 1, 1, 2, 3, 4]]),
            np.float32([[0, 0, 1, 3, 1], [1, 2, 2, 4, 4]]),
        ],
        {},
    ),
    "exp_smooth": (
        [np.float32([[1, 2, 4, 3, 5], [0, -1, 2, 2, 0]]), np.float32(0.3)],
        {},
    ),
    "gather_windows": (
        [np.arange(16, dtype=np.float32).reshape(8, 2), np.int32([0, 5, 3])],
        {"width": 2},
    ),
    "log_abs_det": (
        [
            np.float32(
                [[[4, 1, 0], [1, 3, -1], [0, -1, 2]], [[2, 0, 1], [0, 5, 2], [1, 2, 3]]]
            )
        ],
        {},
    ),
    "nan_median": (
        [
            np.float32(
                [
                    [3.0, 1.0, 2.0, np.nan],
                    [5.0, np.nan, 4.0, np.nan],
                    [9.0, 7.0, 8.0, np.nan],
                ]
            )
        ],
        {},
    ),
    "natural_argsort": (
        [
            np.array(
                [b"img12", b"img10", b"img2", b"IMG3", b"img1", b"doc", b"img2a"],
                object,
            )
        ],
        {},
    ),
    "parse_csv": (
        [
            np.array(
                [b"1,Ada,London", b'2,"Lovelace, A.","say ""hi"""', b"3,,Turin"], object
            )
        ],
        {"num_fields": 3},
    ),
    "peak_to_peak": ([np.float32([[1, 5, 2], [-3, 0, 4]])], {"axis": 1}),
    "point_in_polygon": (
        [
            np.float32([[0.5, 0.5], [2.0, 1.5], [3.5, 0.5], [-1.0, 1.0], [5.0, 0.2]]),
            np.float32([[0, 0], [4, 0], [4, 2], [2, 3], [0, 2]]),
        ],
        {},
    ),
    "quantize_channels": (
        [
            np.float32([[0.1, -1.0], [0.25, 2.0], [-0.4, 300.0], [50.0, -400.0]]),
            np.float32([0.1, 0.5]),
            np.int32([0, -3]),
        ],
        {},
    ),
    "random_sphere": ([np.int32([4])], {"dim": 3, "seed": 7}),
    "run_length_decode": (
        [np.float32([1.5, 2.5, -3.0, 4.0]), np.int32([3, 1, 0, 2])],
        {},
    ),
    "scatter_decay": (
        [
            np.float32([[1, 2], [3, 4], [5, 6]]),
            np.int32([2, 0]),
            np.float32([[10, 10], [0, 0]]),
        ],
        {"decay": 0.75},
    ),
    "segment_weighted_mean": (
        [
            np.float32([[1, 2], [3, 4], [5, 6], [7, 8]]),
            np.float32([1, 3, 0.5, 1.5]),
            np.int32([0, 0, 2, 2]),
        ],
        {"num_segments": 3},
    ),
    "soft_threshold": (
        [np.float32([-2.0, -0.3, 0.0, 0.4, 1.0, 2.5]), np.float32(0.5)],
        {},
    ),
}
