"""Tests of the op that asks servers: `pytest examples/fetch_lines`.

FetchLines has no `op_test`, since opcheck has no server for it.
"""

import gc
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from fetch_lines import fetch_lines
from fetch_lines_reference import fetch_lines_reference
from op_library import load_op_library
from servers import batched_fetch, blocking_fetch, serving
from solution_answered import answered
from tensorflow.python.eager import cancellation

PAUSE = load_op_library(
    Path(__file__).with_name("libpause.so"), "pause", "blocking_pause"
)
Invalid = tf.errors.InvalidArgumentError
ANSWERS = [b"ann\nbob\n", b"", b"\n", b"\n\na\n", b"\xff\0\n", b"x" * 100_000 + b"\n"]


@pytest.mark.parametrize("answer", ANSWERS, ids=range(len(ANSWERS)))
def test_lines_are_fetched(mode, answer):
    with serving([answer]) as [port]:
        lines = mode(fetch_lines)(tf.constant(port))
    np.testing.assert_array_equal(lines, fetch_lines_reference(answer))


def test_one_thread_waits_for_many():
    answers = [b"%d\n%d\n" % (i, i + 1) for i in range(50)]
    options = tf.data.Options()
    options.threading.private_threadpool_size = 1
    with serving(answers, together=True) as ports:
        rows = tf.data.Dataset.from_tensor_slices(np.int32(ports))
        lines = rows.map(fetch_lines, num_parallel_calls=50).with_options(options)
        found = [row.tolist() for row in lines.as_numpy_iterator()]
    assert found == [answer.split() for answer in answers]


def seconds(function, *inputs, error, match) -> float:
    start = time.monotonic()
    with pytest.raises(error, match=match):
        function(*inputs)
    return time.monotonic() - start


def test_the_timeout_ends_a_wait(mode):
    with serving([b"", b""], together=True) as [port, _]:
        waiting = mode(lambda: fetch_lines(port, timeout_ms=100))
        match = f"port {port}: the answer did not end in time"
        error = tf.errors.DeadlineExceededError
        assert 0.1 <= seconds(waiting, error=error, match=match) < 10


def test_who_makes_many_lines_keeps_nobody_waiting():
    def timed(port: int) -> float:
        start = time.monotonic()
        fetch_lines(port)
        return time.monotonic() - start

    size = 1 << 22
    answers = [b"\n" * size, b"x" * (size - 1) + b"\n", b"ann\n"]
    with serving(answers) as [many, one, small], ThreadPoolExecutor(1) as thread:
        splitting = min(timed(many) for _ in "three") - min(timed(one) for _ in "three")
        longest = []
        for _ in "three":
            waiting, times = thread.submit(timed, many), []
            while not waiting.done():
                times.append(timed(small))
            longest.append(max(times))
    assert min(longest) < splitting / 2


def test_the_ops_that_follow_keep_no_other_call_waiting():
    """Even in a session whose runner runs them at once."""
    began, may_end = threading.Event(), threading.Event()

    def follow(lines):
        began.set()
        may_end.wait(timeout=20)
        return lines

    options = tf.compat.v1.ConfigProto(inter_op_parallelism_threads=-1)
    with (
        serving([b"ann\n", b"bob\n"]) as [first, second],
        tf.Graph().as_default(),
        tf.compat.v1.Session(config=options) as session,
        ThreadPoolExecutor(1) as thread,
    ):
        followed = tf.numpy_function(follow, [fetch_lines(first)], tf.string)
        other = fetch_lines(second, timeout_ms=5000)
        waiting = thread.submit(session.run, followed)
        assert began.wait(timeout=20)
        assert session.run(other) == [b"bob"]
        may_end.set()
        assert waiting.result() == [b"ann"]


# Its threads are those of TensorFlow and the waiter, of which the child has none.
FORKED = """
import os
import tensorflow as tf
from fetch_lines import fetch_lines
from servers import serving

with serving([b"ann\\n"]) as [port]:
    fetch_lines(port)
    child = os.fork()
    if child == 0:
        try:
            fetch_lines(port)
        except tf.errors.FailedPreconditionError as error:
            os._exit(7 if "this process was forked" in error.message else 8)
        os._exit(9)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), fetch_lines(port).numpy())
"""


def test_a_forked_process_is_refused(in_process):
    assert in_process(FORKED).strip() == "7 [b'ann']"


def test_the_longest_timeout_is_no_short_one():
    with serving([b"ann\n"]) as [port]:
        assert fetch_lines(port, timeout_ms=2**63 - 1) == [b"ann"]


def test_who_sends_without_end_is_left_in_time():
    def send(server):
        connection, _ = server.accept()
        with connection, suppress(ConnectionError):
            while True:
                connection.sendall(bytes(1 << 20))

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=send, args=[server], daemon=True)
        thread.start()
        port = server.getsockname()[1]
        match = f"port {port}: the answer did not end in time"
        with pytest.raises(tf.errors.DeadlineExceededError, match=match):
            fetch_lines(port, timeout_ms=20, max_bytes=1 << 30)
        thread.join()


