"""Tests of WeightedSum and KeepRows, and of the specs of inputs and outputs: `pytest examples/lists`."""

import inspect
import subprocess
from pathlib import Path

import input_specs
import lists
import numpy as np
import precompiled
import pytest
import tensorflow as tf
from lists import keep_rows, weighted_sum
from lists_reference import (
    keep_rows_reference,
    weighted_sum_reference,
)
from op_library import load_op_library

from opcheck.testing import op_test

HERE = Path(__file__).parent
FLOATS = [tf.float16, tf.bfloat16, tf.float32, tf.float64]
INTEGERS = [tf.int8, tf.int16, tf.int32, tf.int64]
INTEGERS += [tf.uint8, tf.uint16, tf.uint32, tf.uint64]
ALL = FLOATS + INTEGERS + [tf.complex64, tf.complex128, tf.bool, tf.string]
REFUSED = (tf.errors.InvalidArgumentError, ValueError, TypeError)
SHAPES = [(), (1,), (7,), (3, 5), (2, 3, 4), (0,), (2, 0), (0, 3)]


def some(shape, dtype, seed=0):
    """Small numbers, of which there are equal ones, as a tensor of any of the types."""
    numbers = np.random.default_rng(seed).integers(0, 50, shape)
    if dtype == tf.string:
        return tf.strings.as_string(tf.constant(numbers))
    return tf.cast(tf.constant(numbers), dtype)


def static_shapes(op, *specs):
    """What the shape functions tell of inputs of which only this is known."""
    return tf.function(op, autograph=False).get_concrete_function(*specs).output_shapes


def floats(shape):
    return tf.TensorSpec(shape, tf.float32)


test_weighted_sum_keeps_its_promises = op_test(
    weighted_sum,
    list(np.float32([[[1, 2]], [[3, 4]], [[5, 6]]])),
    np.float32([1, -2, 0.5]),
    reference=weighted_sum_reference,
)
test_keep_rows_keeps_its_promises = op_test(
    keep_rows,
    [np.float32([[1, 2], [3, 4], [5, 6]]), np.int64([7, 8, 9])],
    np.array([True, False, True]),
    reference=keep_rows_reference,
)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("count", [1, 2, 5])
def test_weighted_sum_equals_numpy(dtype, shape, count):
    inputs = [some(shape, dtype, seed) for seed in range(count)]
    weights = some((count,), dtype, seed=9)
    # Of one weight, np.float64 of NumPy 2.0 makes a scalar.
    expected = weighted_sum_reference(np.float64(inputs), np.array(weights, np.float64))
    result = weighted_sum(inputs, weights)
    assert result.dtype == dtype
    rounded = tf.cast(tf.constant(expected, tf.float64), dtype)
    np.testing.assert_array_equal(result.numpy(), rounded.numpy())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 4097, 100_000])
def test_each_product_and_each_sum_is_rounded(dtype, size):
    """In the order of the list, whatever the processor can fuse and how many tensors are added at once."""
    random = np.random.default_rng(0)
    inputs, weights = random.standard_normal([15, size]), random.standard_normal(15)
    expected = np.zeros(size, dtype)
    for x, weight in zip(inputs.astype(dtype), weights.astype(dtype)):
        expected += weight * x
    result = weighted_sum(list(inputs.astype(dtype)), weights.astype(dtype))
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("dtype, rounded", [(tf.float16, 3000), (tf.bfloat16, 3008)])
def test_16_bits_are_added_in_32(dtype, rounded):
    ones = [tf.ones([], dtype)] * 3000
    assert float(weighted_sum(ones, tf.ones([3000], dtype))) == rounded


@pytest.mark.parametrize("dtype, large", [(tf.float16, 2048), (tf.bfloat16, 256)])
def test_of_the_compositions_einsum_under_xla_alone_adds_16_bits_in_32(dtype, large):
    """A one is lost when it is added to `large`."""

    def add_n(tensors, weights):
        return tf.add_n([x * weight for x, weight in zip(tensors, tf.unstack(weights))])

    def einsum(tensors, weights):
        return tf.einsum("n,ni->i", weights, tf.stack(tensors))

    tensors = [tf.cast([large], dtype), *[tf.ones([1], dtype)] * 63]
    found = {
        (way.__name__, xla): float(
            tf.function(way, jit_compile=xla)(tensors, tf.ones([64], dtype))[0]
        )
        for way in (add_n, einsum)
        for xla in (False, True)
    }
    exact = float(weighted_sum(tensors, tf.ones([64], dtype))[0])
    assert exact == float(tf.cast(large + 63.0, dtype))
    assert [way for way in found if found[way] == exact] == [("einsum", True)]


