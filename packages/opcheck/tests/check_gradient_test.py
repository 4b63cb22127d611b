"""The check `gradient`."""

import numpy as np
import pytest
import tensorflow as tf
from broken_twins import caught, noted
from python_ops import adds_one, normal, result

from opcheck.checks.derivatives import _pattern

# The broken ops that it must find, and words of the explanation.
CAUGHT = {
    "cube_factor": "first order",
    "cube_eager_only": "numpy",
    "cube_second_order": "second order",
    "take_rows_no_none": "None",
    "cube_rows": "tf.IndexedSlices",
    "cube_one_dtype": "a cast to one dtype",
    "squared_conjugate": "complex",
    "take_rows_zeros": "None",
}
test_a_broken_op_is_caught = caught("gradient", CAUGHT)
# What is worth a note, and no more.
NOTED = {
    "cube_first_order": "no second order is registered",
}
test_what_is_not_wrong_is_noted = noted("gradient", NOTED)


def test_a_wrong_gradient_says_where():
    @tf.custom_gradient
    def op(x):
        return tf.identity(x), lambda grad: 3 * grad

    assert result("gradient", adds_one, normal(2)).verdict == "pass"
    found = result("gradient", op, normal(2), op_types=["IdentityN"])
    assert "1 for x[0], by finite differences" in found.expected
    assert found.seen.startswith("3 ")


def test_a_jump_beside_the_sample_is_no_slope():
    def jumps(x):
        return tf.where(x > 0.5, 2 * x + 1, x)

    assert result("gradient", jumps, np.array([0.500004, 2.0])).verdict == "pass"


@pytest.mark.parametrize("curve", [0, -20])
@pytest.mark.parametrize(
    ("side", "right"), [(0.0, True), (1.0, True), (1.01, False), (-0.01, False)]
)
def test_at_a_kink_the_slope_of_either_side_is_right(side, right, curve):
    @tf.custom_gradient
    def op(x):
        at_zero = tf.where(x == 0, tf.constant(side, x.dtype), tf.cast(x > 0, x.dtype))
        slope = at_zero + 2 * curve * x
        return tf.nn.relu(x) + curve * x**2, lambda dy: dy * slope

    x = np.array([0.0, 1.3, -0.4])
    found = result("gradient", op, x, op_types=["IdentityN"])
    assert (found.verdict != "fail") == right, found.explanation()


def test_a_sample_on_a_knot_is_at_a_kink():
    """Either slope is right: half of their difference may be rounded to less than the way to one of them."""

    @tf.custom_gradient
    def op(x, at):
        at.shape.assert_has_rank(0)
        slopes = 0.01 * tf.cast(x >= at, x.dtype)
        results = slopes * (x - at)
        return results, lambda dy: (dy * slopes, -tf.reduce_sum(dy * slopes))

    numbers = np.float32([0.25, 0.5, 0.75, 3])
    found = result("gradient", op, numbers, np.float32(0.5), op_types=["IdentityN"])
    assert found.verdict != "fail", found.explanation()


@pytest.mark.parametrize("right", [True, False])
def test_kinks_in_sums_of_many_results_do_not_cancel(right):
    @tf.custom_gradient
    def op(x):
        above = tf.cast(x > 0, x.dtype)
        return tf.nn.relu(x), lambda dy: dy * (above if right else -above)

    x = np.maximum(normal(100), 0)
    found = result("gradient", op, x, op_types=["IdentityN"])
    assert (found.verdict != "fail") == right, found.explanation()


def weighed(x, weights, meant=tf.identity):
    @tf.custom_gradient
    def op(x, weights):
        x.shape.assert_is_compatible_with(weights.shape)
        return x * weights, lambda dy: (dy * tf.math.conj(weights), None)

    return op(x, meant(weights))


def weighed_by_constants(x, weights):
    """Weighs x. There is no gradient for the weights."""
    return weighed(x, weights)


def weighed_by_calibrated(x, weights):
    """Weighs x; the weights are calibrated, not trained."""
    return weighed(x, weights)


def weighed_by_stopped(x, weights):
    return weighed(x, weights, tf.stop_gradient)


@pytest.mark.parametrize(
    ("op", "verdict"),
    [
        (weighed, "fail"),
        (weighed_by_constants, "note"),
        (weighed_by_calibrated, "note"),
        (weighed_by_stopped, "note"),
    ],
)
def test_no_gradient_where_the_results_change_is_wrong_unless_it_is_said(
    op, verdict, monkeypatch
):
    monkeypatch.setattr("opcheck.checks.gradient.is_builtin", lambda name: False)
    options = {"op_types": ["IdentityN"], "isolate": False}
    found = result("gradient", op, normal(3), 2 + normal(3), **options)
    assert found.verdict == verdict, found.explanation() or found.detail
    if verdict == "fail":
        assert found.detail.startswith("first order, with respect to weights")
        assert found.seen == "None, which callers take for zero"


