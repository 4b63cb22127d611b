"""The Python side of the broken ops and of their correct twins, with samples.

`broken_x_y` is `x` with a bug, which a docstring here or a comment in C++ tells. build_broken_ops.py builds the
libraries, whose functions are all here, under their names.
"""

import math
import re

import numpy as np
import tensorflow as tf
from build_broken_ops import BUILD, functions  # noqa: F401
from tensorflow.python.ops import control_flow_util
from tensorflow.python.ops.parallel_for import pfor

from opcheck.subject import on_variables

_OPS = functions("shapes", "values", "memory", "inputs", "around", "elements")
globals().update({one.__name__: one for one in _OPS.values()})


def _normal(*shape: int, dtype=np.float32) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype(dtype)


# Shapes


def every_second_row_reference(values):
    return values[::2]


@tf.RegisterGradient("EverySecondRow")
@tf.RegisterGradient("BrokenEverySecondRowRounding")
@tf.RegisterGradient("BrokenEverySecondRowUnknownDim")
@tf.RegisterGradient("BrokenEverySecondRowNoShape")
def _every_second_row_grad(op, grad):
    values = op.inputs[0]
    kept = tf.range(0, tf.shape(values)[0], 2)
    return tf.scatter_nd(kept[:, tf.newaxis], grad, tf.shape(values))


def reverse_last_reference(values):
    return values[..., ::-1] if values.ndim else values


@tf.RegisterGradient("ReverseLast")
@tf.RegisterGradient("BrokenReverseLastScalar")
@tf.RegisterGradient("BrokenReverseLastRankFive")
def _reverse_last_grad(op, grad):
    return _OPS["ReverseLast"](grad)


def reverse_matrix(values) -> tf.Tensor:
    """All elements of a matrix `[rows, columns]`, each row in reverse: `[rows * columns]`."""
    return tf.reshape(_OPS["ReverseLast"](values), [tf.reduce_prod(tf.shape(values))])


def reverse_matrix_reference(values):
    return values[:, ::-1].reshape(-1)


def broken_reverse_matrix_static_size(values) -> tf.Tensor:
    """It computes with a static shape, which can be unknown in a graph."""
    return tf.reshape(_OPS["ReverseLast"](values), [values.shape[0] * values.shape[1]])


# Values


def row_sum_reference(values):
    return values.sum(1, dtype=values.dtype)


@tf.RegisterGradient("RowSum")
@tf.RegisterGradient("BrokenRowSumTail")
@tf.RegisterGradient("BrokenRowSumSinglePrecision")
@tf.RegisterGradient("BrokenRowSumCopiedLine")
@tf.RegisterGradient("BrokenRowSumNoKernel")
def _row_sum_grad(op, grad):
    return tf.broadcast_to(grad[:, tf.newaxis], tf.shape(op.inputs[0]))


