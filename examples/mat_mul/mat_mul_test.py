"""Tests of OpByOp>MatMul and LoopMatMul: `pytest examples/mat_mul`."""

import hashlib
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import tensorflow as tf
from mat_mul import loop_mat_mul, mat_mul
from mat_mul_reference import (
    gram_matrix_reference,
    loop_mat_mul_reference,
    mat_mul_reference,
)
from op_library import load_op_library

from opcheck.testing import op_test

HERE = Path(__file__).parent
CASES = [(a_t, b_t) for a_t in (False, True) for b_t in (False, True)]
# Rows, inner dimension, columns: vectors, empty ones, and several blocks of Eigen's.
SIZES = [
    (2, 3, 4),
    (1, 1, 1),
    (1, 300, 70),
    (70, 300, 1),
    (1, 5000, 1),
    (5, 1, 6),
    (3, 5000, 3),
    (130, 70, 260),
    (0, 3, 2),
    (2, 0, 3),
    (3, 2, 0),
    (0, 0, 0),
]


def values(*shape, dtype=np.float32):
    return np.random.default_rng(0).normal(size=shape).astype(dtype)


def factors(rows, inner, columns, a_t=False, b_t=False, dtype=np.float32):
    a, b = values(rows, inner, dtype=dtype), values(inner, columns, dtype=dtype)
    return (a.T if a_t else a).copy(), (b.T if b_t else b).copy()


test_mat_mul_keeps_its_promises = op_test(
    mat_mul,
    *factors(3, 5, 4, True, True),
    transpose_a=True,
    transpose_b=True,
    reference=mat_mul_reference,
    gradient=True,
)
test_loop_mat_mul_keeps_its_promises = pytest.mark.slow(
    op_test(
        loop_mat_mul,
        *factors(5, 5, 9),
        order="tiles",
        reference=loop_mat_mul_reference,
    )
)


BOUND = 1.0  # in the unit of `errors`


def errors(c, a, b):
    """How far c is from the product, as multiples of what such sums round, which are of float32 at least."""
    wide = [x.astype(np.float64).astype(np.longdouble) for x in (a, b)]
    expected = mat_mul_reference(*wide)
    of_sums = np.float64 if a.dtype == np.float64 else np.float32
    additions = 2 * a.shape[1] ** 0.5  # whose errors go in both directions
    bound = additions * np.finfo(of_sums).eps * mat_mul_reference(*map(abs, wide))
    assert c.dtype == a.dtype and c.shape == bound.shape
    if c.dtype.itemsize == 2:
        bound = bound + ml_dtypes.finfo(c.dtype).eps / 2 * abs(expected)
    difference = c.astype(np.float64).astype(np.longdouble) - expected
    return (difference / np.maximum(bound, 1e-300)).ravel()


@pytest.mark.parametrize(
    "dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16]
)
@pytest.mark.parametrize("a_t, b_t", CASES)
def test_products(mode, a_t, b_t, dtype):
    found = []
    for size in SIZES:
        a, b = factors(*size, a_t, b_t, dtype)
        c = mode(mat_mul)(a, b, a_t, b_t).numpy()
        found.append(errors(c, a.T if a_t else a, b.T if b_t else b))
    np.testing.assert_allclose(np.hstack(found), 0, rtol=0, atol=BOUND)


@pytest.mark.parametrize("order", ["elements", "rows", "tiles"])
def test_products_by_loops(mode, order):
    pairs = [factors(*size) for size in SIZES]
    found = [errors(mode(loop_mat_mul)(a, b, order).numpy(), a, b) for a, b in pairs]
    np.testing.assert_allclose(np.hstack(found), 0, rtol=0, atol=BOUND)


def test_16_bits_are_summed_up_as_floats():
    """In float16, 2048 + 1 is 2048."""
    ones = tf.ones([1, 4096], tf.float16)
    for product in mat_mul, tf.matmul:
        assert product(ones, ones, transpose_b=True).numpy() == 4096
        assert product(60000 * ones, -ones, transpose_b=True).numpy() == -np.inf