@pytest.mark.parametrize(("cut", "verdict"), [(False, "fail"), (True, "pass")])
def test_one_of_a_few_integers_is_one_more(cut, verdict):
    @tf.custom_gradient
    def padded(x, rows):
        tf.debugging.assert_equal(tf.shape(x), [3])
        padded = tf.pad(x, [[0, rows - 3]])
        return padded, lambda dy: (dy[:3] if cut else dy, None)

    def reference(x, rows):
        return np.pad(x, [0, rows - 3])

    some = normal(3), np.int32(3)
    found = result("gradient", padded, *some, reference=reference)
    assert found.verdict == verdict, found.explanation() or found.detail
    if verdict == "fail":
        assert found.detail == "first order, rows.flat[0] = 4"
        assert found.seen == "shape (4,)"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda dy: 3 * dy, "it is 3 times"),
        (lambda dy: -dy, "the wrong sign"),
        (lambda dy: dy[::-1], "in the wrong places"),
        (lambda dy: dy * [0, 0, 1], "it is 0 in 2 places"),
    ],
)
def test_what_wrong_gradients_have_in_common_is_told(wrong, told):
    @tf.custom_gradient
    def op(x):
        return 2 * x, lambda dy: 2 * wrong(dy)

    found = result("gradient", op, np.float64([1, 2, 4]), op_types=["IdentityN"])
    assert told in found.cause, found.explanation()


def test_a_second_order_of_jumps_may_be_none():
    @tf.custom_gradient
    def op(x):
        x = tf.identity(x)
        return tf.nn.relu(x), lambda grad: grad * tf.cast(x > 0, x.dtype)

    near = np.append(normal(20), [6e-5, -6e-5, 8e-5, -8e-5])
    assert result("gradient", op, near, op_types=["IdentityN"]).verdict != "fail"


def greatest(x):
    return tf.raw_ops.TopKV2(input=x, k=2).values


def spread(x):
    return greatest(x) - tf.sort(x)[:2]


@pytest.mark.parametrize("op, verdict", [(greatest, "fail"), (spread, "pass")])
def test_the_gradient_of_an_op_of_tensorflow_is_judged_alone(op, verdict):
    found = result("gradient", op, normal(3))
    assert found.verdict == verdict
    assert verdict == "pass" or "None for input 1" in found.expected


@pytest.mark.parametrize(
    ("factors", "ok", "detail"),
    [
        ((6, 3), True, "float64, with respect to x; second order too"),
        ((6, 2), False, "second order, with respect to the gradient of output 0"),
        ((5, 3), False, "second order, with respect to x"),
    ],
)
def test_second_order_is_that_of_inputs_and_of_the_gradient_coming_in(
    factors, ok, detail
):
    @tf.custom_gradient
    def cube_grad(x, dy):
        of_x, of_dy = factors
        return 3 * x**2 * dy, lambda g: (of_x * x * dy * g, of_dy * x**2 * g)

    @tf.custom_gradient
    def cube(x):
        return x**3, lambda dy: cube_grad(x, dy)

    found = result("gradient", lambda x: cube(x), normal(2), op_types=["IdentityN"])
    assert (found.verdict != "fail") == ok
    assert found.detail.startswith(detail)


def test_float64_is_for_the_inputs_that_can_be_it():
    def op(x, scale):
        tf.debugging.assert_type(scale, tf.float32)
        return tf.square(x) * tf.cast(scale, x.dtype)

    found = result("gradient", op, normal(2), np.float32(3), op_types=["Square"])
    assert found.detail.startswith("float64, with respect to x, scale")
    assert found.verdict == "pass"


def test_no_gradient_is_a_skip_unless_demanded():
    def op(x):
        return tf.raw_ops.Snapshot(input=x)

    assert result("gradient", tf.argmax, normal(3)).detail == "no float output"
    found = result("gradient", op, normal(3), op_types=["Snapshot"])
    assert (found.verdict, found.detail) == ("skip", "no gradient is registered")
    found = result("gradient", op, normal(3), op_types=["Snapshot"], gradient=True)
    assert (found.verdict, found.seen) == ("fail", "none for Snapshot")


