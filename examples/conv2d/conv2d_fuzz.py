"""Generated calls: `python -m opcheck fuzz examples/conv2d/conv2d_fuzz.py`."""

import numpy as np
from conv2d import conv2d, conv2d_backprop_filter, conv2d_backprop_input
from conv2d_reference import (
    conv2d_backprop_filter_reference,
    conv2d_backprop_input_reference,
    conv2d_reference,
    output_size,
)
from hypothesis import strategies as st

from opcheck.strategies import calls, mostly, shapes, tensors

WHOLE = st.integers(-4, 4).map(float)  # so that every sum is exact
DTYPES = ["float16", "bfloat16", "float32", "float64"]
SIZES = mostly(st.integers(1, 3), st.integers(0, 3))


@st.composite
def convolutions(draw, inputs):
    """Calls of one of the ops.

    Args:
      inputs: Of x, filter and dy, "array", "sizes", or None for those that the op has not.
    """
    dtype = draw(st.sampled_from(DTYPES))
    channels, filters = draw(SIZES), draw(SIZES)
    x = (draw(SIZES), *(draw(mostly(st.integers(3, 6), SIZES)) for _ in "hw"), channels)
    filter = (draw(SIZES), draw(SIZES), channels, filters)
    two = st.one_of(
        st.integers(1, 3), st.lists(st.integers(1, 3), min_size=2, max_size=2)
    )
    numbers = mostly(two, st.lists(st.integers(-1, 2), max_size=3))
    pads = st.lists(st.integers(0, 4), min_size=2, max_size=2)
    padding = draw(st.one_of(st.sampled_from(["SAME", "VALID"]), st.tuples(pads, pads)))
    layout = {"strides": draw(numbers), "dilations": draw(numbers), "padding": padding}
    try:
        paddings = [padding] * 2 if isinstance(padding, str) else padding
        steps = [np.broadcast_to(layout[name], 2) for name in ("strides", "dilations")]
        sides = zip(x[1:3], filter[:2], *steps, paddings)
        windows = [int(output_size(*side)[0]) for side in sides]
    except ValueError:
        windows = [1, 1]
    found = {"x": x, "filter": filter, "dy": (x[0], *windows, filters)}
    made = []
    for kind, shape in zip(inputs, found.values()):
        if kind == "sizes":
            made.append(st.just(np.array(shape, np.int32)))
        elif kind:
            shape = mostly(st.just(shape), shapes(max_rank=4, max_side=3))
            made.append(tensors(dtype, draw(shape), elements=WHOLE))
    return draw(
        calls(*made, **{name: st.just(value) for name, value in layout.items()})
    )


def sizes_of(array):
    """Of numbers, how far each is from zero, if that is finite; a shape as it is."""
    if array.dtype.kind == "i":
        return array
    return np.abs(np.nan_to_num(array.astype(np.float64), posinf=0, neginf=0))


def refusing(reference):
    """Refuses what the op refuses: numbers that are not two. No answer where the order of the additions matters."""

    def checked(*inputs, strides, dilations, padding):
        for numbers in strides, dilations:
            if np.size(numbers) not in (1, 2) or np.shape(numbers) == (1,):
                raise ValueError("two numbers are wanted")
            if np.min(numbers) < 1:
                raise ValueError("positive numbers are wanted")
        layout = {"strides": strides, "dilations": dilations, "padding": padding}
        with np.errstate(all="ignore"):
            result = reference(*inputs, **layout)
            terms = reference(*map(sizes_of, inputs), **layout)
        if np.any(terms > 1e38):
            raise NotImplementedError("a sum of float32 may overflow on its way")
        if np.any((terms > 1e6) & (np.abs(result) < terms / 2)):
            raise NotImplementedError("large terms cancel")
        return result

    return checked


FUZZ = {
    "OpByOp>Conv2D": (
        conv2d,
        convolutions(["array", "array", None]),
        refusing(conv2d_reference),
    ),
    "OpByOp>Conv2DBackpropInput": (
        conv2d_backprop_input,
        convolutions(["sizes", "array", "array"]),
        refusing(conv2d_backprop_input_reference),
    ),
    "OpByOp>Conv2DBackpropFilter": (
        conv2d_backprop_filter,
        convolutions(["array", "sizes", "array"]),
        refusing(conv2d_backprop_filter_reference),
    ),
    "EigenConv2D": "is compared with Conv2D by a test",
    "EigenPatches": "is compared with TensorFlow's by a test",
    "LoopConv2D": "is compared with NumPy by a test",
    "LoopConv2DBackpropInput": "is compared with NumPy by a test",
    "LoopConv2DBackpropFilter": "is compared with NumPy by a test",
    "NaiveConv2D": "is compared with Conv2D by a test",
}
