"""Generated calls: `python -m opcheck fuzz examples/max_pool/max_pool_fuzz.py`."""

from pathlib import Path

import max_pool as ops
import max_pool_reference as references
import numpy as np
from hypothesis import strategies as st
from op_library import load_op_library

from opcheck.strategies import calls, mostly, shapes, tensors

_solution = load_op_library(
    Path(__file__).with_name("libsolution_max_pool_nan.so"), "max_pool_nan"
)
_simple = load_op_library(
    Path(__file__).with_name("libmax_pool_simple.so"), "max_pool_simple"
)


def max_pool_simple(input, ksize, strides, padding):
    return _simple.max_pool_simple(
        input=input, ksize=ksize, strides=strides, padding=padding
    )


def max_pool_nan(input, ksize, strides, padding):
    sizes = dict(ksize=[1, ksize, ksize, 1], strides=[1, strides, strides, 1])
    return _solution.max_pool_nan(input=input, **sizes, padding=padding)


def of_finite(input, ksize, strides, padding):
    """What Eigen's reduction makes of NaN and infinities differs from what the loop does."""
    if not np.isfinite(input).all():
        raise NotImplementedError("numbers that are not finite")
    return references.max_pool_reference(input, ksize, strides, padding)


SIDES, SIZES = st.integers(0, 6), mostly(st.integers(1, 4), st.integers(-1, 9))
CHANNELS = st.sampled_from([0, 1, 3, 8, 37])
INPUTS = mostly(
    st.tuples(st.integers(0, 3), SIDES, SIDES, CHANNELS), shapes(max_rank=5)
)
FLOATS = st.sampled_from(["float16", "bfloat16", "float32", "float64"])
WIDE = st.sampled_from(["float32", "float64"])
SMALL = st.integers(-4, 4).map(float)
AWKWARD = st.sampled_from(
    [1.0, 2.0, -0.0, 0.0, float("nan"), float("inf"), -float("inf")]
)
ATTRS = dict(ksize=SIZES, strides=SIZES, padding=st.sampled_from(["SAME", "VALID"]))


@st.composite
def gradients(draw, grad_of_input=False, types=FLOATS):
    """Inputs of a gradient, most of which fit together."""
    dtype, shape = draw(types), draw(INPUTS)
    attrs = {name: draw(values) for name, values in ATTRS.items()}
    try:
        count, _ = references.windows(shape, **attrs)
        pooled = shape[0], *count, shape[3]
    except ValueError:
        pooled = draw(INPUTS)
    wanted = [shape, pooled, shape if grad_of_input else pooled]
    chosen = [draw(mostly(st.just(each), INPUTS)) for each in wanted]
    return [draw(tensors(dtype, each, SMALL)) for each in chosen], attrs


@st.composite
def shared_gradients(draw):
    """Inputs of the gradient of an average, most of which fit together."""
    (shaped, _, grad), attrs = draw(gradients(types=WIDE))
    return [np.int32(shaped.shape), grad], attrs


def of_real_sizes(orig_input_shape, grad, **attrs):
    """The reference, which would list all windows of an image that is too large for any gradient here."""
    if np.any(orig_input_shape < 0) or np.any(orig_input_shape > 1000):
        raise ValueError("no such image")
    return references.avg_pool_grad_reference(orig_input_shape, grad, **attrs)


FUZZ = {
    "OpByOp>MaxPool": (
        ops.max_pool,
        calls(tensors(FLOATS, INPUTS), **ATTRS),
        references.max_pool_reference,
    ),
    "MaxPoolPlain": (
        ops.max_pool_plain,
        calls(tensors("float32", INPUTS), **ATTRS),
        references.max_pool_reference,
    ),
    "MaxPoolPatches": (
        ops.max_pool_patches,
        calls(tensors("float32", INPUTS, SMALL), **ATTRS),
        of_finite,
    ),
    "OpByOp>MaxPoolWithArgmax": (
        ops.max_pool_with_argmax,
        calls(tensors(FLOATS, INPUTS), **ATTRS, include_batch_in_index=st.booleans()),
        references.max_pool_with_argmax_reference,
    ),
    "OpByOp>MaxPoolGrad": (
        ops.max_pool_grad,
        gradients(),
        references.max_pool_grad_reference,
    ),
    "OpByOp>MaxPoolGradGrad": (
        ops.max_pool_grad_grad,
        gradients(grad_of_input=True),
        references.max_pool_grad_grad_reference,
    ),
    "OpByOp>AvgPool": (
        ops.avg_pool,
        calls(tensors(WIDE, INPUTS, SMALL), **ATTRS),
        references.avg_pool_reference,
    ),
    "OpByOp>AvgPoolGrad": (
        ops.avg_pool_grad,
        shared_gradients(),
        of_real_sizes,
    ),
    "MaxPoolSimple": (
        max_pool_simple,
        calls(tensors("float32", INPUTS, AWKWARD), **ATTRS),
        references.max_pool_reference,
    ),
    "MaxPoolNan": (
        max_pool_nan,
        calls(tensors("float32", INPUTS), **ATTRS),
        references.max_pool_nan_reference,
    ),
}
