"""The Python side of the ops of the second author, and of each a reference in NumPy and a typical call."""

import datetime
import decimal
import os
import re

import numpy as np
import tensorflow as tf

# The library of one of them, with its bug or without.
OPS = tf.load_op_library(os.environ["SEALED_OP"])
_WITHOUT_GRADIENT = (
    "BinCounts Components DayCount IdRemap LotSplit Ndcg NegativeSample "
    "ParseMoney PolylineEncode QuantizeChannels TokenErrorRate"
)
for _name in _WITHOUT_GRADIENT.split():
    tf.no_gradient(f"Ub{_name}")


def bin_counts(values, edges):
    """int64 counts of float values between strictly increasing edges (last bin closed)."""
    return OPS.ub_bin_counts(values, edges)


def _flush(x):
    # TensorFlow's kernels take denormal numbers for 0.
    x = np.asarray(x)
    return np.where(np.abs(x) < np.finfo(x.dtype).tiny, np.zeros_like(x), x)


def bin_counts_reference(values, edges):
    values, edges = _flush(values).ravel(), _flush(edges)
    if edges.ndim != 1 or len(edges) < 2 or not np.all(edges[:-1] < edges[1:]):
        raise ValueError("edges must be strictly increasing")
    index = np.searchsorted(edges, values, side="right") - 1
    index[values == edges[-1]] = len(edges) - 2
    valid = (values >= edges[0]) & (values <= edges[-1])
    return np.bincount(index[valid], minlength=len(edges) - 1).astype(np.int64)


def components(edges, num_nodes):
    """int64 [num_nodes] component labels of int64 [m, 2] undirected edges; num_nodes is an int64 scalar."""
    return OPS.ub_components(edges, num_nodes)


def components_reference(edges, num_nodes):
    edges, num_nodes = np.asarray(edges), np.asarray(num_nodes)
    if edges.ndim != 2 or edges.shape[1] != 2 or num_nodes.ndim != 0 or num_nodes < 0:
        raise ValueError(
            "edges must have shape [m, 2], num_nodes must be a scalar and not negative"
        )
    if np.any(edges < 0) or np.any(edges >= num_nodes):
        raise ValueError("edges out of range")
    labels = np.arange(int(num_nodes), dtype=np.int64)
    for u, v in edges:
        a, b = labels[u], labels[v]
        labels[(labels == a) | (labels == b)] = min(a, b)
    return labels


def day_count(start, end):
    """30/360 days from start to end, both int32 yyyymmdd of one shape."""
    return OPS.ub_day_count(start, end)


