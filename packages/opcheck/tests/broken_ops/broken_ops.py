"""The Python side of the broken ops and of their correct twins, with samples.

A function `broken_x_y` is `x` with the bug that its docstring names; build_broken_ops.py
builds the libraries.
"""

import math

import numpy as np
import tensorflow as tf
from build_broken_ops import BUILD
from tensorflow.python.ops import control_flow_util
from tensorflow.python.ops.parallel_for import pfor

_shapes = tf.load_op_library(str(BUILD / "libshapes.so"))
_values = tf.load_op_library(str(BUILD / "libvalues.so"))
_memory = tf.load_op_library(str(BUILD / "libmemory.so"))
_inputs = tf.load_op_library(str(BUILD / "libinputs.so"))
_around = tf.load_op_library(str(BUILD / "libaround.so"))


def _normal(*shape: int, dtype=np.float32) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype(dtype)


# Shapes


def every_second_row(values) -> tf.Tensor:
    """The rows 0, 2, 4, …: float32, not a scalar."""
    return _shapes.right_every_second_row(values)


def every_second_row_reference(values):
    return values[::2]


def broken_every_second_row_rounding(values) -> tf.Tensor:
    """Its shape function rounds half the rows down, its kernel up."""
    return _shapes.broken_every_second_row_rounding(values)


def broken_every_second_row_unknown_dim(values) -> tf.Tensor:
    """Its shape function computes with the -1 of an unknown dimension."""
    return _shapes.broken_every_second_row_unknown_dim(values)


def broken_every_second_row_no_shape(values) -> tf.Tensor:
    """Its shape function says nothing."""
    return _shapes.broken_every_second_row_no_shape(values)


@tf.RegisterGradient("RightEverySecondRow")
@tf.RegisterGradient("BrokenEverySecondRowRounding")
@tf.RegisterGradient("BrokenEverySecondRowUnknownDim")
@tf.RegisterGradient("BrokenEverySecondRowNoShape")
def _every_second_row_grad(op, grad):
    values = op.inputs[0]
    kept = tf.range(0, tf.shape(values)[0], 2)
    return tf.scatter_nd(kept[:, tf.newaxis], grad, tf.shape(values))


def reverse_last(values) -> tf.Tensor:
    """The elements of the last dimension in reverse: float32, any shape."""
    return _shapes.reverse_last(values)


def reverse_last_reference(values):
    return values[..., ::-1] if values.ndim else values


def broken_reverse_last_scalar(values) -> tf.Tensor:
    """It asks a scalar for the size of its last dimension."""
    return _shapes.broken_reverse_last_scalar(values)


def broken_reverse_last_rank_five(values) -> tf.Tensor:
    """It ends the process for more than four dimensions."""
    return _shapes.broken_reverse_last_rank_five(values)


@tf.RegisterGradient("ReverseLast")
@tf.RegisterGradient("BrokenReverseLastScalar")
@tf.RegisterGradient("BrokenReverseLastRankFive")
def _reverse_last_grad(op, grad):
    return reverse_last(grad)


def reverse_matrix(values) -> tf.Tensor:
    """All elements of a matrix `[rows, columns]`, each row in reverse: `[rows * columns]`."""
    return tf.reshape(reverse_last(values), [tf.reduce_prod(tf.shape(values))])


def reverse_matrix_reference(values):
    return values[:, ::-1].reshape(-1)


def broken_reverse_matrix_static_size(values) -> tf.Tensor:
    """It computes with a static shape, which can be unknown in a graph."""
    return tf.reshape(reverse_last(values), [values.shape[0] * values.shape[1]])


# Values


def row_sum(values) -> tf.Tensor:
    """The sum of each row `[rows, columns]`: float32, float64, int32 or int64."""
    return _values.row_sum(values)


def row_sum_reference(values):
    return values.sum(1, dtype=values.dtype)


def broken_row_sum_tail(values) -> tf.Tensor:
    """It adds four columns at a time and forgets the rest."""
    return _values.broken_row_sum_tail(values)