@pytest.mark.parametrize(
    ("where", "is_odd"),
    [
        ("inside tf.function", lambda x: x.shape.is_fully_defined()),
        (
            "inside tf.function with unknown dimensions",
            lambda x: x.shape.rank and not x.shape.is_fully_defined(),
        ),
        ("inside tf.function with unknown rank", lambda x: x.shape.rank is None),
    ],
)
def test_the_gradient_is_taken(where, is_odd):
    @tf.custom_gradient
    def op(x):
        odd = not tf.executing_eagerly() and is_odd(x)
        return tf.identity(x), lambda grad: 2 * grad if odd else grad

    found = result("gradient", op, normal(2), op_types=["IdentityN", "Identity"])
    assert f"the gradient {where}" in found.detail


def log_of_one_minus(x, slope):
    """log(1 - exp(-x)) for positive numbers."""
    return tf.math.log(-tf.math.expm1(-x)), lambda grad: grad * slope(x)


def softplus(x, slope):
    return tf.math.softplus(x), lambda grad: grad * slope(x)


@pytest.mark.parametrize(
    ("op", "slope", "words"),
    [
        (log_of_one_minus, lambda x: 1 / tf.math.expm1(x), ""),
        (log_of_one_minus, lambda x: 1 / (tf.exp(x) - 1), "x times 7.45e-09"),
        (softplus, tf.sigmoid, ""),
        (softplus, lambda x: tf.exp(x) / (1 + tf.exp(x)), "x plus 100"),
    ],
)
def test_the_gradient_in_float32_keeps_its_digits(op, slope, words):
    @tf.custom_gradient
    def function(x):
        return op(x, slope)

    x = np.float32([0.5, 1, 2.5, 5])
    found = result("gradient", function, x, op_types=["IdentityN"])
    assert (found.verdict == "fail") == bool(words), found.explanation()
    wanted = f"the gradient in float32, with respect to x, {words}"
    assert found.detail == wanted or not words


def test_the_gradient_in_float32_is_that_in_float64():
    def wrong(dtype):
        @tf.custom_gradient
        def op(x):
            return tf.identity(x), lambda grad: grad * (2 if x.dtype == dtype else 1)

        return op

    for dtype, fails in ((tf.float32, True), (tf.float16, False)):
        found = result("gradient", wrong(dtype), normal(2), op_types=["IdentityN"])
        assert (found.verdict == "fail") == fails
    found = result("gradient", wrong(tf.float32), normal(2), op_types=["IdentityN"])
    assert found.detail == "the gradient in float32, with respect to input 0"
    wanted, words = found.expected.split(", ")
    assert words == "as in float64"
    assert float(found.seen.split()[0]) == pytest.approx(2 * float(wanted), rel=1e-5)


@pytest.mark.parametrize("by_number", [False, True])
def test_one_tensor_may_be_both_inputs(by_number):
    @tf.custom_gradient
    def op(x, y):
        x.shape.assert_is_compatible_with(y.shape)

        def grad(dy):
            parts = dy * y**2, 2 * dy * x * y
            by_tensor = dict(zip((x.ref(), y.ref()), parts))
            return parts if by_number else (by_tensor[x.ref()], by_tensor[y.ref()])

        return x * y**2, grad

    found = result("gradient", op, normal(3), 1 + normal(3), op_types=["IdentityN"])
    assert (found.verdict == "fail") != by_number
    if not by_number:
        assert found.detail == "one tensor for x and y"


@pytest.mark.parametrize("stopped", [tf.stop_gradient, tf.identity])
def test_a_second_order_that_is_none_has_to_be_zero(stopped):
    @tf.custom_gradient
    def cube(x):
        return x**3, lambda dy: dy * stopped(3 * x**2)

    def op(x):
        return cube(x)

    found = result("gradient", op, 1 + normal(2) ** 2, op_types=["IdentityN"])
    assert (found.verdict == "fail") == (stopped is tf.stop_gradient)
    if found.verdict == "fail":
        assert found.detail == "second order, with respect to x"
        assert found.seen == "None, which callers take for zero"


def test_a_static_shape_of_the_gradient_has_to_hold():
    @tf.custom_gradient
    def op(x):
        def grad(dy):
            wrong = tf.identity(dy)
            if not tf.executing_eagerly() and x.shape.is_fully_defined():
                wrong = tf.raw_ops.PlaceholderWithDefault(input=dy, shape=[None])
                wrong.set_shape([7])
            return wrong

        return tf.identity(x), grad

    found = result("gradient", op, normal(2), op_types=["IdentityN"])
    assert "the shape of the gradient inside tf.function" in found.detail


