"""The ops of the chapter in NumPy; those that show their attrs, as text."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

DEFAULTS = {
    "a_string": "apple",
    "an_int": "-3",
    "a_float": "0.5",
    "a_bool": "true",
    "a_type": "int32",
    "a_shape": "[2,3]",
    "strings": "apple, orange",
    "ints": "2, 3, 5",
    "floats": "0.5, 0.25",
    "bools": "true, false",
    "types": "int32, float",
    "shapes": "[2], <unknown>",
}
TENSOR_DEFAULTS = {
    "a_tensor": "Tensor<type: int32 shape: [2] values: 5 4>",
    "tensors": "Tensor<type: bool shape: [] values: 1>",
}


def moving_median_reference(signal, window=3):
    """The median of each window along the last axis, whose ends are repeated."""
    rows = np.atleast_1d(signal)
    if window < 1 or window % 2 == 0 or window > rows.shape[-1]:
        raise ValueError("no such window")
    reach = [(0, 0)] * (rows.ndim - 1) + [(window // 2, window // 2)]
    windows = sliding_window_view(np.pad(rows, reach, mode="edge"), window, axis=-1)
    return np.median(windows, axis=-1).reshape(signal.shape)


def median_filter_reference(signal, window=3, ends="repeat"):
    """The median of each window along the last axis."""
    if window < 1 or window % 2 == 0 or ends not in ("repeat", "drop"):
        raise ValueError("no such window")
    if signal.ndim == 0 or window > signal.shape[-1]:
        raise ValueError("the window is longer than the signal")
    if ends == "repeat":
        reach = [(0, 0)] * (signal.ndim - 1) + [(window // 2, window // 2)]
        signal = np.pad(signal, reach, mode="edge")
    return np.median(sliding_window_view(signal, window, axis=-1), axis=-1)


def quantile_filter_reference(signal, window, quantile):
    """The element in this place of each sorted window: 0 for its first one, 1 for its last."""
    if not 0 <= quantile <= 1 or signal.ndim != 1 or not 1 <= window <= signal.size:
        raise ValueError("no quantile, or no window")
    reach = (window // 2, window - 1 - window // 2)
    windows = sliding_window_view(np.pad(signal, reach, mode="edge"), window)
    place = float(np.float32(quantile) * np.float32(window - 1))
    rank = min(int(place + 0.5), window - 1)
    chosen = np.sort(windows, axis=-1)[:, rank]
    return np.where(np.isnan(windows).any(axis=-1), np.float32(np.nan), chosen)


def text_of(attrs):
    """A line for each attr."""
    return np.array("\n".join(f"{name}: {attrs[name]}" for name in attrs), object)


def every_attr_reference(a_string, an_int, ints, floats):
    """All attrs, in the order of the interface."""
    given = {"a_string": a_string, "an_int": an_int}
    given["ints"] = ", ".join(map(str, ints))
    given["floats"] = ", ".join(f"{number:g}" for number in floats)
    return text_of({**DEFAULTS, **given})


def constrained_attrs_reference(fruit, count):
    """All attrs, where the interface allows these."""
    if fruit not in ("apple", "orange") or count < 2:
        raise ValueError("not allowed by the interface")
    attrs = {"fruit": fruit, "one_of": "int32", "number": "float", "numeric": "float"}
    attrs |= {"real": "float", "quantized": "qint8", "mixed": "float"}
    return text_of({**attrs, "count": count, "types": "int32, float, int32"})


def own_name_reference(number):
    """The default of its attr."""
    return np.array("own_name: apple", object)
