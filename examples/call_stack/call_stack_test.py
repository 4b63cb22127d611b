"""Tests of the ops that record call stacks: `pytest examples/call_stack`."""

import functools
import mmap
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from call_stack import (
    Frame,
    Stack,
    _take_stacks,
    call_stack,
    call_stack_stateful,
    layer_of,
    layers,
    python_calls,
    stacks,
    way_down,
)
from call_stack_fuzz import checked_pick_numbers
from call_stack_reference import call_stack_reference, checked_pick_numbers_reference
from detected_at import loss
from op_map import FILES, families, gradient_of, kernel_classes
from python_half import devices, way_to_a_node
from solution_line_of import line_of
from solution_origin import origin
from traces import names, trace

from opcheck.testing import op_test

X = tf.constant([5.0, 4.0, 3.0])
# A library may have dropped the names of its functions.
NAMED = len(way_down(stacks(call_stack, X)[-1])) > 1

named = pytest.mark.skipif(not NAMED, reason="TensorFlow's functions have no names")

test_call_stack_keeps_its_promises = op_test(
    call_stack, np.float32([3, 4]), reference=call_stack_reference
)
test_call_stack_stateful_keeps_its_promises = op_test(
    call_stack_stateful, np.float32([3, 4]), reference=call_stack_reference
)


def in_order(found, expected) -> bool:
    rest = iter(found)
    return all(each in rest for each in expected)


def of_compute(*arguments) -> Stack:
    """The stack of an eager call; where TensorFlow has no kernel yet, that of its constructor comes before."""
    return stacks(call_stack, *arguments)[-1]


def recorded_in(function, *arguments) -> list[str]:
    return [stack.recorded_in for stack in stacks(function, *arguments)]


@pytest.mark.parametrize("value", [1.5, 2, "three", True, [[4j]], []])
@pytest.mark.parametrize("op", [call_stack, call_stack_stateful])
def test_the_input_comes_out(mode, op, value):
    tensor = tf.constant(value)
    result = mode(op)(tensor)
    assert result.dtype == tensor.dtype
    np.testing.assert_array_equal(result, tensor.numpy())


def test_an_eager_call_goes_down_from_python_to_the_kernel():
    stack = of_compute(X)
    assert stack.recorded_in == "CallStackOp::Compute"
    assert stack.frames[-1] == Frame("CallStackOp::Compute", "libcall_stack.so")
    assert in_order(layers(stack), ["Python", "bindings", "your op"])
    assert stack.thread_id == of_compute(X).thread_id


@named
def test_the_functions_of_an_eager_call_are_in_order():
    stack = of_compute(X)
    way = ["TFE_Execute", "EagerExecute", "EagerKernelExecute"]
    assert in_order(way_down(stack), [*way, "CallStackOp::Compute"])
    expected = ["bindings", "C API", "eager runtime", "device", "your op"]
    assert in_order(layers(stack), expected)


def test_python_calls_end_in_the_bindings():
    calls = python_calls(call_stack, X)
    assert [call.function for call in calls[-3:-1]] == ["call_stack", "call_stack"]
    assert calls[-1].function.startswith("TFE_Py_FastPathExecute")


def test_a_graph_asks_for_the_shape_makes_a_kernel_and_runs_it():
    function = tf.function(call_stack)
    assert recorded_in(function.get_concrete_function, X) == ["ShapeFunction"]
    *asked, made, ran = stacks(function, X)
    assert {stack.recorded_in for stack in asked} == {"ShapeFunction"}
    assert made.recorded_in == "CallStackOp::CallStackOp"
    assert recorded_in(function, X) == [ran.recorded_in] == ["CallStackOp::Compute"]
    assert "Python" in layers(made) and "Python" not in layers(ran)
    assert made.thread_id != ran.thread_id


@named
def test_the_layers_of_a_graph_are_in_order():
    function = tf.function(call_stack)
    [traced] = stacks(function.get_concrete_function, X)
    assert in_order(layers(traced), ["C API", "shape inference", "your op"])
    *_, made, ran = stacks(function, X)
    assert in_order(layers(made), ["C API", "executor", "kernel factory", "your op"])
    assert in_order(layers(ran), ["thread pool", "device", "your op"])