@pytest.mark.parametrize("dtype, step", [(tf.float16, 2**-10), (tf.bfloat16, 2**-7)])
def test_the_gradient_of_16_bits_is_added_in_32(mode, dtype, step):
    @mode
    def gradient(inputs, weights, grads):
        with tf.GradientTape() as tape:
            tape.watch(weights)
            result = weighted_sum([inputs], weights)
        return tape.gradient(result, weights, output_gradients=grads)

    inputs = tf.constant([1 + step, 1 + 2 * step], dtype)
    grads = tf.constant([1 + step, -1], dtype)  # step ** 2 is lost if rounded first
    result = gradient(inputs, tf.ones([1], dtype), grads)
    assert result.dtype == dtype
    np.testing.assert_array_equal(tf.cast(result, tf.float32), [step**2])


def test_gradient_of_weights_of_unknown_shape():
    @tf.function(input_signature=[floats(None), floats(None)], autograph=False)
    def gradients(a, weights):
        with tf.GradientTape() as tape:
            tape.watch([a, weights])
            result = weighted_sum([a, 2 * a], weights)
        return tape.gradient(result, [a, weights])

    by_a, by_weights = gradients([1.0, 2.0], [3.0, 4.0])
    np.testing.assert_array_equal(by_a, [11, 11])
    np.testing.assert_array_equal(by_weights, [3, 6])


def test_weighted_sum_shapes():
    def op(a, b, weights):
        return weighted_sum([a, b], weights)

    def shape(a, b, weights=(None,)):
        return static_shapes(op, floats(a), floats(b), floats(weights))

    assert shape([2, None], [None, 3]).as_list() == [2, 3]
    assert shape(None, [None, 3], None).as_list() == [None, 3]
    assert shape(None, None, [2]) == tf.TensorShape(None)