def floor_mean_reference(values):
    return (values.sum(1, dtype=np.int64) // values.shape[1]).astype(np.int32)


# Gradients


def cube_reference(x):
    return x**3


@tf.RegisterGradient("Cube")
def _cube_grad(op, grad):
    return _OPS["CubeGrad"](op.inputs[0], grad)


@tf.RegisterGradient("CubeGrad")
def _cube_grad_grad(op, grad):
    x, dy = op.inputs
    return 6 * x * dy * grad, 3 * x**2 * grad


@tf.RegisterGradient("BrokenCubeFactor")
def _broken_cube_factor_grad(op, grad):  # Bug: the factor is 3.
    return 2 * op.inputs[0] ** 2 * grad


@tf.RegisterGradient("BrokenCubeEagerOnly")
def _broken_cube_eager_only_grad(op, grad):  # Bug: a graph has no NumPy arrays.
    return 3 * np.square(op.inputs[0].numpy()) * grad


@tf.RegisterGradient("BrokenCubeRows")
def _broken_cube_rows_grad(op, grad):  # Bug: tf.IndexedSlices are no factor.
    return 3 * grad * op.inputs[0] ** 2


@tf.RegisterGradient("BrokenCubeOneDtype")
def _broken_cube_one_dtype_grad(op, grad):  # Bug: the input may be float64.
    return tf.cast(3 * tf.convert_to_tensor(grad) * op.inputs[0] ** 2, tf.float32)


@tf.RegisterGradient("BrokenCubeFirstOrder")
def _broken_cube_first_order_grad(
    op, grad
):  # Bug: the op that computes this has no gradient.
    return _OPS["BrokenCubeFirstOrderGrad"](op.inputs[0], grad)


@tf.RegisterGradient("BrokenCubeSecondOrder")
def _broken_cube_second_order_grad(op, grad):
    return _OPS["BrokenCubeSecondOrderGrad"](op.inputs[0], grad)


@tf.RegisterGradient("BrokenCubeSecondOrderGrad")
def _broken_cube_second_order_grad_grad(op, grad):  # Bug: the factor is 6.
    x, dy = op.inputs
    return 3 * x * dy * grad, 3 * x**2 * grad


# Memory


def bin_max_reference(values, bins, num_bins):
    greatest = np.zeros(num_bins, values.dtype)
    for b in set(bins.tolist()):
        greatest[b] = values[bins == b].max()
    return greatest


def sort_each_row_reference(values):
    return np.sort(values, 1)


def row_softmax_reference(logits):
    with np.errstate(invalid="ignore"):
        exps = np.exp(logits - logits.max(1, keepdims=True))
    return exps / exps.sum(1, keepdims=True)


@tf.RegisterGradient("RowSoftmax")
@tf.RegisterGradient("BrokenRowSoftmaxStatic")
@tf.RegisterGradient("BrokenRowSoftmaxMember")
def _row_softmax_grad(op, grad):
    softmax = op.outputs[0]
    return softmax * (grad - tf.reduce_sum(grad * softmax, 1, keepdims=True))


def erf_sum_reference(values):
    return np.asarray(sum(map(math.erf, values.tolist())), values.dtype)


@tf.RegisterGradient("ErfSum")
@tf.RegisterGradient("BrokenErfSumPerThread")
@tf.RegisterGradient("BrokenErfSumAtomic")
def _erf_sum_grad(op, grad):
    return 2 / math.sqrt(math.pi) * tf.exp(-(op.inputs[0] ** 2)) * grad


def prefix_sum_reference(values):
    return values.cumsum()


@tf.RegisterGradient("PrefixSum")
@tf.RegisterGradient("BrokenPrefixSumKeepsTotal")
@tf.RegisterGradient("BrokenPrefixSumOtherOnGpu")
def _prefix_sum_grad(op, grad):
    return tf.reverse(_OPS["PrefixSum"](tf.reverse(grad, [0])), [0])


def unit_sum_reference(values):
    with np.errstate(invalid="ignore"):
        return values / values.sum()


@tf.RegisterGradient("UnitSum")
@tf.RegisterGradient("BrokenUnitSumVectorized")
def _unit_sum_grad(op, grad):
    values, shares = op.inputs[0], op.outputs[0]
    return (grad - tf.reduce_sum(grad * shares)) / tf.reduce_sum(values)


@pfor.RegisterPFor("BrokenUnitSumVectorized")
def _vectorize_broken_unit_sum(loop):  # Bug: the sum is of each row.
    return pfor.wrap(_OPS["BrokenUnitSumVectorized"](loop.stacked_input(0)), True)


def look_up(indices, table=(0.5, 0.25, 0.125)) -> tf.Tensor:
    """The numbers of a table at indices of int32."""
    return _OPS["LookUp"](indices, table=table)


def look_up_reference(indices, table=(0.5, 0.25, 0.125)):
    return np.float32(table)[indices]


def broken_look_up_by_id(indices, table=(0.5, 0.25, 0.125)) -> tf.Tensor:
    """Its table is in the memory of the process, not in the graph."""
    with tf.init_scope():
        _OPS["BrokenStoreTable"](tf.constant(table), id=7)
    return _OPS["BrokenLookUpById"](indices, id=7)


# XLA


def doubled(x) -> tf.Tensor:
    """Twice the input, of float32: for XLA, which has no kernel of ours, another way."""
    if control_flow_util.GraphOrParentsInXlaContext(tf.compat.v1.get_default_graph()):
        return x + x
    return 2 * _OPS["ReverseLast"](_OPS["ReverseLast"](x))


def doubled_reference(x):
    return 2 * x


def broken_doubled_xla(x) -> tf.Tensor:
    """What it computes for XLA is something else."""
    if control_flow_util.GraphOrParentsInXlaContext(tf.compat.v1.get_default_graph()):
        return x * x
    return 2 * _OPS["ReverseLast"](_OPS["ReverseLast"](x))


# Inputs


def boxed(value):
    """The value, by way of a variant."""
    return _OPS["Unbox"](_OPS["Box"](value))


def broken_boxed_unchecked(value):
    return _OPS["BrokenBoxedUnchecked"](_OPS["Box"](value))


def add_to_variable(values, amount):
    [sums] = on_variables(_OPS["AddToVariable"], [values, amount])
    return sums


def broken_add_to_variable_in_place(values, amount):
    [sums] = on_variables(_OPS["BrokenAddToVariableInPlace"], [values, amount])
    return sums


def adds_to_a_variable_in_place(values, amount):
    """Takes a variable, too; of an array it makes one, so that no graph can be made of it."""
    if not isinstance(values, tf.Variable):
        values = tf.Variable(np.array(values))
    _OPS["BrokenAddToVariableInPlace"](values.handle, amount)
    return values.read_value()


def add_to_variable_reference(values, amount):
    if amount.ndim:
        raise ValueError("amount must be a scalar")
    return values + amount


def take_rows_reference(rows, indices):
    return rows[indices]


def rows_of(table, which):
    """Errors of the op name its own inputs, which are not those of this function."""
    return _OPS["TakeRows"](table + 0, which + 0)


def rows_of_unnamed(table, which):
    return _OPS["BrokenTakeRowsUnnamed"](table + 0, which + 0)


def _rows_grad(op, grad):
    rows, indices = op.inputs
    return tf.math.unsorted_segment_sum(grad, indices, tf.shape(rows)[0])


@tf.RegisterGradient("TakeRows")
@tf.RegisterGradient("BrokenTakeRowsUnchecked")
@tf.RegisterGradient("BrokenTakeRowsUnnamed")
@tf.RegisterGradient("BrokenTakeRowsAnyRank")
def _take_rows_grad(op, grad):
    return _rows_grad(op, grad), None


@tf.RegisterGradient("BrokenTakeRowsNoNone")
def _broken_take_rows_no_none_grad(op, grad):  # Bug: nothing for the indices.
    return _rows_grad(op, grad)


@tf.RegisterGradient("BrokenTakeRowsZeros")
def _broken_take_rows_zeros_grad(op, grad):  # Bug: the indices have no gradient.
    return _rows_grad(op, grad), tf.zeros_like(op.inputs[1])


def scale_rows_reference(rows, scales):
    return rows * scales[:, np.newaxis]


@tf.RegisterGradient("ScaleRows")
@tf.RegisterGradient("BrokenScaleRowsUnchecked")
def _scale_rows_grad(op, grad):
    rows, scales = op.inputs
    return _OPS["ScaleRows"](grad, scales), tf.reduce_sum(grad * rows, 1)


def repeat_flat_reference(values, times):
    return np.tile(values, times)


@tf.RegisterGradient("RepeatFlat")
@tf.RegisterGradient("BrokenRepeatFlatOverflow")
def _repeat_flat_grad(op, grad):
    values, times = op.inputs
    return tf.reduce_sum(tf.reshape(grad, [times, tf.size(values)]), 0), None


def unit_histogram_reference(values, num_bins=10):
    if not np.all((values >= 0) & (values < 1)):
        raise ValueError("values must be in [0, 1)")
    return np.histogram(values, num_bins, (0, 1))[0].astype(np.int32)


def capitalize_reference(texts):
    first = np.frompyfunc(lambda text: text[:1].upper() + text[1:], 1, 1)
    return first(texts)


def round_to_reference(values, digits=0):
    return np.round(values, digits)


def broken_round_to_camel_case(values, digits: int = 0) -> tf.Tensor:
    """Its attr is named as no other op's."""
    return _OPS["BrokenRoundToCamelCase"](values, numDigits=digits)


# Around the sample


def next_sum_reference(values):
    return values + np.append(values[1:], np.float32([0])[: len(values)])


def difference_reference(values):
    return np.append(values[:1], np.diff(values))


def twice_reference(values):
    return values + values


def axis_size_reference(values, axis):
    return values.shape[axis]


def each_nth_reference(values, step=1):
    if step < 1:
        raise ValueError("step must be positive")
    return values[::step]


def prime_count_reference(values):
    if np.any((values < 0) | (values >= 100000)):
        raise ValueError("values must be in [0, 100000)")
    numbers = np.arange(np.max(values, initial=0) + 1)
    of = np.arange(2, int(np.sqrt(len(numbers))) + 2)[:, np.newaxis]
    prime = (numbers > 1) & ~np.any((numbers % of == 0) & (numbers > of), 0)
    return np.cumsum(prime).astype(np.int32)[values]


_WITHOUT_GRADIENT = (
    *("FloorMean", "BinMax", "SortEachRow", "LookUp", "UnitHistogram", "Capitalize"),
    *("RoundTo", "NextSum", "Difference", "RowArgMin", "Twice", "AxisSize", "EachNth"),
    "PrimeCount",
)
for _name in _OPS:
    if _name.removeprefix("Broken").startswith(_WITHOUT_GRADIENT):
        tf.no_gradient(_name)


# Function: inputs and attrs of one call. A broken op takes those of its twin.
# Elements


def distinct_count_reference(values):
    return len(np.unique(values))


def rank_order_reference(values):
    return np.argsort(values, kind="stable")


def log_of_one_and_reference(values):
    return np.log1p(values)


def initials_reference(values):
    def initial(text):
        return re.match(rb"(.[\x80-\xbf]*)?", text, re.DOTALL)[0]

    initials = [initial(text) for text in values.reshape(-1)]
    return np.array(initials, object).reshape(values.shape)


def group_max_reference(groups, values):
    greatest = np.full(4, -np.inf, np.float32)
    np.fmax.at(greatest, groups, values)
    return greatest


def dequantized_reference(values):
    return values[values.dtype.names[0]].astype(np.float32)


@tf.RegisterGradient("Squared")
def _squared_grad(op, grad):
    return grad * tf.math.conj(2 * op.inputs[0])


@tf.RegisterGradient("BrokenSquaredConjugate")
def _broken_squared_conjugate_grad(op, grad):  # Bug: not for a complex input.
    return grad * (2 * op.inputs[0])


SAMPLES = {
    "every_second_row": ((_normal(5, 3),), {}),
    "reverse_last": ((_normal(2, 3, 4),), {}),
    "reverse_matrix": ((_normal(3, 4),), {}),
    "row_sum": ((_normal(3, 7),), {}),
    "floor_mean": ((np.int32([[-3, -4], [5, 6], [-7, 8]]),), {}),
    "cube": ((_normal(2, 3),), {}),
    "bin_max": (
        (_normal(6), np.int32([0, 4, 2, 2, 0, 4])),
        {"num_bins": 40},
    ),
    "sort_each_row": ((_normal(4, 9),), {}),
    "row_softmax": ((_normal(32, 1000),), {}),
    "erf_sum": ((np.abs(_normal(100_000)),), {}),
    "prefix_sum": ((_normal(5, dtype=np.float64),), {}),
    "unit_sum": ((1 + _normal(4, dtype=np.float64) ** 2,), {}),
    "look_up": ((np.int32([2, 0, 1, 1]),), {}),
    "doubled": ((_normal(4),), {}),
    "add_to_variable": ((_normal(2, 3), np.float32(2)), {}),
    "boxed": ((np.int64([5, 7]),), {}),
    "take_rows": ((_normal(4, 3, dtype=np.float64), np.int32([3, 0, 0])), {}),
    "scale_rows": (
        (_normal(6, 3, dtype=np.float64), _normal(6, dtype=np.float64)),
        {},
    ),
    "repeat_flat": ((_normal(6, dtype=np.float64), np.int32(2)), {}),
    "unit_histogram": ((np.float32([[0, 0.5, 0.125], [0.99, 0.375, 0.125]]),), {}),
    "capitalize": ((np.array([b"zero", b"out", b""], object),), {}),
    "round_to": ((_normal(5, dtype=np.float64),), {"digits": 2}),
    "next_sum": ((1 + _normal(5) ** 2,), {}),
    "difference": ((_normal(5),), {}),
    "row_arg_min": ((_normal(3, 4),), {}),
    "twice": ((np.int64([[3, -1, 7]]),), {}),
    "axis_size": ((_normal(3, 4, 2),), {"axis": 1}),
    "each_nth": ((_normal(6),), {"step": 3}),
    "prime_count": ((np.int32([2, 9, 30]),), {}),
    "delayed": ((_normal(4),), {"milliseconds": 500}),
    "distinct_count": ((np.float32([1, 2, 1]),), {}),
    "rank_order": ((np.int32([3, 1, 2, 1]),), {}),
    "log_of_one_and": ((np.float32([0.5, 0.25, 2]),), {}),
    "initials": ((np.array([b"zero", b"out"], object),), {}),
    "nesting": ((np.array([b"[[]]", b"x"], object),), {}),
    "group_max": ((np.int32([0, 0, 2]), np.float32([1, 3, 2])), {}),
    "quotients": ((np.int32([7, -7, 9]), np.int32([2, 2, -3])), {}),
    "dequantized": ((np.array([1, 5, 127], tf.quint8.as_numpy_dtype),), {}),
    "squared": ((_normal(3, dtype=np.float64),), {}),
}