@pytest.mark.parametrize("permuted", [False, True])
def test_other_numbers_have_another_order(permuted):
    """The permutation that sorts the sample is its own inverse."""

    @tf.custom_gradient
    def op(x):
        order = tf.argsort(x)

        def grad(dy):
            return tf.gather(dy, order if permuted else tf.argsort(order))

        return tf.gather(x, order), grad

    found = result("gradient", op, np.float32([2, 1, 4, 3]), op_types=["IdentityN"])
    assert (found.verdict == "fail") == permuted
    assert not permuted or "x in another order" in found.detail


@pytest.mark.parametrize("conjugate", [tf.math.conj, tf.identity])
def test_the_gradient_of_complex_numbers(conjugate):
    @tf.custom_gradient
    def op(x, y):
        return x * y, lambda dy: (dy * conjugate(y), dy * conjugate(x))

    x, y = (np.complex64([1 + 2j, 3 - 1j]) * n for n in (1, 2j))
    found = result("gradient", op, x, y, op_types=["IdentityN"])
    assert (found.verdict == "fail") == (conjugate is tf.identity)
    if conjugate is tf.identity:
        assert "tf.math.conj" in found.cause
        assert found.detail.startswith("first order, with respect to the real part")
    else:
        assert "the imaginary part of y; second order too" in found.detail


@pytest.mark.parametrize("op", [tf.signal.fft, tf.abs, tf.math.angle, tf.math.conj])
def test_gradients_of_complex_numbers_in_tensorflow(op):
    found = result("gradient", op, np.complex64([1 + 2j, 3 - 1j]))
    assert found.verdict in ("pass", "note"), found.explanation()
    assert "part of" in found.detail


def stacked_with_double(x, axis=0, summed=None):
    @tf.custom_gradient
    def op(x):
        def grad(dy):
            along = axis if summed is None else summed
            return tf.gather(dy, 0, axis=along) + 2 * tf.gather(dy, 1, axis=along)

        return tf.raw_ops.Pack(values=[x, 2 * x], axis=axis), grad

    return op(x)


@pytest.mark.parametrize("summed", [None, 0])
def test_another_axis_is_tried_where_the_reference_knows_it(summed):
    def reference(x, axis=0, summed=None):
        return np.stack([x, 2 * x], axis)

    options = {"op_types": ["Pack", "IdentityN"], "summed": summed}
    for known in (None, reference):
        found = result(
            "gradient", stacked_with_double, normal(2), reference=known, **options
        )
        fails = known is not None and summed == 0
        assert (found.verdict == "fail") == fails, found.explanation()
    assert not fails or "axis = 1" in found.detail


@pytest.mark.parametrize("axes", [lambda x: tf.range(tf.rank(x) - 1), lambda x: 0])
def test_a_gradient_is_summed_over_a_dimension_more(axes):
    @tf.custom_gradient
    def op(x, y):
        x.shape[-1:].assert_is_compatible_with(y.shape)
        return x * y, lambda dy: (dy * y, tf.reduce_sum(dy * x, axes(x)))

    found = result("gradient", op, normal(2, 3), normal(3), op_types=["IdentityN"])
    wrong = "one dimension more in x" in found.detail
    assert wrong == isinstance(axes(normal(2)), int), found.explanation()


def test_sparse_gradients_do_not_hide_what_else_is_wrong(monkeypatch):
    for module in ("gradient", "gradient_calls"):
        name = f"opcheck.checks.{module}.is_builtin"
        monkeypatch.setattr(name, lambda name: False)

    @tf.custom_gradient
    def op(x):
        norm = tf.norm(x, axis=1)
        return norm, lambda dy: x / norm[:, tf.newaxis] * dy[:, tf.newaxis]

    found = result("gradient", op, normal(2, 3), op_types=["IdentityN"])
    told = [one.detail for one in (found, *found.others)]
    assert "where x is all 0" in told[0]
    assert told[1] == "the gradient of tf.gather(output, [0])"


def test_a_gradient_need_not_feel_a_factor():
    @tf.custom_gradient
    def op(x):
        norm = tf.norm(x, axis=1)
        return norm, lambda dy: x / norm[:, tf.newaxis] * dy[:, tf.newaxis]

    found = result("gradient", op, np.float64([[1, 2, 2]]), op_types=["IdentityN"])
    assert found.verdict != "fail", found.explanation()


def refuses_above_1(x):
    if (x > 1).any():
        raise ValueError("x must be at most 1")
    return np.clip(x, 0, 1)


