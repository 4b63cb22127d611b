"""Tests of the ops that use the rendezvous: `pytest examples/send_recv`.

There is no `op_test`: opcheck calls an op in a `tf.data.Dataset`, too, where these have no rendezvous to use.
"""

import json
import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import send_recv
import tensorflow as tf
from send_recv_reference import (
    collect_reference,
    post_and_collect_reference,
    post_reference,
)

X = tf.constant([5.0, 4.0, 3.0])


def post_and_collect(value):
    """What is collected of what was posted, also where nobody else waits for the one who posts."""
    value = tf.convert_to_tensor(value)
    with tf.control_dependencies(
        [send_recv.post(value, "once")] * tf.inside_function()
    ):
        return send_recv.collect("once", value.dtype)


def unordered(function, *specs):
    """A graph in which stateful ops wait for their inputs only."""
    return tf.compat.v1.wrap_function(function, specs)


def posted_last(x):
    value = send_recv.collect("late", tf.float32, timeout_ms=60_000)
    with tf.control_dependencies([send_recv.post(x, "late")]):
        return value + 1


@pytest.mark.parametrize("value", [1.5, 2, "three", True, [[4j]], []])
def test_what_was_posted_comes_out(mode, value):
    tensor = tf.constant(value)
    result = mode(post_and_collect)(tensor)
    assert result.dtype == tensor.dtype
    reference = post_and_collect_reference(tensor.numpy())
    np.testing.assert_array_equal(result, reference)


def test_what_is_posted_in_a_function_of_its_own_comes_out():
    seen = {}

    @tf.function
    def layer(x):
        seen["norm"] = tf.norm(x)
        send_recv.post(seen["norm"], "norm")
        return x + 1

    @tf.function
    def outer(x):
        return layer(x), send_recv.collect("norm", tf.float32)

    assert outer(tf.constant([3.0, 4.0]))[1] == 5
    by_variable = tf.function(lambda x: (layer(x), seen["norm"] * 1))
    with pytest.raises(TypeError, match="out of scope"):
        by_variable(tf.constant([3.0, 4.0]))


def test_nothing_orders_collect_and_what_uses_a_resource():
    numbers = (
        tf.Variable(1.0),
        tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, 1.0),
    )

    def posted(x, number):
        send_recv.post(x * number, "late")

    def called(x):
        tf.function(lambda x: posted(x, numbers[0]), autograph=False)(x)

    def called_with_a_table(x):
        one = tf.constant(1, tf.int64)
        tf.function(lambda x: posted(x, numbers[1].lookup(one)), autograph=False)(x)

    def branch(x):
        tf.cond(x > 0, lambda: posted(x, numbers[0]), lambda: None)

    def loop(x):
        tf.while_loop(
            lambda i: i < 1, lambda i: (posted(x, numbers[0]), i + 1)[1:], [0]
        )

    def plain(x):
        posted(x, 2.0)

    for posts in (called, called_with_a_table, branch, loop, plain):

        @tf.function(autograph=False)
        def function(x, posts=posts):
            posts(x)
            return send_recv.collect("late", tf.float32)

        traced = function.get_concrete_function(tf.TensorSpec([]))
        [collect] = [op for op in traced.graph.get_operations() if op.type == "Collect"]
        assert bool(collect.control_inputs) == (posts is plain), posts


def test_two_posts_change_places_where_nothing_orders_them():
    one, two = tf.Variable(1.0), tf.Variable(2.0)

    @tf.function
    def slow():
        with tf.control_dependencies([send_recv.collect("start", tf.float32)]):
            send_recv.post(one + 0, "layer")

    @tf.function
    def fast():
        send_recv.post(two + 0, "layer")

    @tf.function
    def function():
        slow()
        fast()
        first = send_recv.collect("layer", tf.float32)
        with tf.control_dependencies([first]):
            send_recv.post(0.0, "start")
            return first, send_recv.collect("layer", tf.float32)

    assert [float(value) for value in function()] == [2, 1]


def test_a_variable_shows_a_number_where_these_ops_cannot():
    seen = tf.Variable(0.0)

    def layer(x):
        seen.assign(tf.norm(x))
        return x + 1

    def loop(x):
        for _ in tf.range(2):
            x = layer(x)
        return x

    for call in (
        tf.function(loop),
        tf.function(layer, jit_compile=True),
        tf.function(layer, experimental_attributes={"_noinline": True}),
        lambda x: list(tf.data.Dataset.from_tensors(x).map(layer)),
    ):
        seen.assign(0.0)
        call(X)
        assert seen > 0, call


def test_xla_does_not_compile_them():
    compiled = tf.function(post_and_collect, jit_compile=True)
    error, match = tf.errors.InvalidArgumentError, "Detected unsupported operations"
    seconds(compiled, X, error=error, match=match)