BFLOAT16 = """
import tensorflow as tf
a, b = (tf.random.stateless_normal([256, 256], [0, seed]) for seed in range(2))
a, b = tf.cast(a, tf.bfloat16), tf.cast(b, tf.bfloat16)
c = tf.bitcast(tf.matmul(tf.cast(a, tf.float32), tf.cast(b, tf.float32)), tf.uint32)
cut = tf.cast(tf.bitwise.right_shift(c, 16), tf.uint16)
print(tf.reduce_all(tf.bitcast(tf.matmul(a, b), tf.uint16) == cut).numpy())
"""


@pytest.mark.slow
def test_the_stock_kernel_cuts_bfloat16_off(in_process):
    assert in_process(BFLOAT16, TF_ENABLE_ONEDNN_OPTS="0") == "True\n"


def digest_of_a_long_sum():
    a = tf.random.stateless_normal([10, 100_000], [0, 0])
    return hashlib.sha256(tf.matmul(a, a, transpose_b=True).numpy()).hexdigest()


def test_the_stock_kernel_s_last_digits_depend_on_the_threads(with_threads):
    assert with_threads(1, digest_of_a_long_sum) != with_threads(
        2, digest_of_a_long_sum
    )


@pytest.mark.parametrize("a_t, b_t", CASES)
def test_gradient_of_the_four_cases(cpp_gradient, a_t, b_t):
    a, b = map(tf.constant, factors(3, 5, 4, a_t, b_t))
    dc = values(3, 4)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        c = tf.matmul(a, b, a_t, b_t)
    expected = tape.gradient(c, [a, b], dc)
    gradient = cpp_gradient(lambda a, b: mat_mul(a, b, a_t, b_t), [a, b], [dc])
    for ours, stock in zip(gradient, expected, strict=True):
        np.testing.assert_allclose(ours, stock, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("a_t, b_t", CASES)
def test_the_gradient_in_python(mode, a_t, b_t):
    given = list(map(tf.constant, factors(3, 5, 4, a_t, b_t)))
    gradients = []
    for product in mat_mul, tf.matmul:
        with tf.GradientTape() as tape:
            tape.watch(given)
            c = mode(lambda a, b, product=product: product(a, b, a_t, b_t))(*given)
        gradients.append(tape.gradient(c, given, values(3, 4)))
    for ours, stock in zip(*gradients, strict=True):
        np.testing.assert_allclose(ours, stock, rtol=1e-5, atol=1e-6)


def test_gradients_of_16_bits_and_of_empty_matrices(cpp_gradient):
    ones = tf.ones([2, 3], tf.bfloat16)
    da, db = cpp_gradient(
        mat_mul, [ones, tf.transpose(ones)], [tf.eye(2, dtype=tf.bfloat16)]
    )
    np.testing.assert_array_equal(da, ones)
    np.testing.assert_array_equal(db, tf.transpose(ones))
    da, db = cpp_gradient(
        mat_mul, [tf.zeros([0, 3]), tf.zeros([3, 2])], [tf.zeros([0, 2])]
    )
    assert da.shape == [0, 3] and db.numpy().tolist() == [[0, 0]] * 3


def test_second_derivatives():
    x = tf.Variable(values(3, 3))
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = mat_mul(mat_mul(x, x), x, transpose_b=True)
        first = inner.gradient(y, x)
    with tf.GradientTape() as stock_outer:
        with tf.GradientTape() as stock_inner:
            y = tf.matmul(tf.matmul(x, x), x, transpose_b=True)
        stock = stock_inner.gradient(y, x)
    np.testing.assert_allclose(first, stock, rtol=1e-5, atol=1e-5)
    second, stock = outer.gradient(first, x), stock_outer.gradient(stock, x)
    np.testing.assert_allclose(second, stock, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "a_shape, b_shape, c_shape",
    [
        (None, None, [None, None]),
        ([None, 3], [4, 3], [None, 4]),
        ([2, None], [4, None], [2, 4]),
        ([0, 3], [4, 3], [0, 4]),
    ],
)
def test_static_shapes(a_shape, b_shape, c_shape):
    specs = [tf.TensorSpec(shape) for shape in (a_shape, b_shape)]
    product = tf.function(lambda a, b: mat_mul(a, b, transpose_b=True))
    traced = product.get_concrete_function(*specs)
    assert traced.output_shapes.as_list() == c_shape
    specs[1] = tf.TensorSpec(None)
    loops = tf.function(loop_mat_mul).get_concrete_function(*specs)
    rows = a_shape and a_shape[0]
    assert loops.output_shapes.as_list() == [rows, None]


@pytest.mark.parametrize(
    "a, b, eager, graph",
    [
        ([2, 3], [4, 5], "a has 3 columns, and b has 4 rows", "are 3 and 4"),
        ([3], [3, 1], "a must be a matrix, got shape .3.", "rank 2 but is rank 1"),
        ([1, 3], [1, 3, 1], "b must be a matrix", "rank 2 but is rank 3"),
        ([], [2, 2], "a must be a matrix, got shape ..", "rank 2 but is rank 0"),
    ],
)
def test_what_does_not_fit_is_refused(a, b, eager, graph):
    with pytest.raises(tf.errors.InvalidArgumentError, match=eager):
        mat_mul(tf.zeros(a), tf.zeros(b))
    with pytest.raises(tf.errors.InvalidArgumentError, match="with a row for each"):
        loop_mat_mul(tf.zeros(a), tf.zeros(b))
    for product in mat_mul, loop_mat_mul:
        with pytest.raises(ValueError, match=graph):
            tf.function(product)(tf.zeros(a), tf.zeros(b))


def test_the_message_speaks_of_transposition():
    message = "a, transposed, has 2 columns, and b, transposed, has 5 rows"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        mat_mul(tf.zeros([2, 3]), tf.zeros([4, 5]), True, True)


@pytest.mark.parametrize("product", [mat_mul, loop_mat_mul])
def test_too_many_elements_are_refused(mode, product):
    a, b = tf.zeros([2**40, 0]), tf.zeros([0, 2**40])
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="a and b is too large: .*overflow"
    ):
        mode(product)(a, b)