@pytest.mark.parametrize(
    ("masked", "options"),
    [(False, {}), (True, {}), (False, {"reference": refuses_above_1})],
)
def test_a_clamp_that_the_sample_does_not_meet(masked, options):
    @tf.custom_gradient
    def op(x):
        inside = tf.cast((x > 0) & (x < 1), x.dtype)
        return tf.clip_by_value(x, 0, 1), lambda dy: dy * inside if masked else dy

    x = np.float32([[0.3, 0.5], [0.6, 0.9]])
    found = result("gradient", op, x, op_types=["IdentityN"], **options)
    assert (found.verdict == "fail") != masked, found.explanation()
    if not masked:
        where = "x negated, last first" if options else "x times 3"
        assert where in found.detail and "a clamp" in found.cause


@pytest.mark.parametrize("wrong", [3, None])
def test_the_gradient_of_drawn_calls(wrong):
    def power(x, n):
        @tf.custom_gradient
        def op(x):
            slope = n * x ** (n - 1)
            return x**n, lambda dy: dy * (x if n == wrong else slope)

        return op(x)

    options = {"n": 2, "op_types": ["IdentityN"], "reference": lambda x, n: x**n}
    found = result("gradient", power, np.float32([0.5, 1.5]), **options)
    assert (found.verdict == "fail") == bool(wrong), found.explanation()
    assert not wrong or "with n = 3" in found.detail


def test_probabilities_stay_what_they_are():
    @tf.custom_gradient
    def op(labels):
        labels.shape[-1:].assert_is_compatible_with([3])
        total = tf.reduce_sum(labels, -1, keepdims=True)
        return (
            labels * total,
            lambda dy: dy + tf.reduce_sum(dy * labels, -1, keepdims=True),
        )

    labels = np.float32([[0.2, 0.3, 0.5]])
    found = result("gradient", op, labels, op_types=["IdentityN"])
    assert "first order" not in found.detail, found.explanation()


def scaled_triangle(factor):
    @tf.custom_gradient
    def op(x):
        lower = tf.linalg.band_part(x, -1, 0)
        return lower * lower, lambda dy: factor * dy * tf.linalg.band_part(x, -1, 0)

    return op


@pytest.mark.parametrize(
    ("op", "seen"),
    [
        (tf.linalg.cholesky, ""),
        (tf.linalg.eigvalsh, ""),
        (scaled_triangle(2), ""),
        (scaled_triangle(3), "3 times"),
    ],
    ids=["cholesky", "eigvalsh", "right", "wrong"],
)
def test_of_symmetric_matrices_one_triangle_may_count(op, seen):
    """TensorFlow's gradient of Cholesky is half for either triangle, though the lower one alone is read."""
    options = {} if "linalg" in op.__module__ else {"op_types": ["IdentityN"]}
    found = result("gradient", op, np.float64([[4, 1], [1, 3]]), **options)
    assert (found.verdict == "fail") == bool(seen), found.explanation()
    assert "inf times" not in found.cause


def test_a_result_that_is_no_number_has_no_gradient():
    """The derivative of the first, 0 times NaN, is NaN even where the second alone is asked for."""
    assert result("gradient", tf.sqrt, np.float64([-1, 2])).verdict == "pass"


def test_a_gradient_that_is_no_number_is_said_to_be_none():
    found = result("gradient", tf.math.reduce_std, np.float64([2, 2]))
    assert "it is NaN" in found.cause, found.explanation()


@tf.custom_gradient
def spoils_what_it_owns(x):
    def gradient(grad):
        owned = not tf.executing_eagerly() and grad.op.type != "Placeholder"
        return -grad if owned else grad

    return tf.identity(x), gradient


def test_a_gradient_that_is_overwritten_is_not_put_down_to_what_a_graph_knows():
    found = result("gradient", spoils_what_it_owns, normal(3), op_types=["IdentityN"])
    assert "forward_input" in found.cause, found.explanation()


@tf.custom_gradient
def rounds(x):
    return tf.round(x), lambda grad: grad


@tf.custom_gradient
def clamps(x):
    return tf.minimum(x, 9.0), lambda grad: grad


@tf.custom_gradient
def rounds_to_parts(x):
    part = tf.reduce_max(tf.abs(x)) / 99
    return tf.round(x / part) * part, lambda grad: grad


@pytest.mark.parametrize(
    ("op", "sample", "verdict"),
    [
        (rounds, 2 * normal(4), "note"),
        (tf.quantization.fake_quant_with_min_max_args, normal(4, 3), "note"),
        (rounds_to_parts, normal(4), "note"),
        (clamps, 10 + normal(4), "fail"),
    ],
)
def test_a_gradient_for_what_moves_in_steps_is_meant(op, sample, verdict):
    options = {} if op.__name__.startswith("fake") else {"op_types": ["IdentityN"]}
    found = result("gradient", op, sample, **options)
    assert found.verdict == verdict, found.explanation()
    assert verdict == "fail" or "in steps" in found.detail