@pytest.mark.parametrize(
    "inputs, weights, message",
    [
        (
            [[1.0, 2.0], [1.0]],
            [1.0, 1.0],
            r"inputs\[1\] has shape \[1\], expected \[2\]",
        ),
        ([[1.0], 2.0], [1.0, 1.0], r"inputs\[1\] has shape \[\], expected \[1\]"),
        ([[1.0]], [1.0, 2.0], r"weights has shape \[2\], expected \[1\]"),
        ([[1.0]], [[1.0]], r"weights has shape \[1,1\], expected \[1\]"),
    ],
)
def test_weighted_sum_refuses_shapes(inputs, weights, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        weighted_sum(inputs, weights)
    with pytest.raises(ValueError, match="must be (equal|rank 1|rank 0|at least)"):
        tf.function(weighted_sum)(inputs, weights)
    unknown = tf.function(
        lambda tensors, weights: weighted_sum(tensors, weights),
        input_signature=[[floats(None)] * len(inputs), floats(None)],
        autograph=False,
    )
    tensors = [tf.constant(tensor) for tensor in inputs]
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        unknown(tensors, tf.constant(weights))


def test_weighted_sum_refuses_lists_that_are_none(mode):
    with pytest.raises(
        REFUSED, match="at least minimum 1|shorter than minimum length 1"
    ):
        mode(weighted_sum)([], [])
    with pytest.raises(TypeError, match="Expected list for 'inputs'"):
        mode(weighted_sum)(tf.ones([2, 2]), [1.0, 1.0])  # numbers from Python
    with pytest.raises(REFUSED, match="requested dtype float32|don't all match"):
        mode(weighted_sum)([tf.ones([1]), tf.ones([1], tf.float64)], [1.0, 1.0])
    with pytest.raises(REFUSED, match="expected to be a float|does not match type"):
        mode(weighted_sum)([tf.ones([1])], tf.ones([1], tf.float64))
    with pytest.raises(REFUSED, match="int32.* not in (the )?list of allowed values"):
        mode(weighted_sum)([[1], [2]], [1, 2])


def test_literals_take_the_type_of_the_tensor_beside_them(mode):
    result = mode(lambda: weighted_sum([[1, 2], tf.ones([2], tf.half)], [0.5, 2]))()
    assert result.dtype == tf.half
    np.testing.assert_array_equal(result, [2.5, 3.0])


def unknown_shapes(op, *inputs):
    """Calls it in a graph in which no shape is known, so that the kernel must look."""
    specs = [tf.TensorSpec(None, tensor.dtype) for tensor in inputs]
    return tf.function(op, input_signature=specs, autograph=False)(*inputs)


@pytest.mark.parametrize("count", [0, 1, 4])
def test_keep_rows_equals_numpy(mode, count):
    tensors = [some((6, *((2,) * (i % 3))), dtype, i) for i, dtype in enumerate(ALL)]
    keep = np.zeros(6, bool)
    keep[np.random.default_rng(0).permutation(6)[:count]] = True
    kept, rows = mode(keep_rows)(tensors, keep)
    expected, where = keep_rows_reference([x.numpy() for x in tensors], keep)
    np.testing.assert_array_equal(rows, where, strict=True)
    assert [tensor.dtype for tensor in kept] == [tensor.dtype for tensor in tensors]
    for tensor, left in zip(expected, kept, strict=True):
        np.testing.assert_array_equal(left, tensor, strict=True)


def test_keep_rows_shapes():
    def shapes(a, b, keep):
        keep = tf.TensorSpec(keep, tf.bool)
        op = lambda a, b, keep: keep_rows([a, b], keep)  # noqa: E731
        return static_shapes(op, floats(a), floats(b), keep)

    (a, b), rows = shapes([4, 3], [None], [4])
    assert (a.as_list(), b.as_list(), rows.as_list()) == ([None, 3], [None], [None])
    (a, b), rows = shapes(None, [None, 2], None)
    assert (a, b.as_list(), rows.as_list()) == (tf.TensorShape(None), [None, 2], [None])


@pytest.mark.parametrize(
    "tensor, keep, message, traced",
    [
        (
            [1.0],
            [True, True],
            r"tensors\[1\] has shape \[1\], expected 2 rows",
            "equal",
        ),
        (1.0, [True, True], r"tensors\[1\] has shape \[\], expected 2 rows", "rank 1"),
        ([1.0], True, r"keep has shape \[\], expected a vector", "rank 1"),
        ([1.0], [[True]], r"keep has shape \[1,1\], expected a vector", "rank 1"),
    ],
)
def test_keep_rows_refuses_shapes(tensor, keep, message, traced):
    first, tensor, keep = (
        tf.constant(["a", "b"]),
        tf.constant(tensor),
        tf.constant(keep),
    )

    def op(first, tensor, keep):
        return keep_rows([first, tensor], keep)

    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        op(first, tensor, keep)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        unknown_shapes(op, first, tensor, keep)
    with pytest.raises(ValueError, match=traced):
        tf.function(op)(first, tensor, keep)


def test_keep_rows_refuses_types(mode):
    with pytest.raises(REFUSED, match="at least minimum 1|less than minimum 1"):
        mode(keep_rows)([], [True])
    with pytest.raises(REFUSED, match="not in (the )?list of allowed values"):
        mode(keep_rows)([tf.constant([1], tf.qint8)], [True])


@pytest.mark.parametrize("dtype", [tf.half, tf.bfloat16, tf.complex64])
def test_only_what_is_differentiable_has_a_gradient(mode, dtype):
    @mode
    def gradients(numbers, names, labels):
        with tf.GradientTape() as tape:
            tape.watch([numbers, labels])
            (kept, _, _), _ = keep_rows([numbers, names, labels], [True, False])
        return tape.gradient(kept, [numbers, labels], output_gradients=2 * kept)

    numbers = tf.constant([3, 4], dtype)
    result, none = gradients(numbers, tf.constant(["a", "b"]), tf.constant([1, 2]))
    np.testing.assert_array_equal(tf.cast(result, tf.float32), [6, 0])
    assert none is None


def test_the_gradient_of_rows_without_elements(mode):
    @mode
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            [kept], _ = keep_rows([x], [True, False])
        return tape.gradient(kept, x)

    assert gradient(tf.zeros([2, 0])).shape == [2, 0]


def test_the_solution_of_the_exercise(mode):
    parse = load_op_library(
        HERE / "libsolution_parse_record.so", "parse_record"
    ).parse_record
    types = [tf.int64, tf.float32, tf.string]
    number, decimal, text = mode(lambda r: parse(r, out_types=types))("7,2.5,cat")
    assert (number.dtype, decimal.dtype, text.dtype) == tuple(types)
    assert (int(number), float(decimal), text.numpy()) == (7, 2.5, b"cat")
    for record, message in [
        ("7,2.5", "record has 2 fields, expected 3"),
        ("7,two,cat", 'record: field 1 is "two", expected float'),
        ("7.5,2,cat", 'record: field 0 is "7.5", expected int64'),
        ("7,0x10,cat", 'record: field 1 is "0x10", expected float'),
        ("7,nan(1),cat", r'record: field 1 is "nan\(1\)", expected float'),
        ("\u0663,2,cat", "record: field 0 is .*, expected int64"),
        ("7,\u00a02,cat", "record: field 1 is .*, expected float"),
    ]:
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            mode(lambda r: parse(r, out_types=types))(record)
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected a scalar"):
        parse(["7"], out_types=[tf.int64])
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected a scalar"):
        unknown_shapes(lambda r: parse(r, out_types=[tf.int64]), tf.constant(["7"]))
    with pytest.raises(ValueError, match="must be rank 0"):
        tf.function(lambda: parse(["7"], out_types=[tf.int64]), autograph=False)()


OURS = {
    "WeightedSum": "weighted_sum",
    "KeepRows": "keep_rows",
}


def test_each_input_and_output_of_each_op_has_one_of_the_forms():
    definitions = input_specs.tensorflow_op_defs()
    assert len(definitions) > 1000
    found = {
        input_specs.form(arg)
        for definition in definitions
        for arg in [*definition.input_arg, *definition.output_arg]
    }
    assert found == set(input_specs.FORMS)


def test_a_spec_is_read_back_as_it_was_written():
    source = "".join(path.read_text() for path in HERE.glob("*.cc"))
    for name in OURS:
        definition = input_specs.op_def(name)
        for method, args in [
            ("Input", definition.input_arg),
            ("Output", definition.output_arg),
        ]:
            for arg in args:
                line = f'.{method}("{arg.name}: {input_specs.spec(arg)}")'
                assert line in source, name


def test_a_generated_function_takes_the_inputs_and_the_attrs_that_they_do_not_tell():
    for name, function in OURS.items():
        definition = input_specs.op_def(name)
        attrs = {attr.name for attr in definition.attr}
        expected = {arg.name for arg in definition.input_arg} | {"name"}
        expected |= attrs - input_specs.inferred_attrs(definition)
        parameters = inspect.signature(getattr(lists._library, function)).parameters
        assert set(parameters) == expected
    for definition in input_specs.tensorflow_op_defs():  # some have parameters renamed
        inferred = input_specs.inferred_attrs(definition)
        parameters = inspect.signature(getattr(tf.raw_ops, definition.name)).parameters
        assert not inferred & set(parameters)
        count = len(definition.input_arg) + len(definition.attr) - len(inferred) + 1
        assert len(parameters) == count, definition.name


def test_the_table_has_a_row_for_each_form():
    rows = input_specs.rows()
    assert [row[0] for row in rows] == [f"`{form}`" for form in input_specs.FORMS]
    assert {len(row) for row in rows} == {len(input_specs.HEADER)}


@pytest.mark.parametrize(
    "declaration, error, message",
    [
        (
            'Input("Values: float")',
            tf.errors.InvalidArgumentError,
            "Trouble parsing 'name:' from Input",
        ),
        (
            'Attr("sizes: list(list(int))")',
            tf.errors.InvalidArgumentError,
            r"Trouble parsing type string at 'list\(int\)\)'",
        ),
        (  # a keyword of Python, with which the generated function counts the outputs
            'Attr("T: list(type)").Input("in: T").Output("out: T")',
            SyntaxError,
            "invalid syntax",
        ),
    ],
)
def test_a_declaration_is_refused_when_the_library_is_loaded(
    tmp_path, declaration, error, message
):
    source, library = tmp_path / "wrong.cc", tmp_path / "wrong.so"
    source.write_text(
        '#include "tensorflow/core/framework/op.h"\n'
        f'REGISTER_OP("WronglyDeclared").{declaration};\n'
    )
    command = ["c++", "-w", *precompiled.flags(), "-shared", source, "-o", library]
    command += tf.sysconfig.get_link_flags()
    subprocess.run(command, check=True)
    with pytest.raises(error, match=message):
        tf.load_op_library(str(library))


def test_ref_types_are_for_version_1_only():
    with pytest.raises(RuntimeError, match="does not support eager execution"):
        tf.raw_ops.AssignAdd(ref=[1.0], value=[2.0])
    assert input_specs.spec(input_specs.op_def("AssignAdd").input_arg[0]) == "Ref(T)"
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        variable = tf.compat.v1.Variable([1.0], use_resource=False)
        session.run(variable.initializer)
        session.run(tf.compat.v1.assign_add(variable, [2.0]))
        np.testing.assert_array_equal(session.run(variable), [3.0])