def _date(packed):
    packed = int(packed)
    if packed < 0:
        raise ValueError("no date")
    return datetime.date(packed // 10000, packed // 100 % 100, packed % 100)


def day_count_reference(start, end):
    start, end = np.asarray(start), np.asarray(end)
    if start.shape != end.shape:
        raise ValueError("end must have the shape of start")
    out = np.zeros(start.shape, np.int32)
    for i in np.ndindex(start.shape):
        a, b = _date(start[i]), _date(end[i])
        d1 = min(a.day, 30)
        d2 = 30 if b.day == 31 and d1 == 30 else b.day
        out[i] = 360 * (b.year - a.year) + 30 * (b.month - a.month) + d2 - d1
    return out


@tf.RegisterGradient("UbGroupSoftmax")
def _group_softmax_grad(op, grad):
    return OPS.ub_group_softmax_grad(grad, op.outputs[0], op.inputs[1]), None


def group_softmax(scores, group_ids):
    """Softmax within runs of equal ids; scores float [n], group_ids int64 [n] ascending."""
    return OPS.ub_group_softmax(scores, group_ids)


def group_softmax_reference(scores, group_ids):
    scores, group_ids = np.asarray(scores), np.asarray(group_ids)
    if scores.ndim != 1 or group_ids.shape != scores.shape:
        raise ValueError("scores and group_ids must be vectors of one length")
    if np.any(group_ids < 0) or np.any(np.diff(group_ids) < 0):
        raise ValueError("group_ids must be ascending and not negative")
    out = np.zeros_like(scores)
    with np.errstate(all="ignore"):
        for g in np.unique(group_ids):
            x = scores[group_ids == g]
            e = np.exp(x - np.max(x))
            out[group_ids == g] = e / np.sum(e)
    return out


def id_remap(ids, keys, values, *, default_value=-1):
    """int64 values of int64 ids by a table of distinct keys; default_value where there is no such key."""
    return OPS.ub_id_remap(ids, keys, values, default_value=default_value)


def id_remap_reference(ids, keys, values, *, default_value=-1):
    ids, keys, values = np.asarray(ids), np.asarray(keys), np.asarray(values)
    if (
        keys.ndim != 1
        or values.shape != keys.shape
        or len(np.unique(keys)) != len(keys)
    ):
        raise ValueError("keys must be distinct, values of the same shape")
    table = dict(zip(keys.tolist(), values.tolist()))
    return np.array(
        [table.get(i, default_value) for i in ids.ravel().tolist()], np.int64
    ).reshape(ids.shape)


def lot_split(quantity, lot_size):
    """(lots, odd) of int32 or int64 quantities by floor division; lot_size is a scalar or of the same shape."""
    return tuple(OPS.ub_lot_split(quantity, lot_size))


def lot_split_reference(quantity, lot_size):
    quantity, lot_size = np.asarray(quantity), np.asarray(lot_size)
    if lot_size.ndim != 0 and lot_size.shape != quantity.shape:
        raise ValueError("lot_size must be a scalar or have the shape of quantity")
    if np.any(lot_size == 0):
        raise ValueError("lot_size must not be zero")
    if np.any((quantity == np.iinfo(quantity.dtype).min) & (lot_size == -1)):
        raise ValueError("lots overflow")
    return np.asarray(quantity // lot_size), np.asarray(quantity % lot_size)


@tf.RegisterGradient("UbMovingAverage")
def _moving_average_grad(op, grad):
    return OPS.ub_moving_average_grad(grad, window=op.get_attr("window"))


def moving_average(series, *, window=3):
    """Centered moving average of float series along the last axis; window is odd. Differentiable."""
    return OPS.ub_moving_average(series, window=window)


def moving_average_reference(series, *, window=3):
    x = np.asarray(series)
    if x.ndim < 1 or window < 1 or window % 2 == 0:
        raise ValueError("series must have rank at least 1, window must be odd")
    out = np.empty_like(x)
    radius = window // 2
    for t in range(x.shape[-1]):
        out[..., t] = np.mean(x[..., max(t - radius, 0) : t + radius + 1], axis=-1)
    return out


def ndcg(labels, scores, *, k=10):
    """NDCG at k of each row; labels and scores are float32 [batch, items]."""
    return OPS.ub_ndcg(labels, scores, k=k)


def ndcg_reference(labels, scores, *, k=10):
    labels, scores = _flush(labels), _flush(scores)
    if labels.ndim != 2 or labels.shape != scores.shape or k < 1:
        raise ValueError("labels and scores must be matrices of one shape")
    if not np.all((labels >= 0) & (labels <= 32)):
        raise ValueError("labels must be in [0, 32]")
    out = np.zeros(labels.shape[0], np.float32)
    for b, (lab, sco) in enumerate(zip(labels.astype(np.float64), scores)):
        order = np.argsort(np.where(np.isnan(sco), np.inf, -sco), kind="stable")
        # NaN goes after -inf as well.
        order = np.concatenate(
            [order[~np.isnan(sco[order])], order[np.isnan(sco[order])]]
        )
        discount = 1.0 / np.log2(np.arange(len(lab)) + 2.0)
        gain = (2.0 ** lab[order] - 1.0)[:k]
        best = (2.0 ** np.sort(lab)[::-1] - 1.0)[:k]
        ideal = np.sum(best * discount[: len(best)])
        out[b] = np.sum(gain * discount[: len(gain)]) / ideal if ideal > 0 else 0.0
    return out


def negative_sample(positives, *, num_items, num_samples, seed=0, seed2=0):
    """Draws num_samples int64 items in [0, num_items) outside each row of positives, anew at each call."""
    return OPS.ub_negative_sample(
        positives,
        num_items=num_items,
        num_samples=num_samples,
        seed=seed,
        seed2=seed2,
    )


@tf.RegisterGradient("UbPadToMultiple")
def _pad_to_multiple_grad(op, grad):
    return tf.slice(grad, [0, 0, 0, 0], tf.shape(op.inputs[0]))


def pad_to_multiple(images, *, multiple=32):
    """Zero-pads uint8 or float [batch, height, width, channels] images at the bottom and right."""
    return OPS.ub_pad_to_multiple(images, multiple=multiple)


def pad_to_multiple_reference(images, *, multiple=32):
    images = np.asarray(images)
    if images.ndim != 4 or multiple < 1:
        raise ValueError("images must have rank 4")
    pad = [
        (0, 0),
        (0, -images.shape[1] % multiple),
        (0, -images.shape[2] % multiple),
        (0, 0),
    ]
    return np.pad(images, pad)


def parse_money(amounts):
    """int64 cents of strings such as b"1,234.50"; any shape."""
    return OPS.ub_parse_money(amounts)


_AMOUNT = re.compile(rb"([+-]?)([0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)(?:\.([0-9]{1,2}))?")


def parse_money_reference(amounts):
    amounts = np.asarray(amounts)
    out = np.zeros(amounts.shape, np.int64)
    for i in np.ndindex(amounts.shape):
        text = amounts[i]
        text = text.encode() if isinstance(text, str) else bytes(text)
        match = _AMOUNT.fullmatch(text)
        if not match:
            raise ValueError("no amount")
        whole = int(match[2].replace(b",", b""))
        if whole > (2**63 - 1) // 100 - 1:
            raise ValueError("amount too large")
        cents = whole * 100 + int((match[3] or b"0").ljust(2, b"0"))
        out[i] = -cents if match[1] == b"-" else cents
    return out


def polyline_encode(points, *, precision=5):
    """Encoded polyline of a float64 [n, 2] track of (latitude, longitude)."""
    return OPS.ub_polyline_encode(points, precision=precision)


def polyline_encode_reference(points, *, precision=5):
    points = np.asarray(points)
    if points.ndim != 2 or points.shape[1] != 2 or not 1 <= precision <= 7:
        raise ValueError("points must have shape [n, 2]")
    if not np.all(np.abs(points) <= [90.0, 180.0]):
        raise ValueError("points out of range")
    text, previous = "", [0, 0]
    for point in points:
        for j in range(2):
            scaled = decimal.Decimal(float(point[j]) * 10.0**precision)
            current = int(scaled.to_integral_value(decimal.ROUND_HALF_UP))
            delta = current - previous[j]
            previous[j] = current
            bits = ~(delta << 1) if delta < 0 else delta << 1
            while bits >= 0x20:
                text += chr((0x20 | (bits & 0x1F)) + 63)
                bits >>= 5
            text += chr(bits + 63)
    return np.array(text.encode(), dtype=object)


@tf.RegisterGradient("UbPreemphasis")
def _preemphasis_grad(op, grad):
    return OPS.ub_preemphasis_grad(grad, coef=op.get_attr("coef"))


def preemphasis(signal, *, coef=0.97):
    """First-order high-pass filter along the last axis; float32 or float64, differentiable."""
    return OPS.ub_preemphasis(signal, coef=coef)


def preemphasis_reference(signal, *, coef=0.97):
    x = np.asarray(signal)
    if x.ndim < 1:
        raise ValueError("signal must have rank at least 1")
    if not 0.0 <= coef <= 1.0:
        raise ValueError("coef must be in [0, 1]")
    c = np.float32(coef).astype(x.dtype)
    previous = np.concatenate([x[..., :1], x[..., :-1]], axis=-1)
    return x - c * previous


@tf.RegisterGradient("UbQuadForm")
def _quad_form_grad(op, grad):
    return OPS.ub_quad_form_grad(grad, *op.inputs)


def quad_form(x, a):
    """x^T A x for each row of a float [batch, n] matrix x and a square matrix a; differentiable in both."""
    return OPS.ub_quad_form(x, a)


def quad_form_reference(x, a):
    x, a = _flush(x), _flush(a)
    if x.ndim != 2 or a.shape != (x.shape[1], x.shape[1]):
        raise ValueError("a must be a square matrix of the width of x")
    return np.sum(x * np.sum(a[np.newaxis] * x[:, np.newaxis], axis=2), axis=1)


def quantize_channels(input, scales, zero_points):
    """int8 of a float32 [..., channels] tensor by float32 scales and int32 zero points for each channel."""
    return OPS.ub_quantize_channels(input, scales, zero_points)


def quantize_channels_reference(input, scales, zero_points):
    x, scales, zero_points = (
        np.asarray(input),
        np.asarray(scales),
        np.asarray(zero_points),
    )
    if x.ndim < 1 or scales.shape != x.shape[-1:] or zero_points.shape != x.shape[-1:]:
        raise ValueError("scales and zero_points must have shape [channels]")
    if not np.all(
        np.isfinite(scales) & (scales >= np.finfo(np.float32).tiny)
    ) or np.any((zero_points < -128) | (zero_points > 127)):
        raise ValueError("scales or zero_points out of range")
    with np.errstate(all="ignore"):
        level = np.rint(x / scales).astype(np.float64)
        level = np.where(np.isnan(level), 0, level) + zero_points
    return np.clip(level, -128, 127).astype(np.int8)


@tf.RegisterGradient("UbScatterMean")
def _scatter_mean_grad(op, grad):
    indices, _, num_rows = op.inputs
    counts = tf.math.unsorted_segment_sum(
        tf.ones_like(indices, grad.dtype), indices, num_rows
    )
    return (
        None,
        tf.gather(grad, indices) / tf.gather(counts, indices)[:, tf.newaxis],
        None,
    )


def scatter_mean(indices, updates, num_rows):
    """Means of float [m, d] updates by int64 [m] row; num_rows is an int64 scalar. Differentiable in updates."""
    return OPS.ub_scatter_mean(indices, updates, num_rows)


def scatter_mean_reference(indices, updates, num_rows):
    indices, updates, num_rows = (
        np.asarray(indices),
        np.asarray(updates),
        np.asarray(num_rows),
    )
    if (
        indices.ndim != 1
        or updates.ndim != 2
        or len(indices) != len(updates)
        or num_rows.ndim != 0
    ):
        raise ValueError("wrong shapes")
    if num_rows < 0 or np.any(indices < 0) or np.any(indices >= num_rows):
        raise ValueError("indices out of range")
    out = np.zeros((int(num_rows), updates.shape[1]), updates.dtype)
    counts = np.zeros((int(num_rows), 1), updates.dtype)
    np.add.at(out, indices, updates)
    np.add.at(counts, indices, 1)
    return out / np.maximum(counts, 1)


@tf.RegisterGradient("UbSoftThreshold")
def _soft_threshold_grad(op, grad):
    return OPS.ub_soft_threshold_grad(grad, *op.inputs)


def soft_threshold(x, threshold):
    """sign(x) * max(|x| - threshold, 0) of a float tensor and a scalar; differentiable in both."""
    return OPS.ub_soft_threshold(x, threshold)


def soft_threshold_reference(x, threshold):
    x, threshold = _flush(x), _flush(threshold)
    if threshold.ndim != 0 or not np.isfinite(threshold) or threshold < 0:
        raise ValueError("threshold must be a finite scalar and not negative")
    return np.where(
        np.abs(x) <= threshold, np.zeros_like(x), x - np.sign(x) * threshold
    )


@tf.RegisterGradient("UbSparseRowNormalize")
def _sparse_row_normalize_grad(op, grad):
    indices, values, _ = op.inputs
    rows = tf.unique(indices[:, 0]).idx
    size = tf.size(values)
    norm = tf.gather(tf.math.unsorted_segment_sum(tf.abs(values), rows, size), rows)
    dot = tf.gather(
        tf.math.unsorted_segment_sum(grad * op.outputs[0], rows, size), rows
    )
    kept = tf.equal(norm, 0)
    scaled = (grad - tf.sign(values) * dot) / tf.where(kept, tf.ones_like(norm), norm)
    return None, tf.where(kept, grad, scaled), None


def sparse_row_normalize(indices, values, dense_shape):
    """Values of a sparse matrix (int64 indices, float values, int64 shape) with rows scaled to norm 1."""
    return OPS.ub_sparse_row_normalize(indices, values, dense_shape)


def sparse_row_normalize_reference(indices, values, dense_shape):
    indices, values, dense_shape = (
        np.asarray(indices),
        np.asarray(values),
        np.asarray(dense_shape),
    )
    if (
        indices.ndim != 2
        or indices.shape[1] != 2
        or values.shape != indices.shape[:1]
        or dense_shape.shape != (2,)
    ):
        raise ValueError("wrong shapes")
    if np.any(dense_shape < 0) or np.any(indices < 0) or np.any(indices >= dense_shape):
        raise ValueError("indices out of range")
    rows, inverse = np.unique(indices[:, 0], return_inverse=True)
    norms = np.zeros(len(rows))
    sizes = np.abs(values)
    np.add.at(
        norms,
        inverse,
        np.where(sizes < np.finfo(values.dtype).tiny, 0, sizes).astype(np.float64),
    )
    norm = norms[inverse]
    with np.errstate(all="ignore"):
        return np.where(
            norm == 0, values, values / np.where(norm == 0, 1, norm)
        ).astype(values.dtype)


def token_error_rate(hypothesis, hypothesis_length, reference, reference_length):
    """Edit distance over reference length for each row of padded int32 token matrices."""
    return OPS.ub_token_error_rate(
        hypothesis, hypothesis_length, reference, reference_length
    )


def token_error_rate_reference(
    hypothesis, hypothesis_length, reference, reference_length
):
    hyp, hyp_len = np.asarray(hypothesis), np.asarray(hypothesis_length)
    ref, ref_len = np.asarray(reference), np.asarray(reference_length)
    if hyp.ndim != 2 or ref.ndim != 2 or hyp.shape[0] != ref.shape[0]:
        raise ValueError("hypothesis and reference must be matrices of as many rows")
    if hyp_len.shape != hyp.shape[:1] or ref_len.shape != hyp.shape[:1]:
        raise ValueError("lengths must be vectors of length batch")
    if (
        np.any(hyp_len < 0)
        or np.any(hyp_len > hyp.shape[1])
        or np.any(ref_len < 0)
        or np.any(ref_len > ref.shape[1])
    ):
        raise ValueError("lengths out of range")
    out = np.zeros(hyp.shape[0], np.float32)
    for b in range(hyp.shape[0]):
        x, y = hyp[b, : hyp_len[b]], ref[b, : ref_len[b]]
        d = np.zeros((len(x) + 1, len(y) + 1), np.int64)
        d[:, 0], d[0, :] = np.arange(len(x) + 1), np.arange(len(y) + 1)
        for i in range(len(x)):
            for j in range(len(y)):
                d[i + 1, j + 1] = min(
                    d[i, j] + (x[i] != y[j]), d[i, j + 1] + 1, d[i + 1, j] + 1
                )
        if len(y):
            out[b] = np.float32(d[-1, -1]) / np.float32(len(y))
        else:
            out[b] = np.inf if len(x) else 0.0
    return out


@tf.RegisterGradient("UbYieldCurve")
def _yield_curve_grad(op, grad):
    times, rates = OPS.ub_yield_curve_grad(grad, *op.inputs)
    return times, None, rates


def yield_curve(times, knots, rates):
    """Piecewise linear rates at times; float vectors, differentiable in times and rates."""
    return OPS.ub_yield_curve(times, knots, rates)


def yield_curve_reference(times, knots, rates):
    times, knots, rates = _flush(times), _flush(knots), _flush(rates)
    if (
        times.ndim != 1
        or knots.ndim != 1
        or len(knots) < 1
        or rates.shape != knots.shape
    ):
        raise ValueError(
            "times, knots and rates must be vectors, knots and rates of one length"
        )
    if not np.all(np.isfinite(knots)) or np.any(np.diff(knots) <= 0):
        raise ValueError("knots must be finite and strictly increasing")
    out = np.empty_like(times)
    for j, t in enumerate(times):
        if np.isnan(t):
            out[j] = np.nan
        elif t < knots[0]:
            out[j] = rates[0]
        elif t >= knots[-1]:
            out[j] = rates[-1]
        else:
            i = np.searchsorted(knots, t, side="right") - 1
            w = (t - knots[i]) / (knots[i + 1] - knots[i])
            out[j] = (1 - w) * rates[i] + w * rates[i + 1]
    return out


# Function: inputs and attrs of one call.
SAMPLES = {
    "bin_counts": (
        [
            np.float32([0.1, 0.5, 2.5, 3.0, 10.0, -1.0, 7.25, 0.99, 1.0]),
            np.float32([0.0, 1.0, 3.0, 10.0]),
        ],
        {},
    ),
    "components": (
        [np.int64([[0, 1], [1, 2], [3, 4], [6, 5]]), np.array(8, np.int64)],
        {},
    ),
    "day_count": (
        [
            np.int32([20230115, 20230131, 20240229, 20221231]),
            np.int32([20230715, 20230331, 20250228, 20230131]),
        ],
        {},
    ),
    "group_softmax": (
        [
            np.float32([1.5, 0.2, -0.7, 2.1, 2.1, -1.0, 0.4]),
            np.int64([0, 0, 0, 1, 1, 4, 4]),
        ],
        {},
    ),
    "id_remap": (
        [
            np.int64([[1001, 42, 7], [42, 99999, 12]]),
            np.int64([7, 42, 1001, 5000]),
            np.int64([0, 1, 2, 3]),
        ],
        {"default_value": -1},
    ),
    "lot_split": ([np.int64([1050, 99, -250, 0, 300]), np.array(100, np.int64)], {}),
    "moving_average": (
        [np.float32([[1.0, 4.0, 2.0, 8.0, 5.0, 7.0], [0.0, 3.0, 3.0, 6.0, 9.0, 0.0]])],
        {"window": 3},
    ),
    "ndcg": (
        [
            np.float32([[3, 2, 3, 0, 1, 2], [0, 1, 0, 2, 0, 0]]),
            np.float32(
                [[0.9, 0.8, 0.3, 0.5, 0.1, 0.4], [0.2, 0.7, 0.1, 0.6, 0.9, 0.3]]
            ),
        ],
        {"k": 10},
    ),
    "negative_sample": (
        [np.int64([[3, 17, 42], [8, 8, -1]])],
        {"num_items": 1000, "num_samples": 8, "seed": 0, "seed2": 0},
    ),
    "pad_to_multiple": (
        [np.arange(1, 16, dtype=np.float32).reshape(1, 3, 5, 1)],
        {"multiple": 4},
    ),
    "parse_money": (
        [
            np.array(
                [b"12.50", b"1,234.00", b"-3.25", b"7", b"+0.99", b"-1,000,000.5"],
                dtype=object,
            )
        ],
        {},
    ),
    "polyline_encode": (
        [np.array([[38.5, -120.2], [40.7, -120.95], [43.252, -126.453]])],
        {"precision": 5},
    ),
    "preemphasis": (
        [
            np.stack(
                [
                    np.sin(0.3 * np.arange(16, dtype=np.float32)),
                    np.cos(0.7 * np.arange(16, dtype=np.float32)),
                ]
            ).astype(np.float32)
        ],
        {"coef": 0.97},
    ),
    "quad_form": (
        [
            np.float32([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0]]),
            np.float32([[0.04, 0.01, 0.0], [0.01, 0.09, 0.02], [0.0, 0.02, 0.16]]),
        ],
        {},
    ),
    "quantize_channels": (
        [
            np.float32(
                [
                    [0.5, -1.25, 2.0],
                    [0.11, 0.9, -0.4],
                    [-0.77, 1.5, 3.1],
                    [0.0, 0.3, -2.2],
                ]
            ),
            np.float32([0.01, 0.02, 0.05]),
            np.int32([0, 10, -5]),
        ],
        {},
    ),
    "scatter_mean": (
        [
            np.int64([0, 2, 0, 1, 2]),
            np.float32([[1.0, 2.0], [3.0, 4.0], [5.0, 0.0], [-1.0, 1.5], [2.0, 2.0]]),
            np.array(3, np.int64),
        ],
        {},
    ),
    "soft_threshold": (
        [np.float32([0.2, 1.5, 0.75, 3.0, 0.0, -0.3, 0.5]), np.array(0.5, np.float32)],
        {},
    ),
    "sparse_row_normalize": (
        [
            np.int64([[0, 1], [0, 3], [2, 0], [2, 1], [2, 4]]),
            np.float32([1.0, 3.0, 0.5, 0.25, 1.25]),
            np.int64([3, 5]),
        ],
        {},
    ),
    "token_error_rate": (
        [
            np.int32([[7, 3, 9, 4, 0], [5, 5, 2, 0, 0], [1, 2, 3, 4, 5]]),
            np.int32([4, 3, 5]),
            np.int32([[7, 3, 4, 0, 0], [5, 2, 2, 6, 0], [1, 2, 3, 4, 5]]),
            np.int32([3, 4, 5]),
        ],
        {},
    ),
    "yield_curve": (
        [
            np.float32([0.5, 1.0, 1.5, 3.0, 4.0, 7.5, 12.0]),
            np.float32([1.0, 2.0, 5.0, 10.0]),
            np.float32([0.031, 0.034, 0.038, 0.041]),
        ],
        {},
    ),
}