def rounded_by_channel(limits_of):
    @tf.custom_gradient
    def op(x, limits):
        x.shape[-1:].assert_is_compatible_with(limits.shape)
        limits = tf.cast(limits, x.dtype)
        within = tf.cast(tf.abs(x) < limits_of(limits), x.dtype)
        rounded = tf.round(tf.clip_by_value(x, -limits, limits))
        return rounded, lambda grad: (grad * within, None)

    return op


@pytest.mark.parametrize(
    ("limits_of", "verdict"),
    [
        (tf.identity, "note"),
        (lambda limits: limits[0], "fail"),
        (tf.reduce_max, "fail"),
    ],
)
def test_a_gradient_for_steps_takes_the_limits_of_its_own_channel(limits_of, verdict):
    op, limits = rounded_by_channel(limits_of), np.int32([5, 9, 30])
    options = {"op_types": ["IdentityN"]}
    found = result("gradient", op, 2 * normal(4, 3), limits, **options)
    assert found.verdict == verdict, found.explanation()
    if verdict == "fail":
        assert "dimension 1 of x and dimension 0 of limits" in found.detail
        assert "which the op does not" in found.cause


@tf.custom_gradient
def below_the_largest(x):
    """Of equal ones, the first takes the gradient."""
    y = tf.round(x)
    largest = tf.one_hot(tf.argmax(y, -1), tf.shape(y)[-1], dtype=y.dtype)
    down = y - tf.reduce_max(y, -1, keepdims=True)
    return down, lambda grad: grad - largest * tf.reduce_sum(grad, -1, keepdims=True)


def test_which_of_equal_ones_has_the_gradient_may_depend_on_the_order():
    x = np.float64([[1.9, 2.2, 0.3], [3.1, 0.2, 2.8]])
    found = result("gradient", below_the_largest, x, op_types=["IdentityN"])
    assert found.verdict == "note", found.explanation()


@pytest.mark.parametrize(("factor", "verdict"), [(2, "note"), (3, "fail")])
def test_an_op_in_float64_may_round_as_float32(factor, verdict):
    """That is for `dtypes` to say."""

    @tf.custom_gradient
    def square(x):
        y = tf.cast(tf.cast(x, tf.float32) ** 2, x.dtype)
        return y, lambda grad: factor * x * grad

    x = np.float64([[0.3, 1.7], [2.9, -1.1]])
    found = result("gradient", square, x, op_types=["IdentityN"])
    assert found.verdict == verdict, found.explanation()
    assert verdict == "fail" or "rounding errors of float32" in found.detail


def from_a_dataset(x):
    return tf.data.Dataset.from_tensors(2 * x).get_single_element()


def test_an_op_of_tensorflow_without_a_gradient_is_no_finding():
    found = result("gradient", from_a_dataset, normal(2))
    assert found.verdict == "skip", found.explanation()
    assert "has no entry for: DatasetToSingleElement" in found.detail
    found = result("gradient", from_a_dataset, normal(2), gradient=True)
    assert found.verdict == "fail"


@pytest.mark.parametrize("mode", ["REFLECT", None])
def test_every_mode_of_the_op_is_tried(mode):
    def padded(x, mode="REFLECT"):
        @tf.custom_gradient
        def op(x):
            def grad(dy):
                of = {"paddings": [[1, 1]], "mode": only or mode}
                return tf.raw_ops.MirrorPadGrad(input=dy, **of)

            return tf.raw_ops.MirrorPad(input=x, paddings=[[1, 1]], mode=mode), grad

        return op(x)

    only, types = mode, ["MirrorPad", "IdentityN"]
    found = result("gradient", padded, normal(4), op_types=types)
    assert (found.verdict == "fail") == bool(mode), found.explanation()
    assert not mode or "mode = SYMMETRIC" in found.detail


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("added", [True, False])
def test_a_number_may_come_twice_in_a_column(added, first):
    """The edges of the sample have no node twice in a column, and the gradient of an edge is scattered by columns."""

    def scatter(numbers, places, size):
        if added:
            return tf.math.unsorted_segment_sum(numbers, places, size)
        zeros = tf.zeros([size], numbers.dtype)
        return tf.tensor_scatter_nd_update(zeros, places[:, tf.newaxis], numbers)

    @tf.custom_gradient
    def op(x, edges):
        def grad(dy):
            some = [scatter(dy, edges[:, 1 - first], tf.size(x))]
            again = tf.math.unsorted_segment_sum(dy, edges[:, first], tf.size(x))
            return some[0] + 2 * again, None

        return tf.gather(x, edges[:, 1 - first]) + 2 * tf.gather(
            x, edges[:, first]
        ), grad

    edges = np.int32([[0, 1], [1, 2], [2, 3]])
    found = result("gradient", op, normal(4), edges, op_types=["IdentityN"])
    assert (found.verdict != "fail") == added, found.explanation()
    if not added:
        told = ["edges[1, 1] in edges[0, 1] too", "edges[0, 0] in edges[1, 0] too"]
        assert told[first] in found.detail


