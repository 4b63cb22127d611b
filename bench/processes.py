"""What the benches run in processes of their own: measurements, and libraries that run only while they answer."""

import atexit
import ctypes
import multiprocessing
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import NoReturn

from measure import cores

SPAWN = multiprocessing.get_context("spawn")


def fail(message: str) -> NoReturn:
    sys.exit(f"make bench: {message}")


@contextmanager
def environment(settings: Mapping[str, str]) -> Iterator[None]:
    """Sets variables for the processes that are started meanwhile: glibc reads its own when a process starts."""
    os.environ |= settings
    try:
        yield
    finally:
        for name in settings:
            del os.environ[name]


def in_process(
    function: Callable, *arguments: object, settings: Mapping[str, str] | None = None
) -> object:
    """Calls a function in a process of its own, which has these variables in its environment, too."""
    with environment(settings or {}), ProcessPoolExecutor(1, SPAWN) as process:
        return process.submit(function, *arguments).result()


def by_threads(
    measure: Callable[[int, int, float], list[dict]], share: int = 1
) -> Callable[..., list[dict]]:
    """For `run_turns`: measures with one thread, and with one for each core, or with such numbers of threads, in
    processes of their own.

    Args:
      measure: Makes the rows of a number of threads, of which it is told, and of rounds and the span.
      share: How many parts the span is divided into, of which each way has one.
    """

    def rows(
        rounds: int, span: float, counts: Sequence[int] | None = None
    ) -> list[dict]:
        return [
            row
            for threads in counts or sorted({1, cores()})
            for row in in_process(with_threads, measure, threads, rounds, span / share)
        ]

    return rows


def with_threads(measure: Callable, threads: int, *arguments: object) -> list[dict]:
    """Measures with so many threads of TensorFlow, which is to do nothing before."""
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    return measure(threads, *arguments)


class Process:
    """A worker in a process that runs only while it answers.

    Args:
      worker: Makes the worker in its process, of a library's name and a number of threads.
      library: The name.
      threads: The number.
      settings: Variables of its environment beside those of the bench.
    """

    def __init__(
        self,
        worker: Callable[[str, int], object],
        library: str,
        threads: int,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.library, self.threads = library, threads
        self.connection, other = SPAWN.Pipe()
        arguments = worker, library, threads, other
        self.process = SPAWN.Process(target=serve, args=arguments, daemon=True)
        with environment(settings or {}):
            self.process.start()
        atexit.register(self.kill)  # it cannot end by itself while it is stopped
        other.close()
        self.stop()

    def stop(self) -> None:
        os.kill(self.process.pid, signal.SIGSTOP)

    def call(self, method: str, *arguments: object) -> object:
        """What a method of the worker returns; its error ends the bench."""
        os.kill(self.process.pid, signal.SIGCONT)
        try:
            self.connection.send((method, arguments))
            good, answer = self.connection.recv()
        except (EOFError, ConnectionError):
            self.process.join(5)
            fail(f"{self.library}'s process died: exit code {self.process.exitcode}")
        self.stop()
        if not good:
            fail(f"{self.library}: {answer}")
        return answer

    def kill(self) -> None:
        self.process.kill()


def serve(
    make: Callable[[str, int], object],
    library: str,
    threads: int,
    connection: Connection,
) -> None:
    """Answers requests, a method of the worker and its arguments, with (True, its result) or (False, why not)."""
    if sys.platform == "linux":  # die with the bench, even when that is killed
        ctypes.CDLL(None).prctl(1, 9)
    os.environ |= {"OMP_NUM_THREADS": str(threads), "CUDA_VISIBLE_DEVICES": ""}
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    warnings.simplefilter("ignore")
    worker = None
    while True:
        method, arguments = connection.recv()
        try:
            if worker is None:
                worker = make(library, threads)
            answer = True, getattr(worker, method)(*arguments)
        except Exception as error:
            traceback.print_exc()
            lines = f"{type(error).__name__}: {error}".splitlines()
            answer = False, lines[0] if lines else type(error).__name__
        connection.send(answer)