def test_the_caller_can_cancel_a_wait():
    with serving([b"", b""], together=True) as [port, _]:
        manager = cancellation.CancellationManager()
        waiting = tf.function(lambda: fetch_lines(port, timeout_ms=100_000))
        cancelable = manager.get_cancelable_function(waiting.get_concrete_function())
        threading.Timer(0.1, manager.start_cancel).start()
        error, match = tf.errors.CancelledError, "cancelled"
        for _ in range(2):  # the second call is cancelled before it begins
            assert seconds(cancelable, error=error, match=match) < 60


def test_an_error_elsewhere_ends_a_wait():
    def function(x):
        checked = tf.debugging.check_numerics(x / 0, "checked")
        return fetch_lines(port, timeout_ms=100_000), checked

    with serving([b"", b""], together=True) as [port, _]:
        waiting = tf.compat.v1.wrap_function(function, [tf.TensorSpec([])])
        error, match = tf.errors.InvalidArgumentError, "checked : Tensor had Inf"
        assert seconds(waiting, tf.constant(1.0), error=error, match=match) < 60


@pytest.mark.parametrize("deterministic", [None, False])
def test_an_answer_waits_for_those_before_it_unless_order_does_not_matter(
    deterministic,
):
    with (
        serving([b"", b""], together=True) as [silent, _],
        serving([b"ann\n"]) as [quick],
    ):
        rows = tf.data.Dataset.from_tensor_slices(np.int32([silent, quick])).map(
            lambda port: fetch_lines(port, timeout_ms=5000),
            num_parallel_calls=2,
            deterministic=deterministic,
        )
        iterator = iter(rows)
        if deterministic is False:
            assert next(iterator) == [b"ann"]
        else:
            with pytest.raises(tf.errors.DeadlineExceededError):
                next(iterator)


def test_who_drops_an_iterator_cancels_its_waits():
    asked = []
    with (
        serving([b"ann\n"]) as [first],
        serving([b"", b""], together=True, log=asked) as [second, _],
    ):
        ports = tf.data.Dataset.from_tensor_slices(np.int32([first, second]))
        fetched = ports.map(lambda x: fetch_lines(x, 100_000), num_parallel_calls=2)
        iterator = iter(fetched)
        assert next(iterator) == [b"ann"]
        start = time.monotonic()
        while not asked and time.monotonic() - start < 60:
            time.sleep(0.01)
        assert [event[:2] for event in asked] == [("asked", 0)]
        del iterator
        gc.collect()
        assert time.monotonic() - start < 60


def test_a_port_where_nobody_listens(mode):
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        error, match = (
            tf.errors.FailedPreconditionError,
            f"port {port}: Connection refused",
        )
        seconds(mode(lambda: fetch_lines(port)), error=error, match=match)


# A call opens a socket, and the first one a pipe, which is two files: what it says where 0, 1, 2 and 3 may be opened.
FEW_FILES = """
import os, resource, socket
import tensorflow as tf
from fetch_lines import fetch_lines

def said(port):
    try:
        fetch_lines(port)
    except tf.errors.OpError as error:
        return error.message.rpartition("}} ")[2].partition(" [Op:")[0]

bound = socket.socket()
bound.bind(("127.0.0.1", 0))
port = tf.constant(bound.getsockname()[1])
said(0)
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (200, hard))
opened = []
try:
    while True:
        opened.append(os.dup(0))
except OSError:
    pass
for _ in range(4):
    print(said(port))
    os.close(opened.pop())
"""


def test_too_many_open_files(in_process):
    *refused, at_last = in_process(FEW_FILES).splitlines()
    missing = ["no socket", "no pipe", "no pipe"]
    assert refused == [f"{what}: Too many open files" for what in missing]
    assert "Connection refused" in at_last


NO_THREAD = """
import ctypes
import tensorflow as tf
from fetch_lines import fetch_lines

def stack_of_threads(size):
    attributes = ctypes.create_string_buffer(64)
    library = ctypes.CDLL(None)
    assert library.pthread_attr_init(attributes) == 0
    assert library.pthread_attr_setstacksize(attributes, ctypes.c_size_t(size)) == 0
    assert library.pthread_setattr_default_np(attributes) == 0

port = tf.constant(1)
for size in (1 << 46, 1 << 23):
    stack_of_threads(size)
    try:
        fetch_lines(port)
    except tf.errors.OpError as error:
        print(error.message.rpartition("}} ")[2].partition(" [Op:")[0])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks glibc for large stacks")
def test_a_thread_that_does_not_start(in_process):
    refused, at_last = in_process(NO_THREAD).splitlines()
    assert refused == "no thread: Resource temporarily unavailable"
    assert "Connection refused" in at_last


NO_POLL = """
import resource, socket, threading
import tensorflow as tf
from fetch_lines import fetch_lines

