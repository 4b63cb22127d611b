"""Tests of FileRows, of the machines and of workers: `pytest examples/workers`."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
import training
from machines import Machine, reserve_port
from serve import load, serve, serve_data, servers
from solution_first_answer import first_answer
from workers import LIBRARY, file_rows
from workers_reference import file_rows_reference

from opcheck.testing import op_test

TABLE = np.arange(20, dtype=np.float32).reshape(5, 4)
SAMPLE = Path(__file__).parents[2] / "build" / "workers_test.f32"
SAMPLE.parent.mkdir(exist_ok=True)
TABLE.tofile(SAMPLE)

test_file_rows_keeps_its_promises = op_test(
    file_rows,
    str(SAMPLE).encode(),
    np.array([3, 0, 3]),
    columns=4,
    reference=lambda _, rows, columns: file_rows_reference(SAMPLE, rows, columns),
)


@pytest.mark.parametrize("rows", [[], [4], [2, 2, 0]])
@pytest.mark.parametrize("columns", [1, 2, 4, 20])
def test_rows_equal_numpys(mode, rows, columns):
    rows = np.array(rows, np.int64) % (20 // columns)
    function = mode(lambda rows: file_rows(str(SAMPLE), rows, columns))
    expected = file_rows_reference(SAMPLE, rows, columns)
    np.testing.assert_array_equal(function(rows), expected, strict=True)


def test_the_file_is_read_again_in_each_call(mode, tmp_path):
    path = tmp_path / "table.f32"
    function = mode(lambda: file_rows(str(path), [1], 4) * 2)
    for table in TABLE, -TABLE[:3]:
        table.tofile(path)
        np.testing.assert_array_equal(function(), table[[1]] * 2)


def test_the_shape_is_known_while_tracing():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
    def function(rows):
        values = file_rows(str(SAMPLE), rows, 4)
        assert values.shape.as_list() == [None, 4]
        return values

    assert function([1, 2]).shape == [2, 4]


@pytest.mark.parametrize("row", [-1, 5, 2**62, -(2**62)])
def test_a_row_that_is_none_is_refused(mode, row):
    match = rf"rows must be in \[0, 5\), as the file has, got rows\[1\] = {row}"
    with pytest.raises(tf.errors.InvalidArgumentError, match=match):
        mode(lambda rows: file_rows(str(SAMPLE), rows, 4))(np.array([0, row]))


def test_a_row_that_is_none_does_not_end_training():
    numbers = tf.keras.Input([], dtype=tf.int64)
    rows = tf.keras.layers.Lambda(lambda x: file_rows(str(SAMPLE), x, 4), (4,))
    model = tf.keras.Model(numbers, tf.keras.layers.Dense(1)(rows(numbers)))
    model.compile("sgd", "mse")
    with pytest.raises(tf.errors.InvalidArgumentError, match="rows must be in"):
        model.fit(np.array([0, 1, 5, 2]), np.zeros([4, 1]), batch_size=1, verbose=0)


SHORT = "/sys/kernel/mm/transparent_hugepage/enabled"  # 4096 bytes, it says
linux = pytest.mark.skipif(not os.path.exists(SHORT), reason="needs Linux")


@linux
def test_a_file_that_is_shorter_than_its_size_is_data_loss(mode):
    with pytest.raises(tf.errors.DataLossError, match="filename: "):
        mode(lambda: file_rows(SHORT, [0], 1024))()


@linux
def test_the_docstring_names_each_error(tmp_path):
    raised = []
    for file, row, columns in [
        (tmp_path / "none", 0, 4),
        (SAMPLE, 5, 4),
        (SHORT, 0, 1024),
    ]:
        with pytest.raises(tf.errors.OpError) as error:
            file_rows(str(file), [row], columns)
        raised.append(error.type.__name__)
    assert re.findall(r"^ +(\w+Error):", file_rows.__doc__, re.M) == raised


@pytest.mark.parametrize("size", [1, 15, 17])
def test_a_file_that_ends_within_a_row_is_refused(mode, tmp_path, size):
    path = tmp_path / "cut.f32"
    path.write_bytes(TABLE.tobytes()[:size])
    match = f"filename must be a file with rows of 16 bytes, as columns is 4, but it has {size} bytes"
    with pytest.raises(tf.errors.InvalidArgumentError, match=match):
        mode(lambda: file_rows(str(path), [0], 4))()


def test_an_empty_file_has_no_rows(mode, tmp_path):
    path = tmp_path / "empty.f32"
    path.touch()
    none = np.zeros([0], np.int64)
    assert mode(lambda: file_rows(str(path), none, 4))().shape == [0, 4]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"in \[0, 0\)"):
        mode(lambda: file_rows(str(path), [0], 4))()


def test_what_is_no_file_is_refused(mode, tmp_path):
    with pytest.raises(
        tf.errors.NotFoundError, match="filename: .*none.f32; No such file"
    ):
        mode(lambda: file_rows(str(tmp_path / "none.f32"), [0], 4))()
    with pytest.raises(tf.errors.OpError, match="filename: .*directory"):
        mode(lambda: file_rows(str(tmp_path), [0], 4))()


@pytest.mark.parametrize(
    "filename, rows, match",
    [
        (["a"], [0], r"filename must be a scalar .*\[1\] and \[1\]|rank 0"),
        ("a", 0, r"rows a vector, got shapes \[\] and \[\]|rank 1"),
        ("a", [[0]], r"rows a vector, got shapes \[\] and \[1,1\]|rank 1"),
    ],
)
def test_other_shapes_are_refused(mode, filename, rows, match):
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=match):
        mode(lambda: file_rows(filename, rows, 4))()


@pytest.mark.parametrize("columns", [0, 2**40 + 1, 2**62])
def test_columns_that_are_none_are_refused(mode, columns):
    error, match = (tf.errors.InvalidArgumentError, ValueError), f"columns.*{columns}"
    with pytest.raises(error, match=match):
        mode(lambda: file_rows(str(SAMPLE), [0], columns))()


def test_too_many_numbers_for_a_tensor_are_refused(mode, tmp_path):
    """The file has one row, nearly all of it a hole."""
    table, columns = tmp_path / "table", 2**40
    table.touch()
    os.truncate(table, 4 * columns)
    rows = tf.zeros([2**23], tf.int64)
    function = mode(lambda rows: file_rows(str(table), rows, columns))
    message = f"rows must have at most {2**23 - 1} elements, as columns is {columns}, got {2**23}"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        function(rows)
    match = rf"OOM when allocating tensor with shape\[{2**23 - 1},{columns}\]"
    with pytest.raises(tf.errors.ResourceExhaustedError, match=match):
        function(rows[1:])


def test_an_empty_table_takes_no_memory(mode, tmp_path):
    path = tmp_path / "empty.f32"
    path.touch()
    none = np.zeros([0], np.int64)
    assert mode(lambda: file_rows(str(path), none, 2**40))().shape == [0, 2**40]


def begin_a_program() -> tuple[list[int], list[int], Path]:
    """What a program with two workers begins with; returns their processes and ports, and the folder of one."""
    workers = [Machine() for _ in range(2)]
    begin_a_program.workers = workers  # which would end with the last reference
    ports = [int(worker.call(serve).rpartition(":")[2]) for worker in workers]
    workers[0].begin(time.sleep, 3600)
    return [worker.pid for worker in workers], ports, workers[0].folder


def is_there(pid: int) -> bool:
    """Whether there is such a process, and not only what it has left for its parent."""
    try:
        return ") Z" not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False


def left_of(pids, ports, folder) -> list:
    """Which of them are still there."""
    found = [pid for pid in pids if is_there(pid)]
    for port in ports:
        with socket.socket() as client:
            if client.connect_ex(("localhost", port)) == 0:
                found.append(port)
    return found + [folder.parent] * folder.parent.exists()


def test_nothing_is_left_of_a_program_that_was_killed():
    program = Machine()
    pids, ports, folder = program.call(begin_a_program)
    assert left_of(pids, ports, folder) == [*pids, *ports, folder.parent]
    program.kill()
    for _ in range(600):
        if not left_of(pids, ports, folder):
            return
        time.sleep(0.1)
    assert not left_of(pids, ports, folder)


@pytest.fixture(scope="module")
def far():
    """A machine with a server, the library and a table."""
    machine = Machine()
    TABLE.tofile(machine.folder / "table.f32")
    machine.call(load, str(LIBRARY))
    yield machine, machine.call(serve)
    machine.kill()


def rows_from(address: str, rows: list[int]) -> np.ndarray:
    tf.config.experimental_connect_to_host(address)
    with tf.device("/job:worker"):
        return file_rows("table.f32", rows, 4).numpy()


def test_rows_are_read_where_the_op_runs(far):
    caller = Machine()
    rows = caller.call(rows_from, far[1], [4, 1])
    np.testing.assert_array_equal(rows, TABLE[[4, 1]])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"rows\[0\] = 5"):
        caller.call(rows_from, far[1], [5])
    caller.kill()


def busy(address: str, turns: int) -> None:
    """Keeps the worker at an address busy."""

    @tf.function
    def function():
        total = 0.0
        with tf.device("/job:worker"):
            for _ in tf.range(turns):
                total += tf.reduce_sum(file_rows("table.f32", [1], 4))
        return total

    tf.config.experimental_connect_to_host(address)
    function()


def test_the_caller_of_a_worker_that_dies_gets_an_error():
    worker, caller = Machine(), Machine()
    TABLE.tofile(worker.folder / "table.f32")
    worker.call(load, str(LIBRARY))
    address = worker.call(serve)
    caller.call(busy, address, 1)
    caller.begin(busy, address, 10**9)
    assert not caller.answers(1)
    worker.kill()
    assert caller.answers(60)
    match = "Socket closed|Connection reset|Connection refused"
    with pytest.raises(tf.errors.UnavailableError, match=match):
        caller.result()
    caller.kill()


def test_the_caller_of_a_silent_worker_waits():
    """A stopped process closes no connection, as a machine without power does not."""
    worker, caller = Machine(), Machine()
    TABLE.tofile(worker.folder / "table.f32")
    worker.call(load, str(LIBRARY))
    caller.begin(busy, worker.call(serve), 10**9)
    assert not caller.answers(2)
    os.kill(worker.pid, signal.SIGSTOP)
    assert not caller.answers(5)
    worker.kill()
    assert caller.answers(60)
    with pytest.raises(tf.errors.UnavailableError):
        caller.result()
    caller.kill()


def variable_of_an_older_cluster(addresses: list[str], spare: str) -> None:
    def connect(*tasks):
        cluster = tf.train.ClusterSpec({"worker": tasks})
        tf.config.experimental_connect_to_cluster(cluster)

    connect(*addresses)
    with tf.device("/job:worker/task:0"):
        variable = tf.Variable([1.0])
    variable.numpy()
    connect(addresses[0], spare)
    variable.numpy()


def test_a_variable_of_an_older_cluster_ends_the_program():
    machines = [Machine() for _ in range(4)]
    *addresses, spare = [machine.call(serve) for machine in machines[:3]]
    with pytest.raises(ConnectionError, match="has ended"):
        machines[3].call(variable_of_an_older_cluster, addresses, spare)
    for machine in machines[:3]:
        machine.kill()


def rows_of_the_service(dispatcher: str) -> list:
    rows = tf.data.Dataset.from_tensors(tf.constant([3, 1], tf.int64))
    rows = rows.map(lambda rows: file_rows("table.f32", rows, 4))
    service = tf.data.experimental.service
    rows = rows.apply(service.distribute("parallel_epochs", dispatcher))
    return [each.numpy() for each in rows]


@pytest.mark.parametrize("loaded", [True, False])
def test_a_worker_of_the_data_service_needs_the_library(loaded):
    dispatcher = tf.data.experimental.service.DispatchServer()
    worker = Machine()
    TABLE.tofile(worker.folder / "table.f32")
    if loaded:
        worker.call(load, str(LIBRARY))
    worker.call(serve_data, dispatcher.target.removeprefix("grpc://"))
    if loaded:
        [rows] = rows_of_the_service(dispatcher.target)
        np.testing.assert_array_equal(rows, TABLE[[3, 1]])
    else:
        with pytest.raises(tf.errors.NotFoundError, match="not registered 'FileRows'"):
            rows_of_the_service(dispatcher.target)
    worker.kill()


def test_a_worker_with_an_older_op_ignores_a_new_attr():
    libraries = Path(__file__).parents[1] / "backward_compatibility"
    old, new = (
        libraries / f"libbackward_compatibility_v{version}.so" for version in (1, 2)
    )
    if not (old.exists() and new.exists()):
        pytest.skip("needs `make backward_compatibility`")
    worker, caller = Machine(), Machine()
    worker.call(load, str(old))
    gains = caller.call(older_and_newer, worker.call(serve), str(new))
    for machine in (worker, caller):
        machine.kill()
    assert gains[0] == gains[1] < gains[2]


def older_and_newer(address: str, library: str) -> list[float]:
    """MuLaw at the worker with a gain of 1 and of 2, which version 1 does not know, and here with 2."""
    mu_law = tf.load_op_library(library).mu_law
    tf.config.experimental_connect_to_host(address, job_name="worker")
    found = []
    for device, gain in [("worker", 1.0), ("worker", 2.0), ("localhost", 2.0)]:
        with tf.device(f"/job:{device}/task:0"):
            found.append(float(mu_law(0.25, mode="encode", gain=gain)))
    return found


def test_a_machine_does_what_it_is_asked():
    machine = Machine({"OP_BY_OP_TEST": "set"})
    assert machine.call(os.getpid) == machine.pid
    assert machine.call(os.getenv, "OP_BY_OP_TEST") == "set"
    assert machine.call(os.listdir) == [] and machine.folder.is_dir()
    with pytest.raises(ZeroDivisionError, match="by zero"):
        machine.call(divmod, 1, 0)
    program = ["sh", "-c", "cat && exit 3"]  # which reads to the end of its input
    assert machine.call(subprocess.call, program) == 3
    machine.begin(time.sleep, 0.2)
    assert not machine.answers(0) and machine.answers(20) and machine.result() is None
    machine.kill()
    with pytest.raises(ConnectionError, match=f"process {machine.pid} has ended"):
        machine.call(os.getpid)


def test_a_machine_whose_answer_nobody_takes_ends_in_silence():
    program = """