def test_who_collects_first_waits():
    function = unordered(posted_last, tf.TensorSpec([3]))
    for _ in range(20):
        np.testing.assert_array_equal(function(X), [6, 5, 4])


def test_another_thread_may_post():
    threading.Timer(0.05, lambda: send_recv.post(X, "thread")).start()
    np.testing.assert_array_equal(send_recv.collect("thread", tf.float32), X)


def test_each_turn_of_a_loop_has_its_own():
    @tf.function
    def function(x):
        total = tf.zeros([3])
        for i in tf.range(4):
            send_recv.post(x * tf.cast(i, tf.float32), "turn")
            total += tf.ensure_shape(send_recv.collect("turn", tf.float32), [3])
        return total

    np.testing.assert_array_equal(function(X), 6 * X)


@pytest.mark.parametrize("where", ["branch", "turn"])
def test_what_is_posted_elsewhere_is_not_found(where):
    @tf.function
    def function(x):
        if where == "branch":
            if tf.reduce_sum(x) < 0:
                send_recv.post(x, where)
        else:
            for _ in tf.range(2):
                send_recv.post(x, where)
        return send_recv.collect(where, tf.float32, timeout_ms=100)

    with pytest.raises(tf.errors.DeadlineExceededError, match="nothing was posted"):
        function(X)


def failing() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.raw_ops.MatMul(a=X, b=X)


def loop() -> None:
    for _ in tf.data.Dataset.range(1):
        pass


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (failing, tf.errors.InvalidArgumentError),
        (loop, tf.errors.OutOfRangeError),  # its last op ends so, which Python hides
    ],
)
def test_an_eager_op_that_fails_aborts_what_was_posted_and_who_waits(call, error):
    send_recv.post(X, "lost")
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(send_recv.collect, "never", tf.float32)
        while not waiting.done():  # the thread may not wait yet
            call()
    assert isinstance(waiting.exception(), error)
    with pytest.raises(tf.errors.DeadlineExceededError, match="nothing was posted"):
        send_recv.collect("lost", tf.float32, timeout_ms=100)


def test_what_is_posted_first_is_collected_first(mode):
    def function(x):
        send_recv.post(x, "order")
        send_recv.post(x + 1, "order")
        both = [send_recv.collect("order", tf.float32) for _ in range(2)]
        return tf.stack(both)

    for value in X, X + 1:
        post_reference(value.numpy(), "order")
    expected = [collect_reference("order") for _ in range(2)]
    np.testing.assert_array_equal(mode(function)(X), expected)


def seconds(function, *inputs, error, match) -> float:
    start = time.monotonic()
    with pytest.raises(error, match=match):
        function(*inputs)
    return time.monotonic() - start


def test_the_timeout_ends_a_wait(mode):
    function = mode(lambda: send_recv.collect("none", tf.float32, timeout_ms=100))
    match = "nothing was posted under the label 'none' within 100 ms"
    error = tf.errors.DeadlineExceededError
    assert 0.1 <= seconds(function, error=error, match=match) < 60
    assert 0.1 <= seconds(collect_reference, "none", 100, error=queue.Empty, match=None)


def test_the_longest_timeout_is_no_short_one():
    threading.Timer(0.05, lambda: send_recv.post(X, "long")).start()
    value = send_recv.collect("long", tf.float32, timeout_ms=2**63 - 1)
    np.testing.assert_array_equal(value, X)


def test_the_wait_is_over_before_the_op_is_done(in_cpp):
    assert "[  PASSED  ] 2 tests." in in_cpp()


def test_a_label_is_of_one_step():
    collecting = tf.function(
        lambda: send_recv.collect("step", tf.float32, timeout_ms=100)
    )
    send_recv.post(X, "step")
    seconds(
        collecting, error=tf.errors.DeadlineExceededError, match="nothing was posted"
    )
    np.testing.assert_array_equal(send_recv.collect("step", tf.float32), X)


@pytest.mark.parametrize("attributes", [{}, {"_noinline": True}])
def test_who_is_called_in_a_step_shares_its_rendezvous_if_inlined(attributes):
    @tf.function(experimental_attributes=attributes)
    def posting(x):
        send_recv.post(x, "inner")
        return x + 1

    @tf.function
    def calling(x):
        y = posting(x)
        return y, send_recv.collect("inner", tf.float32, timeout_ms=timeout_ms)

    timeout_ms = 100 if attributes else 60_000
    if attributes:
        match, error = "nothing was posted", tf.errors.DeadlineExceededError
        seconds(calling, X, error=error, match=match)
    else:
        np.testing.assert_array_equal(calling(X), [X + 1, X])


