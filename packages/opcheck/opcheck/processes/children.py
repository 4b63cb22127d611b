"""The parent's side of the worker processes: ask, wait, and learn how one died."""

import atexit
import mmap
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import BinaryIO

import numpy as np

from opcheck.findings.report import Worker
from opcheck.processes.pulse import Clock, Patience, Pulse, Watch

in_worker = False  # a worker needs no workers
_STEP = 0.25  # seconds between two looks at a worker that is silent
# The working directory may hold a code.py, or what else TensorFlow would import in place of Python's own.
_START = (
    "import sys; sys.path[:] = filter(None, sys.path); "
    "from opcheck.processes.server import main; main(int(sys.argv[1]))"
)
_lock = threading.Lock()
_server: "tuple[subprocess.Popen, socket.socket] | None" = None


class Crash(Exception):
    """A worker died, or `hung` and was ended; the message says how, `doing` at what, with so much memory `filled`.

    `call` is of the inputs and attrs, where these are not the sample's.
    """

    def __init__(
        self, how: str, doing, log: str, hung: bool, filled: int = 0, call=None
    ):
        super().__init__(how)
        self.filled = filled
        self.doing = doing
        self.call = call
        self.hung = hung
        self.log = log

    @property
    def of_heap(self) -> bool:
        """Whether malloc has ended the process, for what was written to its memory."""
        return bool(re.search(r"free\(\)|malloc|corrupt|munmap_chunk", self.log))

    def __str__(self) -> str:
        last = f": {self.log}" if self.log else ""
        return f"{self.args[0]}{last}"


class WorkerError(Exception):
    """What a worker raised, and where."""

    def __init__(self, error: str, place: str):
        super().__init__(error, place)

    def __str__(self) -> str:
        error, place = self.args
        return f"{error} ({place})" if place else error


