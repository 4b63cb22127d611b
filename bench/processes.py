"""What the benches run in processes of their own: measurements, and libraries that run only while they answer."""

import atexit
import ctypes
import multiprocessing
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import NoReturn

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