def test_an_error_elsewhere_ends_a_wait():
    def function(x):
        value = send_recv.collect("none", tf.float32, timeout_ms=0)
        return value + tf.debugging.check_numerics(x / 0, "checked")

    function = unordered(function, tf.TensorSpec([3]))
    error, match = tf.errors.InvalidArgumentError, "checked : Tensor had Inf"
    assert seconds(function, X, error=error, match=match) < 60


def test_the_caller_can_cancel_a_wait():
    from tensorflow.python.eager import cancellation

    manager = cancellation.CancellationManager()
    waiting = tf.function(lambda: send_recv.collect("none", tf.float32, timeout_ms=0))
    cancelable = manager.get_cancelable_function(waiting.get_concrete_function())
    threading.Timer(0.1, manager.start_cancel).start()
    error, match = tf.errors.CancelledError, "cancelled"
    assert seconds(cancelable, error=error, match=match) < 60
    assert seconds(cancelable, error=error, match=match) < 60


def test_a_session_has_a_deadline_for_the_step():
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        waiting = send_recv.collect("none", tf.float32, timeout_ms=0)
        options = v1.RunOptions(timeout_in_ms=100)
        error, match = tf.errors.DeadlineExceededError, "Timed out waiting"
        function = session.run
        with pytest.raises(error, match=match):
            function(waiting, options=options)


@pytest.mark.parametrize("label", ["", "a;b"])
def test_a_label_that_is_none_is_refused(mode, label):
    for function in (
        lambda: send_recv.post(X, label),
        lambda: send_recv.collect(label, tf.float32),
    ):
        seconds(
            mode(lambda f=function: [f(), tf.constant(0)][1]),
            error=tf.errors.InvalidArgumentError,
            match=f"label must not be empty nor have a ';' in it, got '{label}'",
        )


def test_a_label_may_be_any_bytes(mode):
    label = b"\xff\0."
    match = r"label '\\xff\\x00\.' within"
    function = mode(lambda: send_recv.collect(label, tf.float32, timeout_ms=50))
    seconds(function, error=tf.errors.DeadlineExceededError, match=match)


def test_another_dtype_is_refused(mode):
    def function(x):
        send_recv.post(x, "dtype")
        return send_recv.collect("dtype", tf.int32)

    match = "under the label 'dtype' there is a tensor of float, expected int32"
    seconds(mode(function), X, error=tf.errors.InvalidArgumentError, match=match)


def test_a_negative_timeout_is_refused(mode):
    function = mode(lambda: send_recv.collect("x", tf.float32, timeout_ms=-1))
    error = (tf.errors.InvalidArgumentError, ValueError)
    seconds(function, error=error, match="timeout_ms.*-1|-1.*timeout_ms")


def test_only_a_wait_costs_a_thread():
    """The numbers of threads are given out one after the other; others may start some, too, but not each time."""

    def number() -> int:
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()
        return thread.native_id

    def started() -> int:
        before = number()
        for _ in range(100):
            post_and_collect(X)
        return number() - before

    assert any(started() < 100 for _ in range(50))


def test_input_pipelines_have_no_rendezvous():
    pipeline = tf.data.Dataset.range(3).map(post_and_collect)
    error = tf.errors.FailedPreconditionError
    seconds(list, pipeline, error=error, match="there is no rendezvous here")


def test_no_gradient_reaches_what_was_posted():
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = post_and_collect(X) ** 2
    assert tape.gradient(y, X) is None


@pytest.mark.parametrize("also_returned", [False, True])
def test_the_lost_gradient_is_zero_if_another_output_depends_on_the_input(
    also_returned,
):
    @tf.function
    def function(x):
        y = tf.square(x)
        send_recv.post(y, "lost gradient")
        value = send_recv.collect("lost gradient", tf.float32)
        return (value, y) if also_returned else (value,)

    with tf.GradientTape() as tape:
        tape.watch(X)
        value = function(X)[0]
    gradient = tape.gradient(value, X)
    if also_returned:
        np.testing.assert_array_equal(gradient, tf.zeros_like(X))
    else:
        assert gradient is None