@pytest.mark.parametrize(
    "op, second", [(call_stack, []), (call_stack_stateful, ["CallStackOp::Compute"])]
)
def test_a_constant_is_folded_unless_the_op_is_stateful(op, second):
    function = tf.function(lambda: op(tf.constant(3.0)))
    assert recorded_in(function)[-1] == "CallStackOp::Compute"
    assert recorded_in(function) == second
    assert function().numpy() == 3


@pytest.mark.parametrize(
    "make, times",
    [
        (lambda: tf.range(2.0**18 * 10), 0),  # 10 MiB
        (lambda: tf.range(2.0**18 * 10 + 1), 1),
        (lambda: tf.reverse(np.zeros(2**22, np.float32), [0]), 0),
    ],
)
def test_what_outgrows_its_inputs_and_10_mib_is_computed_in_each_call(make, times):
    function = tf.function(lambda: call_stack(make()))
    function()
    assert recorded_in(function).count("CallStackOp::Compute") == times


def test_xla_calls_the_kernel_once_for_each_program():
    function = tf.function(lambda x: 2 * call_stack(x), jit_compile=True)
    recorded = recorded_in(function, X)
    assert recorded.count("CallStackOp::Compute") == 1
    assert recorded_in(function, X) == []
    np.testing.assert_array_equal(function(X), [10, 8, 6])
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match="No registered 'CallStackStateful' OpKernel for XLA_CPU_JIT",
    ):
        tf.function(call_stack_stateful, jit_compile=True)(X)