def broken_row_sum_single_precision(values) -> tf.Tensor:
    """It adds float64 in float32."""
    return _values.broken_row_sum_single_precision(values)


def broken_row_sum_copied_line(values) -> tf.Tensor:
    """It registers the kernel for int32 for int64 too."""
    return _values.broken_row_sum_copied_line(values)


def broken_row_sum_no_kernel(values) -> tf.Tensor:
    """It declares integers and registers no kernel for them."""
    return _values.broken_row_sum_no_kernel(values)


@tf.RegisterGradient("RowSum")
@tf.RegisterGradient("BrokenRowSumTail")
@tf.RegisterGradient("BrokenRowSumSinglePrecision")
@tf.RegisterGradient("BrokenRowSumCopiedLine")
@tf.RegisterGradient("BrokenRowSumNoKernel")
def _row_sum_grad(op, grad):
    return tf.broadcast_to(grad[:, tf.newaxis], tf.shape(op.inputs[0]))


def floor_mean(values) -> tf.Tensor:
    """The mean of each row `[rows, columns]` of int32, rounded down; at least one column."""
    return _values.floor_mean(values)


def floor_mean_reference(values):
    return (values.sum(1, dtype=np.int64) // values.shape[1]).astype(np.int32)


def broken_floor_mean_truncates(values) -> tf.Tensor:
    """It rounds a negative mean up."""
    return _values.broken_floor_mean_truncates(values)


def broken_floor_mean_no_columns(values) -> tf.Tensor:
    """It divides by the number of columns, which can be zero."""
    return _values.broken_floor_mean_no_columns(values)


# Gradients


def cube(x) -> tf.Tensor:
    """The third power: float32 or float64, any shape."""
    return _values.cube(x)


def cube_reference(x):
    return x**3


@tf.RegisterGradient("Cube")
def _cube_grad(op, grad):
    return _values.cube_grad(op.inputs[0], grad)


@tf.RegisterGradient("CubeGrad")
def _cube_grad_grad(op, grad):
    x, dy = op.inputs
    return 6 * x * dy * grad, 3 * x**2 * grad


def broken_cube_factor(x) -> tf.Tensor:
    """Its gradient has the factor 2."""
    return _values.broken_cube_factor(x)


@tf.RegisterGradient("BrokenCubeFactor")
def _broken_cube_factor_grad(op, grad):
    return 2 * op.inputs[0] ** 2 * grad


def broken_cube_eager_only(x) -> tf.Tensor:
    """Its gradient asks for a NumPy array, which a graph does not have."""
    return _values.broken_cube_eager_only(x)


@tf.RegisterGradient("BrokenCubeEagerOnly")
def _broken_cube_eager_only_grad(op, grad):
    return 3 * np.square(op.inputs[0].numpy()) * grad


def broken_cube_rows(x) -> tf.Tensor:
    """Its gradient takes what comes in for a tensor, but tf.IndexedSlices are no factor."""
    return _values.broken_cube_rows(x)


@tf.RegisterGradient("BrokenCubeRows")
def _broken_cube_rows_grad(op, grad):
    return 3 * grad * op.inputs[0] ** 2


def broken_cube_first_order(x) -> tf.Tensor:
    """The op that computes its gradient has no gradient."""
    return _values.broken_cube_first_order(x)


@tf.RegisterGradient("BrokenCubeFirstOrder")
def _broken_cube_first_order_grad(op, grad):
    return _values.broken_cube_first_order_grad(op.inputs[0], grad)


def broken_cube_second_order(x) -> tf.Tensor:
    """The op that computes its gradient has a wrong one."""
    return _values.broken_cube_second_order(x)


@tf.RegisterGradient("BrokenCubeSecondOrder")
def _broken_cube_second_order_grad(op, grad):
    return _values.broken_cube_second_order_grad(op.inputs[0], grad)


@tf.RegisterGradient("BrokenCubeSecondOrderGrad")
def _broken_cube_second_order_grad_grad(op, grad):
    x, dy = op.inputs
    return 3 * x * dy * grad, 3 * x**2 * grad


# Memory


def bin_max(values, bins, num_bins: int) -> tf.Tensor:
    """The greatest of the values `[n]` in each bin: float32 or float64; 0 for an empty bin."""
    return _memory.bin_max(values, bins, num_bins=num_bins)


def bin_max_reference(values, bins, num_bins):
    greatest = np.zeros(num_bins, values.dtype)
    for b in set(bins.tolist()):
        greatest[b] = values[bins == b].max()
    return greatest


def broken_bin_max_empty_bins(values, bins, num_bins: int) -> tf.Tensor:
    """It writes nothing to an empty bin."""
    return _memory.broken_bin_max_empty_bins(values, bins, num_bins=num_bins)


def sort_each_row(values) -> tf.Tensor:
    """Each row `[rows, columns]` of float32 in ascending order."""
    return _memory.sort_each_row(values)


def sort_each_row_reference(values):
    return np.sort(values, 1)


def broken_sort_each_row_in_place(values) -> tf.Tensor:
    """It sorts the memory of its input."""
    return _memory.broken_sort_each_row_in_place(values)


def row_softmax(logits) -> tf.Tensor:
    """The softmax of each row `[rows, columns]`: float32 or float64, at most 1024 columns."""
    return _memory.row_softmax(logits)


def row_softmax_reference(logits):
    with np.errstate(invalid="ignore"):
        exps = np.exp(logits - logits.max(1, keepdims=True))
    return exps / exps.sum(1, keepdims=True)


def broken_row_softmax_static(logits) -> tf.Tensor:
    """It keeps a row in a static array, which all threads share."""
    return _memory.broken_row_softmax_static(logits)


def broken_row_softmax_member(logits) -> tf.Tensor:
    """It keeps a row in a member, which the calls of one kernel share."""
    return _memory.broken_row_softmax_member(logits)


@tf.RegisterGradient("RowSoftmax")
@tf.RegisterGradient("BrokenRowSoftmaxStatic")
@tf.RegisterGradient("BrokenRowSoftmaxMember")
def _row_softmax_grad(op, grad):
    softmax = op.outputs[0]
    return softmax * (grad - tf.reduce_sum(grad * softmax, 1, keepdims=True))


def erf_sum(values) -> tf.Tensor:
    """The sum of the error function at `[n]`, float32 or float64, on several threads."""
    return _memory.erf_sum(values)


def erf_sum_reference(values):
    return np.asarray(sum(map(math.erf, values.tolist())), values.dtype)


def broken_erf_sum_per_thread(values) -> tf.Tensor:
    """It makes as many partial sums as there are threads."""
    return _memory.broken_erf_sum_per_thread(values)


def broken_erf_sum_atomic(values) -> tf.Tensor:
    """Its threads add to one number, in whatever order they come."""
    return _memory.broken_erf_sum_atomic(values)


@tf.RegisterGradient("ErfSum")
@tf.RegisterGradient("BrokenErfSumPerThread")
@tf.RegisterGradient("BrokenErfSumAtomic")
def _erf_sum_grad(op, grad):
    return 2 / math.sqrt(math.pi) * tf.exp(-(op.inputs[0] ** 2)) * grad


def prefix_sum(values) -> tf.Tensor:
    """The sum of each of `[n]` float64 and all before it."""
    return _memory.prefix_sum(values)


def prefix_sum_reference(values):
    return values.cumsum()


def broken_prefix_sum_keeps_total(values) -> tf.Tensor:
    """Each call of a kernel goes on where the one before has ended."""
    return _memory.broken_prefix_sum_keeps_total(values)


def broken_prefix_sum_other_on_gpu(values) -> tf.Tensor:
    """Its kernel for the GPU adds in float32."""
    return _memory.broken_prefix_sum_other_on_gpu(values)


@tf.RegisterGradient("PrefixSum")
@tf.RegisterGradient("BrokenPrefixSumKeepsTotal")
@tf.RegisterGradient("BrokenPrefixSumOtherOnGpu")
def _prefix_sum_grad(op, grad):
    return tf.reverse(prefix_sum(tf.reverse(grad, [0])), [0])


def unit_sum(values) -> tf.Tensor:
    """The values, float64 of any shape, divided by their sum."""
    return _memory.unit_sum(values)


def unit_sum_reference(values):
    with np.errstate(invalid="ignore"):
        return values / values.sum()


def broken_unit_sum_vectorized(values) -> tf.Tensor:
    """Vectorized, it divides by the sum over all elements of the batch."""
    return _memory.broken_unit_sum_vectorized(values)


@tf.RegisterGradient("UnitSum")
@tf.RegisterGradient("BrokenUnitSumVectorized")
def _unit_sum_grad(op, grad):
    values, shares = op.inputs[0], op.outputs[0]
    return (grad - tf.reduce_sum(grad * shares)) / tf.reduce_sum(values)


@pfor.RegisterPFor("BrokenUnitSumVectorized")
def _vectorize_broken_unit_sum(loop):
    return pfor.wrap(broken_unit_sum_vectorized(loop.stacked_input(0)), True)


def look_up(indices, table=(0.5, 0.25, 0.125)) -> tf.Tensor:
    """The numbers of a table at indices of int32."""
    return _memory.look_up(indices, table=table)


def look_up_reference(indices, table=(0.5, 0.25, 0.125)):
    return np.float32(table)[indices]


def broken_look_up_by_id(indices, table=(0.5, 0.25, 0.125)) -> tf.Tensor:
    """Its table is in the memory of the process, not in the graph."""
    with tf.init_scope():
        _memory.broken_store_table(tf.constant(table), id=7)
    return _memory.broken_look_up_by_id(indices, id=7)


# XLA


def doubled(x) -> tf.Tensor:
    """Twice the input, of float32: for XLA, which has no kernel of ours, another way."""
    if control_flow_util.GraphOrParentsInXlaContext(tf.compat.v1.get_default_graph()):
        return x + x
    return 2 * reverse_last(reverse_last(x))


def doubled_reference(x):
    return 2 * x


def broken_doubled_xla(x) -> tf.Tensor:
    """What it computes for XLA is something else."""
    if control_flow_util.GraphOrParentsInXlaContext(tf.compat.v1.get_default_graph()):
        return x * x
    return 2 * reverse_last(reverse_last(x))


# Inputs


def take_rows(rows, indices) -> tf.Tensor:
    """The rows `[n, columns]` of float64 at the indices `[k]` of int32."""
    return _inputs.take_rows(rows, indices)


def take_rows_reference(rows, indices):
    return rows[indices]


def broken_take_rows_unchecked(rows, indices) -> tf.Tensor:
    """It reads a row wherever an index points."""
    return _inputs.broken_take_rows_unchecked(rows, indices)


def broken_take_rows_unnamed(rows, indices) -> tf.Tensor:
    """Its error does not say which input is wrong."""
    return _inputs.broken_take_rows_unnamed(rows, indices)


def broken_take_rows_any_rank(rows, indices) -> tf.Tensor:
    """It takes a vector for a matrix, which ends the process."""
    return _inputs.broken_take_rows_any_rank(rows, indices)


def broken_take_rows_no_none(rows, indices) -> tf.Tensor:
    """Its gradient function returns nothing for the indices."""
    return _inputs.broken_take_rows_no_none(rows, indices)


def broken_take_rows_zeros(rows, indices) -> tf.Tensor:
    """Its gradient function returns zeros for the indices, which have no gradient."""
    return _inputs.broken_take_rows_zeros(rows, indices)


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
def _broken_take_rows_no_none_grad(op, grad):
    return _rows_grad(op, grad)


@tf.RegisterGradient("BrokenTakeRowsZeros")
def _broken_take_rows_zeros_grad(op, grad):
    return _rows_grad(op, grad), tf.zeros_like(op.inputs[1])


def scale_rows(rows, scales) -> tf.Tensor:
    """Each row `[n, columns]` of float64 times a number `[n]`."""
    return _inputs.scale_rows(rows, scales)


def scale_rows_reference(rows, scales):
    return rows * scales[:, np.newaxis]


def broken_scale_rows_unchecked(rows, scales) -> tf.Tensor:
    """It reads as many scales as there are rows."""
    return _inputs.broken_scale_rows_unchecked(rows, scales)


@tf.RegisterGradient("ScaleRows")
@tf.RegisterGradient("BrokenScaleRowsUnchecked")
def _scale_rows_grad(op, grad):
    rows, scales = op.inputs
    return scale_rows(grad, scales), tf.reduce_sum(grad * rows, 1)


def repeat_flat(values, times) -> tf.Tensor:
    """The values `[n]` of float64 as often as the scalar says: `[n * times]`."""
    return _inputs.repeat_flat(values, times)


def repeat_flat_reference(values, times):
    return np.tile(values, times)


def broken_repeat_flat_overflow(values, times) -> tf.Tensor:
    """It computes the size of its output in 32 bits."""
    return _inputs.broken_repeat_flat_overflow(values, times)


@tf.RegisterGradient("RepeatFlat")
@tf.RegisterGradient("BrokenRepeatFlatOverflow")
def _repeat_flat_grad(op, grad):
    values, times = op.inputs
    return tf.reduce_sum(tf.reshape(grad, [times, tf.size(values)]), 0), None


def unit_histogram(values, num_bins: int = 10) -> tf.Tensor:
    """Counts float32 of any shape in bins of equal width, from 0 to below 1."""
    return _inputs.unit_histogram(values, num_bins=num_bins)


def unit_histogram_reference(values, num_bins=10):
    if not np.all((values >= 0) & (values < 1)):
        raise ValueError("values must be in [0, 1)")
    return np.histogram(values, num_bins, (0, 1))[0].astype(np.int32)


def broken_unit_histogram_nan(values, num_bins: int = 10) -> tf.Tensor:
    """Its check of the range lets NaN pass."""
    return _inputs.broken_unit_histogram_nan(values, num_bins=num_bins)


def capitalize(texts) -> tf.Tensor:
    """The texts with a capital first letter."""
    return _inputs.capitalize(texts)


def capitalize_reference(texts):
    first = np.frompyfunc(lambda text: text[:1].upper() + text[1:], 1, 1)
    return first(texts)


def broken_capitalize_fixed_buffer(texts) -> tf.Tensor:
    """It copies each text into 256 bytes."""
    return _inputs.broken_capitalize_fixed_buffer(texts)


def round_to(values, digits: int = 0) -> tf.Tensor:
    """Float64 of any shape, rounded to some digits after the point, halves to even."""
    return _inputs.round_to(values, digits=digits)


def round_to_reference(values, digits=0):
    return np.round(values, digits)


def broken_round_to_new_attr(values, digits: int = 0) -> tf.Tensor:
    """Version 2 added the attr, without a default."""
    return _inputs.broken_round_to_new_attr(values, digits=digits)


def broken_round_to_new_default(values, digits: int = 2) -> tf.Tensor:
    """Version 2 changed the attr's default."""
    return _inputs.broken_round_to_new_default(values, digits=digits)


def broken_round_to_undocumented(values, digits: int = 0) -> tf.Tensor:
    """Its documentation leaves out the attr."""
    return _inputs.broken_round_to_undocumented(values, digits=digits)


def broken_round_to_camel_case(values, digits: int = 0) -> tf.Tensor:
    """Its attr is named as no other op's."""
    return _inputs.broken_round_to_camel_case(values, numDigits=digits)


# Around the sample


def next_sum(values) -> tf.Tensor:
    """The sum of each element of `[n]` float32 and the next one, if there is one."""
    return _around.next_sum(values)


def next_sum_reference(values):
    return values + np.append(values[1:], np.float32([0])[: len(values)])


def broken_next_sum_past_end(values) -> tf.Tensor:
    """It adds what stands behind the last element."""
    return _around.broken_next_sum_past_end(values)


def broken_next_sum_open_file(values) -> tf.Tensor:
    """It opens a file and does not close it."""
    return _around.broken_next_sum_open_file(values)


def broken_next_sum_leak(values) -> tf.Tensor:
    """It frees no memory of what it allocates."""
    return _around.broken_next_sum_leak(values)


def broken_next_sum_random(values) -> tf.Tensor:
    """It adds random numbers, and is not stateful."""
    return _around.broken_next_sum_random(values)


def difference(values) -> tf.Tensor:
    """The difference of each element of `[n]` float32 and the one before."""
    return _around.difference(values)


def difference_reference(values):
    return np.append(values[:1], np.diff(values))


def broken_difference_forwarded(values) -> tf.Tensor:
    """It overwrites its input, where that is allowed, before it has read it."""
    return _around.broken_difference_forwarded(values)


def row_arg_min(values) -> tf.Tensor:
    """The index of the smallest of each row of a float32 matrix, but for NaN; -1 for none."""
    return _around.row_arg_min(values)


def broken_row_arg_min_all_nan(values) -> tf.Tensor:
    """It writes nothing for a row of NaN."""
    return _around.broken_row_arg_min_all_nan(values)


def twice(values) -> tf.Tensor:
    """Twice the input, int64 of any shape; too large numbers wrap around."""
    return _around.twice(values)


def twice_reference(values):
    return values + values


def broken_twice_through_double(values) -> tf.Tensor:
    """It doubles a double."""
    return _around.broken_twice_through_double(values)


def axis_size(values, axis: int) -> tf.Tensor:
    """The size of a dimension of float32, counted from the end if `axis` is negative."""
    return _around.axis_size(values, axis=axis)


def axis_size_reference(values, axis):
    return values.shape[axis]


def broken_axis_size_negative(values, axis: int) -> tf.Tensor:
    """It counts from the last but one."""
    return _around.broken_axis_size_negative(values, axis=axis)


def each_nth(values, step: int = 1) -> tf.Tensor:
    """Every `step`-th element of `[n]` float32."""
    return _around.every(values, step=step)


def each_nth_reference(values, step=1):
    if step < 1:
        raise ValueError("step must be positive")
    return values[::step]


def broken_each_nth_rounds_down(values, step: int = 1) -> tf.Tensor:
    """Its shape function forgets the rest where the step does not divide."""
    return _around.broken_every_rounds_down(values, step=step)


def broken_each_nth_static_table(values, step: int = 1) -> tf.Tensor:
    """All its kernels use the step of the first one."""
    return _around.broken_every_static_table(values, step=step)


for _name in (
    "FloorMean BinMax SortEachRow LookUp UnitHistogram Capitalize RoundTo "
    "BrokenFloorMeanTruncates BrokenFloorMeanNoColumns BrokenBinMaxEmptyBins "
    "BrokenSortEachRowInPlace BrokenLookUpById BrokenUnitHistogramNan "
    "BrokenCapitalizeFixedBuffer BrokenRoundToNewAttr BrokenRoundToNewDefault "
    "BrokenRoundToUndocumented BrokenRoundToCamelCase NextSum Difference RowArgMin "
    "Twice AxisSize Every BrokenNextSumPastEnd BrokenNextSumOpenFile BrokenNextSumLeak "
    "BrokenNextSumRandom BrokenDifferenceForwarded BrokenRowArgMinAllNan "
    "BrokenTwiceThroughDouble BrokenAxisSizeNegative BrokenEveryRoundsDown "
    "BrokenEveryStaticTable"
).split():
    tf.no_gradient(_name)


def delayed(values, milliseconds: int) -> tf.Tensor:
    """The same values, after a while."""
    return _around.delayed(values, milliseconds=milliseconds)


def broken_delayed_not_cancelled(values, milliseconds: int) -> tf.Tensor:
    """It goes on waiting when its step is cancelled."""
    return _around.broken_delayed_not_cancelled(values, milliseconds=milliseconds)


# Function: inputs and attrs of one call. A broken op takes those of its twin.
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
    "delayed": ((_normal(4),), {"milliseconds": 500}),
}