def answer():
    connection, _ = server.accept()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1, hard))
    connection.sendall(b"ann\\n")
    connection.close()

server = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=answer).start()
print(fetch_lines(server.getsockname()[1], timeout_ms=20_000).numpy())
"""


def test_an_answer_comes_although_poll_takes_no_more_files(in_process):
    """It takes no more than a process may open."""
    assert in_process(NO_POLL).strip() == "[b'ann']"


ONE_LONG_STEP = """
import resource
import tensorflow as tf
from fetch_lines import fetch_lines
from op_library import load_op_library
from servers import batched_fetch, blocking_fetch, serving

def most_resident():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB

@tf.function
def lengths(port, times):
    one = lambda total: [total + tf.strings.length(fetch_lines(port)[0])]
    return tf.while_loop(lambda _: True, one, [0], maximum_iterations=times)

with serving([b"x" * (1 << 20) + b"\\n"]) as [port]:
    lengths(port, 3)
    before = most_resident()
    lengths(port, 100)
    print(most_resident() - before)
"""


def test_a_long_step_keeps_no_call_that_is_over(in_process):
    """Its cancellation would have to know them."""
    grown = int(in_process(ONE_LONG_STEP))
    assert grown < 50 << 10, "of 100 calls, each with a MiB of text"


def test_an_answer_that_is_cut_or_too_long(mode):
    with serving([b"ann\nbo", b"123456\n"]) as [cut, long]:
        error = tf.errors.DataLossError
        match = f"port {cut}: the answer ends in the middle of a line"
        seconds(mode(lambda: fetch_lines(cut)), error=error, match=match)
        error = tf.errors.ResourceExhaustedError
        match = f"port {long}: there are more than 6 bytes"
        call = mode(lambda: fetch_lines(long, max_bytes=6))
        seconds(call, error=error, match=match)
        assert fetch_lines(long, max_bytes=7).numpy().tolist() == [b"123456"]


def test_a_connection_that_breaks_off():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def reset():
            connection, _ = server.accept()
            linger = b"\x01\0\0\0\0\0\0\0"  # on, for no time
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            connection.close()

        thread = threading.Thread(target=reset)
        thread.start()
        port = server.getsockname()[1]
        error, match = tf.errors.FailedPreconditionError, "Connection reset"
        assert seconds(fetch_lines, port, error=error, match=match) < 60
        thread.join()


@pytest.mark.parametrize("port", [0, 65536, -1])
def test_a_port_that_is_none_is_refused(mode, port):
    with pytest.raises(Invalid, match=f"port must be from 1 to 65535, got {port}"):
        mode(lambda: fetch_lines(port))()


@pytest.mark.parametrize("port", [1, 65535])
def test_the_first_and_the_last_port_are_asked(port):
    with pytest.raises(tf.errors.FailedPreconditionError, match=f"port {port}: Conn"):
        fetch_lines(port)


def test_the_shape_function_refuses_what_the_kernel_refuses():
    with pytest.raises(Invalid, match="port must be a scalar, got shape"):
        fetch_lines([80])
    with pytest.raises(ValueError, match="Shape must be rank 0"):
        tf.function(fetch_lines)(tf.constant([80]))


def test_three_ways_give_the_same_lines():
    ports_of = tf.data.Dataset.from_tensor_slices
    with serving([b"ann\nbob\n", b"", b"cid\n"], delay=0.01) as ports:
        rows = ports_of(np.int32(ports))
        ways = [
            rows.map(fetch_lines),
            rows.map(blocking_fetch),
            rows.batch(2).map(batched_fetch),
        ]
        found = [[name for row in way for name in row.numpy()] for way in ways]
    assert found == [[b"ann", b"bob", b"cid"]] * 3


@pytest.mark.parametrize("op", ["pause", "blocking_pause"])
def test_a_pause_that_gives_its_thread_back(op):
    """Eight of them, on one thread, take as long as one; or eight times as long."""
    pause = getattr(PAUSE, op)
    options = tf.data.Options()
    options.threading.private_threadpool_size = 1
    rows = tf.data.Dataset.range(8).map(
        lambda i: pause(i, milliseconds=100), num_parallel_calls=8
    )
    start = time.monotonic()
    assert [int(x) for x in rows.with_options(options)] == [*range(8)]
    if op == "blocking_pause":
        assert time.monotonic() - start >= 0.8
    assert pause([[b"x"]], milliseconds=0).numpy().tolist() == [[b"x"]]


def test_the_solution_of_the_exercise():
    with (
        serving([b"ann\nbob\n", b"cut", b"cid\n"]) as ports,
        socket.socket() as silent,
    ):
        silent.bind(("127.0.0.1", 0))
        rows = answered([silent.getsockname()[1], *ports])
        found = [row.tolist() for row in rows.as_numpy_iterator()]
    assert found == [[b"ann", b"bob"], [b"cid"]]
    assert list(answered([])) == []