@pytest.mark.parametrize(
    ("sample", "ok"), [([1.0, -2, 0.5], False), ([293.0, 310, 415], True)]
)
def test_zeros_are_not_tried_for_what_is_far_from_them(monkeypatch, sample, ok):
    monkeypatch.setattr("opcheck.checks.gradient_calls.is_builtin", lambda name: False)

    @tf.custom_gradient
    def op(x):
        weights = tf.where(x == 0, tf.zeros_like(x), 2 / x)
        return tf.math.square(x), lambda dy: dy * x**2 * weights * tf.abs(x) / tf.abs(x)

    found = result("gradient", op, np.float64(sample), op_types=["IdentityN"])
    assert (found.verdict != "fail") == ok, found.explanation()


def test_an_index_that_is_absent_is_tried():
    @tf.custom_gradient
    def op(x, nodes):
        known = tf.math.bincount(nodes, minlength=4, maxlength=4) > 0
        return tf.where(known, x, 2 * x), lambda dy: (dy, None)

    nodes = np.int32([0, 0, 1, 2, 3, 3])
    found = result("gradient", op, normal(4), nodes, op_types=["IdentityN"])
    assert found.detail == "first order, no 2 in nodes, with respect to x"


@pytest.mark.parametrize("right", [True, False])
def test_a_bound_that_the_sample_does_not_reach_is_raised(right):
    """As an epsilon, below which a norm is clamped."""

    def unit(x, alpha=0.001):
        @tf.custom_gradient
        def divided(x):
            norm = tf.maximum(tf.norm(x), alpha)
            direction = tf.where(right & (tf.norm(x) < alpha), 0 * x, x / norm)
            y = x / norm + 0 * tf.raw_ops.LeakyRelu(features=x, alpha=alpha)

            def gradient(dy):
                return (dy - direction * tf.reduce_sum(dy * direction)) / norm

            return y, gradient

        return divided(x)

    options = {
        "op_types": ["LeakyRelu"],
        "reference": lambda x, alpha=0.001: x / max(np.linalg.norm(x), alpha),
    }
    found = result("gradient", unit, np.float64([3, -4]), **options)
    assert (found.verdict != "fail") == right, found.explanation()
    assert right or found.detail.startswith("first order, alpha = 8.0")


@pytest.mark.parametrize("right", [True, False])
def test_one_element_of_0_is_tried(right):
    @tf.custom_gradient
    def product(x):
        x.shape.assert_has_rank(1)
        y = tf.reduce_prod(x)
        before = tf.math.cumprod(x, exclusive=True)
        others = before * tf.math.cumprod(x, exclusive=True, reverse=True)
        return y, lambda dy: dy * (others if right else tf.math.divide_no_nan(y, x))

    options = {"op_types": ["IdentityN"], "reference": np.prod}
    found = result("gradient", product, np.float64([2, -1, 3]), **options)
    assert (found.verdict != "fail") == right, found.explanation()
    assert right or "x with a 0" in found.detail


@pytest.mark.parametrize("op", [tf.linalg.cholesky, tf.round])
def test_no_element_of_0_is_tried_where_the_gradient_is_not_the_slope(op):
    x = np.float64([[4, 1], [1, 3]])
    reference = np.linalg.cholesky if op is tf.linalg.cholesky else np.round
    found = result("gradient", op, x, reference=reference)
    assert found.verdict != "fail", found.explanation()


@tf.custom_gradient
def halved_with_a_gradient_of_floats(x):
    def gradient(grad):
        return grad * tf.constant(0.5, tf.float32)

    return x / 2, gradient


def test_a_gradient_that_takes_fewer_dtypes_than_the_op_is_told_as_such():
    found = result("gradient", halved_with_a_gradient_of_floats, normal(3))
    assert found.detail == "first order, in float64"
    assert found.cause.startswith("the op takes float64; its gradient function")