def test_other_dtypes_and_orders_are_refused(mode):
    integers = tf.ones([2, 2], tf.int32)
    with pytest.raises(
        (tf.errors.InvalidArgumentError, TypeError), match="allowed values"
    ):
        mode(mat_mul)(integers, integers)
    with pytest.raises(
        (tf.errors.InvalidArgumentError, ValueError), match="'columns'|\"columns\""
    ):
        mode(loop_mat_mul)(tf.ones([2, 2]), tf.ones([2, 2]), "columns")


def test_the_solution_of_the_exercise(mode, cpp_gradient):
    library = load_op_library(HERE / "libsolution_gram_matrix.so", "gram_matrix")
    for shape in (3, 4), (0, 2), (2, 0), (40, 7):
        x = values(*shape)
        y = mode(library.gram_matrix)(x)
        np.testing.assert_allclose(y, gram_matrix_reference(x), rtol=1e-5, atol=1e-5)
    x, dy = values(3, 4), values(4, 4)
    (dx,) = cpp_gradient(library.gram_matrix, [x], [dy])
    np.testing.assert_allclose(dx, x @ (dy + dy.T), rtol=1e-5, atol=1e-6)
    with pytest.raises(
        (tf.errors.InvalidArgumentError, ValueError), match="x must be a matrix|rank 2"
    ):
        mode(library.gram_matrix)(tf.zeros([2]))
