"""Generated calls: `python -m opcheck fuzz examples/stochastic_rounding/stochastic_rounding_fuzz.py`."""

from pathlib import Path

import numpy as np
import stochastic_rounding as ops
import tensorflow as tf
from hypothesis import strategies as st
from op_library import load_op_library
from stochastic_rounding_reference import rounded_reference
from stochastic_rounding_stock import numbers_of

from opcheck.strategies import calls, mostly, shapes, tensors

HERE = Path(__file__).parent
_dither = load_op_library(HERE / "libsolution_dither.so", "dither").dither
SMALL = st.sampled_from(["bfloat16", "float16"])
WIDE = mostly(st.sampled_from(["float32", "float64"]), st.just("int32"))
SEEDS = tensors(
    st.sampled_from(["int32", "int64"]),
    mostly(st.just((2,)), shapes()),
    st.integers(-9, 9) | st.sampled_from([2**31 - 1, -(2**31)]),
)


def stateless_stochastic_round(x, seed, dtype):
    return ops.stateless_stochastic_round(x, seed, tf.as_dtype(dtype))


def stateless_reference(x, seed, dtype):
    """With TensorFlow's random numbers."""
    if x.dtype == np.int32 or seed.shape != (2,):
        raise ValueError("no number to round, or no seed")
    numbers = numbers_of(tf.constant(seed), x.shape).numpy()
    return rounded_reference(x, numbers, tf.as_dtype(dtype).as_numpy_dtype)


def stochastic_round(x, dtype):
    """Of a rounded number, in which nothing is left to chance."""
    small = tf.as_dtype(dtype)
    return ops.stochastic_round(tf.cast(tf.cast(x, small), x.dtype), small)


def exact_reference(x, dtype):
    if x.dtype == np.int32:
        raise ValueError("no number to round")
    return x.astype(np.float32).astype(tf.as_dtype(dtype).as_numpy_dtype)


def dither(grey, seed):
    return _dither(grey, seed)


def dither_reference(grey, seed):
    if seed.shape != (2,):
        raise ValueError("no seed")
    numbers = numbers_of(tf.constant(seed), grey.shape).numpy()
    return np.where(numbers / 2**32 < grey, 255, 0).astype(np.uint8)


WRONG = "wrong on purpose"
FUZZ = {
    "StatelessStochasticRound": (
        stateless_stochastic_round,
        calls(tensors(WIDE), SEEDS, dtype=SMALL),
        stateless_reference,
    ),
    "StochasticRound": (
        stochastic_round,
        calls(tensors(WIDE), dtype=SMALL),
        exact_reference,
    ),
    "Dither": (dither, calls(tensors("float32"), SEEDS), dither_reference),
    "NoiseLike": "compared with TensorFlow in stochastic_rounding_test.py",
    "ForgetfulStochasticRound": WRONG,
    "BlockwiseStochasticRound": WRONG,
}