from machines import Machine

for _ in range(30):
    machine = Machine()
    machine.begin(bytes, 2**24)  # more than a connection holds
    assert machine.answers(20)
    del machine
"""
    folder = Path(__file__).parent
    # Its error stream is open until the last machine has ended.
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=folder, stderr=subprocess.PIPE, check=True)
    assert b"Traceback" not in done.stderr, done.stderr.decode()


def serve_at(port: int) -> str:
    cluster = tf.train.ClusterSpec({"worker": [f"localhost:{port}"]})
    servers.append(tf.distribute.Server(cluster, job_name="worker"))
    return servers[-1].target


def test_a_reserved_port_is_for_a_server_that_knows_it():
    machine = Machine()
    with reserve_port() as reserved, socket.socket() as other:
        address = reserved.getsockname()
        with pytest.raises(OSError, match="in use"):
            other.bind(address)
        with pytest.raises(ConnectionRefusedError, match="refused"):
            other.connect(address)
        target = machine.call(serve_at, address[1])
        assert target == f"grpc://localhost:{address[1]}"
        with socket.create_connection(address):
            pass
    machine.kill()


def rows_by_the_script(address: str) -> np.ndarray:
    tf.config.experimental_connect_to_host(address)
    with tf.device("/job:worker"):
        return file_rows("far.f32", [3, 0], 4).numpy()


def test_the_script_of_a_worker_runs_ops_for_others():
    worker, caller = Machine(), Machine()
    TABLE.tofile(worker.folder / "far.f32")
    with reserve_port() as reserved:
        address = f"localhost:{reserved.getsockname()[1]}"
        arguments = ["worker.py", str(LIBRARY), address]
        script = Path(__file__).with_name("worker.py")
        run = f"import runpy, sys; sys.argv = {arguments}; runpy.run_path({str(script)!r})"
        worker.begin(exec, run)
        while not listens(reserved.getsockname()):
            assert not worker.answers(0.1), worker.result()
        rows = caller.call(rows_by_the_script, address)
    np.testing.assert_array_equal(rows, TABLE[[3, 0]])
    assert not worker.answers(0.1), "waits forever"
    for machine in worker, caller:
        machine.kill()


def listens(address: tuple[str, int]) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(address) == 0


def test_the_first_that_answers():
    class Promised:
        """A result of eager execution: a dead machine is noticed when its values are read."""

        def __init__(self, task):
            self.task = task

        def numpy(self):
            if self.task < 0:
                raise tf.errors.UnavailableError(None, None, f"task {self.task}")
            return self.task

    assert first_answer(Promised, [-1, -2, 3, 4]) == 3
    with pytest.raises(tf.errors.UnavailableError, match="task -2"):
        first_answer(Promised, [-1, -2])
    with pytest.raises(tf.errors.UnavailableError, match="no tasks"):
        first_answer(Promised, [])


def test_strategies_find_the_same_weights():
    """On one device, on two, on two processes, and with a server for the weights."""
    rng = np.random.default_rng(1)
    inputs = rng.normal(size=(128, 3))
    outputs = inputs @ [1, -2, 0.5] + 0.1 * rng.normal(size=128)
    store = Machine()
    names = [str(store.folder / f"part-{part}") for part in range(2)]
    for name, part in zip(names, np.split(np.c_[inputs, outputs], 2)):
        part.astype(np.float32).tofile(name)
    pair = [Machine() for _ in range(2)]
    reserved = [reserve_port() for _ in pair]
    addresses = [f"localhost:{each.getsockname()[1]}" for each in reserved]
    for index, machine in enumerate(pair):
        machine.begin(training.multi_worker, addresses, index, names)
    several = [machine.result() for machine in pair]
    helpers = [Machine() for _ in range(3)]
    for helper in helpers:
        helper.call(load, str(LIBRARY))
    served = [helper.call(serve) for helper in helpers]
    alone = Machine().call(training.on_one_device, names)
    trained = [
        Machine().call(training.mirrored, names),
        *several,
        store.call(training.parameter_server, served, names),
    ]
    np.testing.assert_allclose(np.float32(trained), np.float32([alone] * 4), rtol=1e-6)
    np.testing.assert_allclose(alone, [1, -2, 0.5], atol=0.05)


def test_connecting_to_nobody_waits():
    with reserve_port() as reserved:
        port = reserved.getsockname()[1]
        patient = Machine()
        # Where a shell without job control has started the tests in the background, they ignore SIGQUIT.
        patient.call(signal.signal, signal.SIGQUIT, signal.SIG_DFL)
        patient.call(tf.config.experimental_connect_to_host, f"localhost:{port}")
        patient.begin(eval, "__import__('tensorflow').square(3.0).numpy()")
        assert not patient.answers(2)
        os.kill(patient.pid, signal.SIGQUIT)  # which Ctrl-\ sends
        assert patient.answers(60)
        with pytest.raises(ConnectionError, match="has ended"):
            patient.result()