@pytest.mark.slow
@pytest.mark.parametrize(
    "variables, ours, all_files",
    [
        ({"TF_CPP_VMODULE": "call_stack=1", "TF_CPP_MIN_LOG_LEVEL": "1"}, 0, False),
        ({"TF_CPP_VMODULE": "call_stack=1", "TF_CPP_MIN_LOG_LEVEL": "0"}, 3, False),
        ({"TF_CPP_MIN_LOG_LEVEL": "0"}, 1, False),
        ({"TF_CPP_MAX_VLOG_LEVEL": "1", "TF_CPP_MIN_LOG_LEVEL": "0"}, 3, True),
    ],
)
def test_variables_say_what_comes_into_the_log(variables, ours, all_files):
    """A line when a kernel is made, and one for each of two calls."""
    code = (
        "from call_stack import call_stack; call_stack([5.0, 4.0]); call_stack([3.0])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stderr.count("call_stack.cc:") == ours and not run.stdout
    assert ("execute.cc:" in run.stderr) == all_files


SPREAD = """
import tensorflow as tf
tf.config.threading.set_inter_op_parallelism_threads(4)  # on one core, too
from call_stack import call_stack, stacks

def threads(expensive):
    @tf.function
    def four(x):
        return [call_stack(each, expensive=expensive) for each in tf.unstack(x)]

    x = tf.range(4.0)
    four(x)
    # An expensive kernel counts as cheap after a hundred short runs.
    return [len({s.thread_id for s in stacks(four, x)}) for _ in range(20)]

print({*threads(expensive=False)} == {1})
print(any(max(threads(expensive=True)) > 1 for _ in range(100)))
"""


def test_what_is_cheap_stays_on_its_thread(in_process):
    assert in_process(SPREAD) == "True\nTrue\n"


def test_a_trace_has_the_op_on_the_thread_that_ran_it():
    function = tf.function(lambda x: call_stack(x + 1, expensive=True) * 2)
    function(X)
    found = [names(events) for events in trace(function, X).values()]
    [ran] = [each for each in found if "CallStack:CallStack" in each]
    assert in_order(ran, ["add:AddV2", "CallStack:CallStack", "mul:Mul"])


def test_calls_of_many_threads_are_all_recorded_and_the_oldest_dropped():
    def calls(count):
        made = [threading.Thread(target=lambda: call_stack(X)) for _ in range(count)]
        for each in made:
            each.start()
        for each in made:
            each.join()

    # A thread that finds no kernel yet makes one, which is recorded too.
    recorded = [each.recorded_in for each in stacks(calls, 20)]
    assert sum("Compute" in name for name in recorded) == 20
    assert len(stacks(lambda: [call_stack(X) for _ in range(1001)])) == 1000
    assert stacks(lambda: None) == []


def test_threads_that_take_the_stacks_get_each_of_them_once():
    """What one thread has taken, another does not clear while Python copies it."""
    stacks(call_stack, X)
    with ThreadPoolExecutor(4) as pool:
        for _ in range(20):
            for _ in range(300):
                call_stack(X)
            taken = pool.map(lambda _: _take_stacks(), range(4))
            assert b"".join(taken).count(b"\n\n") == 300


@pytest.mark.parametrize("size, indices", [(3, [[2, 0], [1, 2]]), (1, []), (0, [])])
def test_an_index_within_x_is_taken(mode, size, indices):
    x, indices = np.arange(5.0, 5 + size, dtype=np.float32), np.int32(indices)
    expected = checked_pick_numbers_reference(x, indices)
    picked = mode(checked_pick_numbers)(x, indices)
    np.testing.assert_array_equal(picked, expected, strict=True)


@pytest.mark.parametrize("size, index", [(3, 2_000_000_000), (3, 3), (3, -1), (0, 0)])
def test_an_index_that_kills_the_other_op_is_refused(mode, size, index):
    x = np.zeros(size, np.float32)
    indices = np.int32([0, index] if size else [index])
    message = f"less than {size}, but index {len(indices) - 1} is {index}"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        mode(checked_pick_numbers)(x, indices)


@pytest.mark.parametrize(
    "file, function, layer",
    [
        ("libpython3.11.so.1.0", "", "Python"),
        ("python3.12", "_PyEval_EvalFrameDefault", "Python"),
        ("lib_pywrap_tensorflow_common.so", "TFE_Py_FastPathExecute_C", "bindings"),
        ("libtensorflow_cc.so.2", "TF_FinishOperation", "C API"),
        ("libtensorflow_cc.so.2", "EagerExecutor::SyncExecute", "eager runtime"),
        ("libtensorflow_framework.so.2", "", ""),
    ],
)
def test_a_function_belongs_to_a_layer(file, function, layer):
    assert layer_of(Frame(function, file)) == layer


@named
def test_the_solution_of_the_exercise():
    folded = tf.function(lambda: call_stack(tf.constant(4.0)))
    graph = tf.function(call_stack)
    pipeline = tf.data.Dataset.range(3).map(call_stack)
    assert origin(stacks(call_stack, X)[-1]) == "eager call"
    assert origin(stacks(graph, X)[-1]) == "graph"
    assert origin(stacks(folded)[-1]) == "optimizer"
    assert origin(stacks(list, pipeline)[-1]) == "input pipeline"
    # The function of a map is optimized by another optimizer.
    constants = tf.data.Dataset.range(3).map(lambda _: call_stack(tf.constant(4.0)))
    assert origin(stacks(list, constants)[-1]) == "optimizer"


def test_steps_to_a_node():
    lines = way_to_a_node(tf.matmul, tf.TensorSpec([2, 3]), tf.TensorSpec([3, 2]))
    steps = [line.split()[0] for line in lines]
    way = ["matmul", "mat_mul", "_apply_op_helper", "_create_c_op"]
    assert in_order(steps, [*way, "TF_FinishOperation", "_apply_device_functions"])


def test_python_asks_for_a_device_and_the_placer_decides():
    def function(x):
        with tf.device("GPU:0"):
            return tf.exp(x, name="exponential")

    assert devices(function, X)["exponential"] == ("GPU:0", "CPU:0")


@pytest.mark.parametrize("elements, made", [(128, "Const"), (129, "Placeholder")])
def test_a_graph_copies_what_has_at_most_128_elements(elements, made):
    outside = tf.zeros([elements])
    graph = tf.function(lambda: tf.abs(outside)).get_concrete_function().graph
    assert [node.type for node in graph.get_operations()] == [made, "Abs", "Identity"]


def test_a_name_with_a_greater_than_sign_loses_its_line():
    def message(name):
        with pytest.raises(tf.errors.InvalidArgumentError, match="had NaN") as error:
            loss(tf.constant([-1.0]), name)
        return str(error.value)

    assert "Detected at node finite" in message("finite")
    assert "detected_at.py" in message("finite")
    assert "Detected at node" not in message("Addons>Finite")


def test_the_solution_finds_the_line_of_a_node():
    exp = functools.singledispatch(tf.exp)  # of Python's own library
    function = tf.function(lambda x: call_stack(exp(x), name="ours"))
    graph = function.get_concrete_function(X).graph
    assert Path(__file__).name in line_of(graph.get_operation_by_name("Exp"))
    assert "call_stack.py" in line_of(graph.get_operation_by_name("ours"))


@pytest.mark.parametrize("family", FILES)
def test_the_map_names_files_that_define_the_classes(family):
    headers = Path(tf.sysconfig.get_include(), "tensorflow/core/kernels")
    for op, file in FILES[family].items():
        [name] = kernel_classes(op)
        assert op in families()[family]
        if file.endswith(".h"):
            assert f"class {name} " in (headers / file).read_text()
        else:
            assert library().find(f"tensorflow/core/kernels/{file}".encode()) >= 0


def test_where_a_gradient_is():
    where = "tensorflow/python/ops/math_grad.py: _CumsumGrad"
    assert gradient_of("Cumsum") == where
    assert gradient_of("Shape") is None
    with pytest.raises(LookupError, match="DecodeJpeg"):
        gradient_of("DecodeJpeg")
    # The page's table names these.
    headers = Path(tf.sysconfig.get_include(), "tensorflow")
    assert library().find(b"tensorflow/compiler/tf2xla/kernels/matmul_op.cc") >= 0
    assert gradient_of("MatMul") == "tensorflow/python/ops/math_grad.py: _MatMulGrad"
    assert (headers / "core/kernels/matmul_op_impl.h").exists()


@functools.cache
def library() -> mmap.mmap:
    """The library with the kernels, which holds the paths of the files that check something."""
    path = next(Path(tf.sysconfig.get_lib()).glob("libtensorflow_cc*"))
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def test_a_kernel_for_every_device_counts_and_an_op_without_kernels_has_no_class():
    assert kernel_classes("IdentityN") == kernel_classes("IdentityN", "GPU")
    assert kernel_classes("IdentityN") == {"IdentityNOp"}
    assert kernel_classes("BoostedTreesPredict") == set()
    with pytest.raises(KeyError, match="must be in the registry, got 'MatMulNope'"):
        kernel_classes("MatMulNope")


def test_without_onednn_a_place_for_its_op_computes_nothing():
    def product():
        a, b = tf.zeros([2, 3], tf.uint8), tf.zeros([3, 2], tf.int8)
        a, b = tf.bitcast(a, tf.quint8), tf.bitcast(b, tf.qint8)
        limits = {"min_a": 0.0, "max_a": 1.0, "min_b": 0.0, "max_b": 1.0}
        return tf.raw_ops.QuantizedMatMulWithBias(
            a=a, b=b, bias=tf.zeros([2]), **limits
        ).out

    assert kernel_classes("QuantizedMatMulWithBias") == {"NoOp"}
    assert product().shape == [0]
    with pytest.raises(tf.errors.InternalError, match="Missing 0-th output"):
        tf.function(product, autograph=False)()


@pytest.mark.parametrize("size", [1, 128, 129])
def test_what_a_graph_copies_and_what_it_captures(size):
    """Tensors of more than 128 elements become inputs."""
    tensor, array = tf.zeros([size]), np.zeros([10**6], np.float32)
    variable = tf.Variable(tensor)

    def function():
        return tf.reduce_sum(tensor) + tf.reduce_sum(array) + tf.reduce_sum(variable)

    traced = tf.function(function, autograph=False).get_concrete_function()
    nodes = traced.graph.get_operations()
    inputs = [node.get_attr("dtype") for node in nodes if node.type == "Placeholder"]
    assert inputs == [tf.float32] * (size > 128) + [tf.resource]


def test_an_array_of_two_gigabytes_is_not_copied():
    array = np.broadcast_to(np.float32(0), [1 << 29])  # takes four bytes
    with pytest.raises(ValueError, match="larger than 2GB"):
        tf.function(lambda: tf.reduce_sum(array), autograph=False)()


@pytest.mark.filterwarnings("ignore:Even though")
def test_functions_of_a_pipeline_are_not_run_eagerly():
    eager = []

    @tf.function(autograph=False)
    def function(x):
        eager.append(tf.executing_eagerly())
        return x

    tf.config.run_functions_eagerly(True)
    try:
        function(X)
        list(tf.data.Dataset.from_tensors(X).map(function))
    finally:
        tf.config.run_functions_eagerly(False)
    assert eager == [True, False]