def in_blocks_by_numpy(x, block_size):
    if any(n % block_size for n in x.shape[1:3]):
        raise ValueError("block_size divides no size of x")
    return tf.nn.space_to_depth(x, block_size).numpy()


def in_blocks(x, block_size):
    @tf.custom_gradient
    def op(x):
        def gradient(grad):
            if block_size == 2:
                return tf.nn.depth_to_space(grad, 2)
            return tf.reshape(grad, tf.shape(x))

        return tf.raw_ops.SpaceToDepth(input=x, block_size=block_size), gradient

    return op(x)


def test_an_integer_attr_is_one_more_where_the_reference_agrees():
    x = np.ones([1, 6, 6, 1], np.float32)  # is not drawn: each row has the sum 1
    options = {"block_size": 2, "reference": in_blocks_by_numpy}
    found = result("gradient", in_blocks, x, **options)
    assert "block_size = 3" in found.detail, found.explanation()


@tf.custom_gradient
def to_eighths(x):
    return tf.round(8 * x) / 8, lambda grad: grad


def test_a_gradient_of_steps_is_one_of_zeros_too():
    found = result("gradient", to_eighths, np.float32([0, 0.12, 0.25, 1, 3.3]))
    assert found.verdict == "note", found.explanation()


@tf.custom_gradient
def steps_of_rows(x):
    y = tf.concat([x[..., :1], x[..., 1:] - x[..., :-1]], -1)

    def gradient(grad):
        flat = tf.reshape(grad, [-1])
        return tf.reshape(flat - tf.concat([flat[1:], [0]], 0), tf.shape(x))

    return y, gradient


def test_a_gradient_goes_on_into_the_next_row():
    found = result("gradient", steps_of_rows, normal(4))
    assert "x twice, in one dimension more" in found.detail, found.explanation()


@tf.custom_gradient
def scaled(x, by):
    def summed(y, x):
        return tf.reduce_sum(y, keepdims=True) if x.shape == [1] else y

    return x * by, lambda grad: (summed(grad * by, x), summed(grad * x, by))


def test_a_scalar_is_given_for_each_input():
    found = result("gradient", scaled, normal(4), normal(2, 4)[1])
    assert "a scalar for " in found.detail, found.explanation()


@tf.custom_gradient
def log_determinant(x):
    """Its gradient has the inverse in place of the transposed one: right for symmetric matrices."""
    wrong = tf.linalg.inv(x)
    return tf.linalg.slogdet(x)[
        1
    ], lambda grad: grad[..., tf.newaxis, tf.newaxis] * wrong


@pytest.mark.slow
def test_a_symmetric_sample_is_not_all_if_the_op_reads_both_triangles():
    x = np.float64(
        [[[4, 1, 0], [1, 3, -1], [0, -1, 2]], [[2, 0, 1], [0, 5, 2], [1, 2, 3]]]
    )
    options = {"reference": lambda x: np.linalg.slogdet(x)[1]}
    found = result("gradient", log_determinant, x, **options)
    assert "with x of shape" in found.detail, found.explanation()
    right = result("gradient", lambda x: tf.linalg.slogdet(x)[1], x, **options)
    assert right.verdict == "pass", right.explanation()
    lower = result("gradient", tf.linalg.cholesky, x, reference=np.linalg.cholesky)
    assert lower.verdict == "pass", lower.explanation()


@pytest.mark.parametrize(
    ("seen", "told"), [([1.015, 1.97, 3.0], ""), ([3, 1, 2], "in the wrong places")]
)
def test_numbers_that_are_nearly_right_are_in_their_places(seen, told):
    wanted = np.array([[1.0, 2.0, 3.0]])
    cause = _pattern(wanted, np.array([seen]), wanted > 0, adds_one)
    assert told in cause and bool(cause) == bool(told), cause


@tf.custom_gradient
def doubled_for_any_loss(x):
    return 2 * x, lambda grad: 2 * tf.ones_like(grad)


def test_a_gradient_that_ignores_what_comes_in_is_told_so():
    found = result("gradient", doubled_for_any_loss, normal(3))
    assert "gradient that comes in" in found.cause, found.explanation()


@pytest.mark.parametrize(("by", "verdict"), [(1e-8, "pass"), (1e-4, "fail")])
def test_a_graph_may_have_an_attr_with_fewer_digits(by, verdict):
    @tf.custom_gradient
    def scaled(x):
        own = 1.0 if tf.executing_eagerly() else 1 + by
        return 3 * x, lambda grad: 3 * own * grad

    found = result("gradient", scaled, np.float64([1.0, -2.0]), isolate=False)
    assert found.verdict == verdict, found.explanation()