TRAVEL = """if True:
    import json
    import travel
    import tensorflow as tf
    from send_recv import collect, post
    from solution_crossings import crossings

    [cpu] = tf.config.list_physical_devices("CPU")
    two = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(cpu, two)
    tf.config.threading.set_inter_op_parallelism_threads(2)
    x = tf.constant([1.0, 2.0])

    @tf.function
    def there_and_back(x):
        with tf.device("CPU:1"):
            y = tf.exp(x)
        with tf.device("CPU:0"):
            return y - x

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def sized(x):
        with tf.device("CPU:0"):
            size = tf.shape(x)
        with tf.device("CPU:1"):
            return 2 * size

    def turn(x):
        with tf.device("CPU:1"):
            x = tf.sin(x)
        with tf.device("CPU:0"):
            return [x - 1]

    @tf.function
    def looped(x):
        return tf.while_loop(
            lambda x: True, turn, [x], maximum_iterations=3
        )

    @tf.function
    def labelled(x):
        with tf.device("CPU:1"):
            post(x * 2, "far")
        with tf.device("CPU:0"):
            return collect("far", tf.float32)

    @tf.function
    def twice(x):
        post(x, "same")
        post(x, "same")
        return collect("same", tf.float32), collect("same", tf.float32)

    def using_a_constant(size):
        @tf.function
        def function(x):
            with tf.device("CPU:0"):
                constant = tf.constant([float(i) for i in range(size)])
                y = x * constant
            with tf.device("CPU:1"):
                return y + x * constant

        sent = crossings(travel.partitions(function, tf.zeros([size])))
        return sorted(name for name, *_ in sent)

    def far_square(i):
        with tf.device("CPU:1"):
            post(i * i, "square")
        return collect("square", tf.int64)

    def three():
        a, b, c = [collect(label, tf.float32) for label in "abc"]
        posted = [post(x, "b"), post(b + 1, "a"), post(b + 2, "c")]
        with tf.control_dependencies(posted):
            return a + b + c

    def in_session(devices):
        config = tf.compat.v1.ConfigProto(device_count={"CPU": devices})
        with tf.Graph().as_default(), tf.compat.v1.Session(config=config) as session:
            with tf.control_dependencies([post(1.0, "session")]):
                y = collect("session", tf.float32)
            with tf.device(f"CPU:{devices - 1}"):
                y = tf.exp(y)
            log = travel.events(session.run, y)
        return ["Send", "session"] in [[e.what, e.key.edge] for e in log]

    found = {"crossings": sorted(crossings(travel.partitions(there_and_back, x)))}
    try:
        travel.partitions(there_and_back, x)
    except ValueError as error:
        found["again"] = str(error)
    found["sessions"] = [in_session(1), in_session(2)]
    found["of a shape"] = sorted(crossings(travel.partitions(sized, x)))
    loop = [node for graph in travel.partitions(looped, x) for node in graph.node]
    found["condition"] = sorted(
        [node.op, node.device[-5:]]
        for node in loop
        if b"LoopCond" in node.attr["tensor_name"].s
    )
    turns = {e.key.frame_and_iteration for e in travel.events(looped, x) if "Sin" in e.key.edge}
    found["turns"] = sorted(each.partition(":")[2] for each in turns)
    for name, function, *inputs in [
        ("edges", there_and_back, x),
        ("labelled", labelled, x),
        ("twice", twice, x),
        ("three", tf.compat.v1.wrap_function(three, [])),
    ]:
        log = travel.events(function, *inputs)
        found[name] = sorted((e.what, e.key.edge.rpartition("_")[2]) for e in log)
    found["far"] = labelled(x).numpy().tolist()
    found["constants"] = [using_a_constant(size) for size in (16, 17)]
    squares = tf.data.Dataset.range(3).map(far_square)
    found["pipeline"] = [int(square) for square in squares]
    print(json.dumps(found))
"""


@pytest.mark.slow
def test_the_log_and_the_graphs_say_what_travels(in_process):
    """In a process of its own, since the log and the devices are chosen before TensorFlow begins."""
    found = json.loads(in_process(TRAVEL, TF_CPP_VMODULE="rendezvous_mgr=1"))
    assert found["crossings"] == [["Exp", "CPU:1", "CPU:0"], ["x", "CPU:0", "CPU:1"]]
    assert found["again"].startswith("This function has run before")
    assert found["of a shape"] == [["Shape", "CPU:0", "CPU:1"]]
    assert found["condition"] == [["_HostRecv", "CPU:1"], ["_Send", "CPU:0"]]
    assert found["turns"] == ["0", "1", "2", "3"]
    both = [["Recv", "Exp"], ["Recv", "x"], ["Send", "Exp"], ["Send", "x"]]
    assert found["edges"] == both
    assert ["Send", "far"] in found["labelled"] and ["Recv", "far"] in found["labelled"]
    assert found["twice"] == [["Recv", "same"]] * 2 + [["Send", "same"]] * 2
    assert found["far"] == [2, 4]
    assert found["constants"] == [["mul", "x"], ["Const", "mul", "x"]]
    assert found["pipeline"] == [0, 1, 4]
    # On one device, PrivateIntraProcessRendezvous, which logs no Send; on two, the class of a tf.function.
    assert found["sessions"] == [False, True]
    assert [what for what, _ in found["three"]] == ["Recv"] * 3 + ["Send"] * 3
