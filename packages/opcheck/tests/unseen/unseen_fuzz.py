"""The ops of unseen_ops.py with a strategy for each, as their user would write it down before a first run."""

import numpy as np
from hypothesis import strategies as st
from unseen_ops import SAMPLES

from opcheck.strategies import calls, mostly, shapes, tensors, texts

_ROWS = st.shared(st.integers(0, 6), key="rows")
_COLUMNS = st.shared(st.integers(0, 6), key="columns")


def _sized(*sides):
    """Mostly of the shape that the sides make, and else of any."""
    return mostly(st.tuples(*sides), shapes(max_rank=3))


_vector = tensors("float32", _sized(_COLUMNS))
_matrix = tensors("float32", _sized(_ROWS, _COLUMNS))
_any = tensors("float32")
_either = st.sampled_from(["float32", "float64"])
_few = st.integers(-1, 6)
_DTYPE = st.sampled_from(["float32", "uint8"])


STRATEGIES = {
    "channel_bias": calls(
        tensors("float32", _sized(_ROWS, _COLUMNS, _few.map(abs), _COLUMNS)),
        _vector,
        data_format=st.sampled_from(["NHWC", "NCHW"]),
    ),
    "pair_max_rows": calls(_matrix),
    "ravel_index": calls(
        tensors("int32", _sized(_ROWS)),
        tensors("int32", _sized(_ROWS)),
        width=st.integers(0, 100_000),
    ),
    "dense_from_pairs": calls(
        tensors("int64", _sized(_ROWS, st.just(2)), elements=_few),
        tensors("float32", _sized(_ROWS)),
        height=st.integers(0, 6),
        width=st.integers(0, 6),
    ),
    "abs_sum": calls(_any),
    "rms_scale": calls(_matrix, _vector, epsilon=st.sampled_from([1e-6, 1e-3, 0.1])),
    "running_max": calls(_vector),
    "id_bucket": calls(tensors("int64"), width=st.integers(1, 1000)),
    "scale_columns": calls(
        _matrix, tensors("float32", _sized(st.one_of(_COLUMNS, st.just(1))))
    ),
    "join_tokens": calls(
        tensors("string", _sized(_ROWS), elements=texts(b"to", b"be")),
        separator=st.sampled_from([",", "", " - "]),
    ),
    "average_rows": calls(
        tensors(st.sampled_from(["float16", "float32"]), _sized(_ROWS, _COLUMNS))
    ),
    "count_ids": calls(
        tensors("int32", _sized(_ROWS), elements=_few), size=st.integers(0, 6)
    ),
    "sample_grid": calls(
        _matrix, tensors("int32", _sized(st.integers(0, 4), st.just(2)), elements=_few)
    ),
    "insert_axis": calls(_any, axis=st.integers(-4, 4)),
    "flatten_rows": calls(_any),
    "repeat_each": calls(_vector, times=st.integers(0, 5)),
    "pad_to": calls(_vector, tensors("int32", _sized(), elements=st.integers(-1, 9))),
    "stack_rows": calls(
        st.lists(
            tensors("float32", _sized(st.integers(0, 4), _COLUMNS)),
            min_size=1,
            max_size=4,
        )
    ),
    "soft_ramp": calls(tensors(_either), beta=st.sampled_from([1.0, 0.5, 3.0])),
    "pick_rows": calls(
        tensors(_either, _sized(_ROWS, _COLUMNS)),
        tensors("int32", _sized(st.integers(0, 4)), elements=_few),
    ),
    "weigh_rows": calls(_matrix, tensors("float32", _sized(_ROWS))),
    "shift_columns": calls(
        _matrix, tensors("float32", _sized(st.one_of(_COLUMNS, st.just(1))))
    ),
    "log_cosh": calls(tensors(_either)),
    "sine_square": calls(tensors(_either, elements=st.floats(-100, 100, width=32))),
    "masked_average": calls(_matrix, tensors("bool", _sized(_ROWS))),
    "hann_window": calls(_vector),
    "row_median": calls(_matrix),
    "jitter": calls(_any, width=st.sampled_from([0.1, 0.5])),
    "parse_prices": calls(tensors("string", elements=texts(b"9.99", b"12"))),
    "parse_counts": calls(tensors("string", elements=texts(b"3", b"-14"))),
    "count_lines": calls(
        tensors(
            "string",
            _sized(),
            elements=texts(SAMPLES["count_lines"][0][0].encode(), b"/"),
        )
    ),
    "swap_halves": calls(_vector),
    "sum_of_numbers": calls(_any),
    "dot_four": calls(_vector, _vector),
    "blur_three": calls(_vector),
    "logistic_four": calls(_any),
    "take_window": calls(
        _vector, tensors("int32", _sized(), elements=_few), length=st.integers(0, 6)
    ),
    "sorted_index": calls(
        mostly(
            st.lists(st.floats(-9, 9, width=32), max_size=5).map(
                lambda edges: np.float32(sorted(edges))
            ),
            _vector,
        ),
        _any,
    ),
    "cycle_to": calls(_vector, length=st.integers(0, 9)),
    "ring_shift": calls(_vector, shift=st.integers(-9, 9)),
    "segment_mean_rows": calls(
        _matrix,
        tensors("int32", _sized(_ROWS), elements=_few),
        count=st.integers(0, 6),
    ),
    "top_columns": calls(_matrix, k=st.integers(0, 4)),
    "unit_rows": calls(_any),
    "pool_window": calls(
        _matrix, window=st.lists(st.integers(1, 3), min_size=2, max_size=2)
    ),
    "row_variance": calls(_matrix),
    "absolute_difference": _DTYPE.flatmap(
        lambda dtype: calls(
            tensors(dtype, _sized(_ROWS, _COLUMNS)),
            tensors(dtype, _sized(_ROWS, _COLUMNS)),
        )
    ),
    "to_int8": calls(_any, scale=st.sampled_from([0.05, 1.0])),
    "ragged_sums": calls(
        _vector,
        mostly(
            _COLUMNS.flatmap(
                lambda size: st.lists(st.integers(0, size), max_size=4).map(
                    lambda cuts: np.int32([0, *sorted(cuts), size])
                )
            ),
            tensors("int32", _sized(_ROWS), elements=_few),
        ),
    ),
    "sum_first_axis": calls(_any),
    "row_length": calls(_matrix),
    "larger": calls(_matrix, _matrix),
    "row_range": calls(_matrix),
}
assert STRATEGIES.keys() == SAMPLES.keys()