def start_server() -> None:
    """Starts the process that forks the workers, unless it runs; does not wait for it."""
    global _server
    if in_worker:
        raise RuntimeError(
            "the module of the op runs opcheck when it is imported: put that below "
            '`if __name__ == "__main__":`'
        )
    with _lock:
        if _server is not None and _server[0].poll() is None:
            return
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        process = subprocess.Popen(
            [sys.executable, "-c", _START, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(log := _nameless_file()),
        )
        process.log = log
        theirs.close()
        _server = process, ours


def _nameless_file(in_memory: bool = False) -> BinaryIO:
    """A file that is gone when it is closed, in memory where there is no folder for it.

    On a disk that is full, who writes to a mapped file is ended.
    """
    if not (in_memory and hasattr(os, "memfd_create")):
        try:
            return tempfile.TemporaryFile()
        except OSError:
            if not hasattr(os, "memfd_create"):
                raise
    return open(os.memfd_create("opcheck"), "w+b")


def environment() -> dict[str, str]:
    """The environment variables of the server.

    oneDNN's allocator, which TensorFlow uses for every tensor, waits for ten seconds where there is
    not enough memory, and hands out large blocks that malloc has not filled.
    """
    package = str(Path(__file__).parents[2])
    return {
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "TF_ENABLE_ONEDNN_OPTS": "0",
        "OPENBLAS_NUM_THREADS": "1",
        **os.environ,
        "PYTHONPATH": os.pathsep.join(
            filter(None, [package, os.environ.get("PYTHONPATH")])
        ),
    }


@atexit.register
def stop_server() -> None:
    """Ends the server and with it all workers."""
    global _server
    with _lock:
        if _server is not None:
            process, control = _server
            control.close()
            process.terminate()
            process.wait()
            process.log.close()
            _server = None


class Child:
    """One worker at a time; another one takes its place when it died.

    Args:
      reference: Called in this process when a check in the worker asks for it.
      patience: How long it waits for the worker: seconds of a call, or what says more.
      opened: Told of each new worker; gives what is to know how that one died.
      **start: What each worker is told at its start, beside `sys.path` and this folder: see `worker.start`.
    """

    def __init__(
        self,
        reference: Callable | None,
        patience: Patience | float,
        opened: Callable[[], Worker] = lambda: Worker(()),
        **start,
    ):
        self._reference = reference
        self._opened = opened
        self.patience = (
            patience if isinstance(patience, Patience) else Patience(patience)
        )
        self._filled, self._call = 0, None
        self.larger = 1.0  # how many times as large as the sample's the inputs are
        self._start = {"path": list(sys.path), "folder": os.getcwd(), **start}
        self._connection: Connection | None = None

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *unused) -> None:
        self.close()

    def ask(self, function: Callable, **arguments):
        """Lets the worker call a function of a module with its Subject, and waits for the answer.

        Raises:
          Crash: The worker died or hung.
          WorkerError: It raised.
        """
        if self._connection is None:
            self._open()
            try:
                self._ask("start", self._start)
            except WorkerError:
                self._forget()
                raise
        return self._ask(function, arguments)

    def _ask(self, function: Callable | str, arguments: dict):
        doing, self._call = "", None
        try:
            self._connection.send((function, arguments))
            while not self.patience.over:
                if hangs := self._silent():
                    raise self._crash(doing, hangs)
                kind, content = self._connection.recv()
                if kind == "answer":
                    return content
                if kind == "error":
                    raise WorkerError(*content)
                if kind == "progress":
                    doing, self._call = content
                elif kind == "reference":
                    self._connection.send(self._ask_reference(*content))
            raise KeyboardInterrupt
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise self._crash(doing) from None

    def _silent(self) -> str:
        """Waits until something comes: nothing, or how the worker hangs."""
        clock, self._filled = None, 0
        while not self._connection.poll(_STEP):
            if self.patience.over:
                raise KeyboardInterrupt
            if clock is None:
                watch = Watch(self._pid)
                larger = max(1.0, self.larger)
                clock = Clock(self.patience, self._pulse, watch, larger)
            hangs = clock.step(_STEP)
            self._filled = clock.filled
            if hangs:  # not what has passed: all may stand still
                self.patience.hung += 1
                return hangs
        if clock is not None:
            clock.end()
        return ""

    def _ask_reference(self, inputs, attrs):
        try:
            with np.errstate(all="ignore"):
                return True, self._reference(*inputs, **attrs)
        except Exception as error:
            return False, f"the reference raised {type(error).__name__}: {error}"

    def _open(self) -> None:
        start_server()
        ours, theirs = socket.socketpair()
        self._status, their_status = socket.socketpair()
        self._log = _nameless_file()
        process, control = _server
        with _nameless_file(in_memory=True) as shared:
            shared.truncate(mmap.PAGESIZE)
            self._pulse = Pulse(shared.fileno())
            ends = theirs, their_status, self._log, shared
            with _lock:
                socket.send_fds(control, [b"f"], [one.fileno() for one in ends])
        theirs.close()
        their_status.close()
        self._connection = Connection(ours.detach())
        pid = self._status.recv(8)
        if not pid:
            process.log.seek(0)
            log = process.log.read().decode(errors="replace")
            self._forget()
            raise RuntimeError(
                f"opcheck's server process did not start:\n{log[-2000:]}"
            )
        self._pid = int.from_bytes(pid, "little")
        self._worker = self._opened()

    def _crash(self, doing: str, hangs: str = "") -> Crash:
        if hangs:
            os.kill(self._pid, signal.SIGKILL)
        status = int.from_bytes(self._status.recv(8) or b"", "little")
        self._log.seek(0)
        log = _essence(self._log.read().decode(errors="replace"))
        self._forget()
        if hangs:
            how = hangs
        elif os.WIFSIGNALED(status):
            how = f"the process died of {signal.Signals(os.WTERMSIG(status)).name}"
        else:
            how = f"the process ended with exit status {os.waitstatus_to_exitcode(status)}"
        self._worker.death = how
        return Crash(how, doing, log, bool(hangs), self._filled, self._call)

    def _forget(self) -> None:
        self._connection.close()
        self._connection = None
        self._status.close()
        self._log.close()
        self._pulse.close()

    def close(self) -> None:
        """Ends the worker, if there is one."""
        if self._connection is not None:
            self._forget()


def _essence(log: str) -> str:
    """The line of a log that says why the process died, as well as one can tell."""
    stamp = r"^(F\d{4} [\d:.]+ +\d+ |\d{4}-\d\d-\d\d [\d:.]+: F )"
    lines = [re.sub(stamp, "", line.strip()) for line in log.splitlines()]
    lines = [line for line in lines if line]
    for mark in (
        "ERROR: ",
        "runtime error:",
        "Check failed",
        "terminate",
        "what()",
    ):
        found = [line for line in lines if mark in line]
        if found:
            return found[-1][:300]
    return lines[-1][:300] if lines else ""
