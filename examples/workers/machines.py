"""Processes of this computer that play machines: each has a folder of its own, and ends with the process that began.

They are forks of a process that has imported TensorFlow and done nothing else, since the import takes seconds.
"""

import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

# Where http_proxy is set, gRPC would go to this computer through the proxy, too.
for _name in ("no_proxy", "NO_PROXY"):
    _known = os.environ.get(_name)
    os.environ[_name] = ",".join(["localhost", "127.0.0.1", *[_known] * bool(_known)])

_origin: socket.socket | None = None


class Machine:
    """A process that calls functions for this one, in an empty folder of its own.

    When the process that made it ends, in whatever way, it ends, too, and its folder is removed.

    Attributes:
      folder: Where its relative paths begin.
      pid: The number of the process.

    Args:
      environment: Variables for the process.
    """

    def __init__(self, environment: dict[str, str] | None = None):
        ours, theirs = socket.socketpair()
        socket.send_fds(_origin or _start(), [b"+"], [theirs.fileno()])
        theirs.close()
        self._connection = Connection(ours.detach())
        self._connection.send((sys.path, environment or {}))
        self.folder, self.pid = self._connection.recv()

    def begin(self, function: Callable, *arguments) -> None:
        """Lets it call a function of a module; arguments and results are pickled."""
        try:
            self._connection.send((function, arguments))
        except ConnectionError:
            raise self._ended() from None

    def result(self):
        """What the function has returned, or raises what it has raised.

        Raises:
          ConnectionError: The process has ended.
        """
        try:
            good, outcome = self._connection.recv()
        except (EOFError, ConnectionError):
            raise self._ended() from None
        if not good:
            raise outcome
        return outcome

    def answers(self, seconds: float) -> bool:
        """Whether there is a result, or one comes in this time."""
        return self._connection.poll(seconds)

    def call(self, function: Callable, *arguments):
        """One after the other: `begin`, `result`."""
        self.begin(function, *arguments)
        return self.result()

    def _ended(self) -> ConnectionError:
        return ConnectionError(f"process {self.pid} has ended")

    def kill(self) -> None:
        """Ends the process at once, as if somebody had pulled the plug."""
        os.kill(self.pid, signal.SIGKILL)


def reserve_port() -> socket.socket:
    """Takes a port of this computer, which nobody is given while the socket is open.

    A program that knows its number can listen there all the same, if it sets SO_REUSEADDR, as gRPC does.
    """
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("localhost", 0))
    return reserved


def _start() -> socket.socket:
    """Starts the process that the machines are forks of; it ends when this one does."""
    global _origin
    _origin, theirs = socket.socketpair()
    subprocess.Popen(
        [sys.executable, __file__, str(theirs.fileno())],
        stdin=subprocess.DEVNULL,
        pass_fds=[theirs.fileno()],
        start_new_session=True,  # so that Ctrl-C is for the process that began
    )
    theirs.close()
    return _origin


def _main(descriptor: int) -> None:
    import tensorflow  # noqa: F401

    control = socket.socket(fileno=descriptor)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    root = Path(tempfile.mkdtemp(prefix="machines-"))
    while True:
        word, descriptors, *_ = socket.recv_fds(control, 1, 1)
        if not word:
            break
        if os.fork() == 0:
            control.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _be_a_machine(Connection(descriptors[0]), root)
        os.close(descriptors[0])
    try:
        os.wait()  # for all, since SIGCHLD is ignored
    except ChildProcessError:
        pass
    shutil.rmtree(root)


def _be_a_machine(connection: Connection, root: Path) -> None:
    threading.Thread(target=_end_with, args=[connection.fileno()], daemon=True).start()
    sys.path[:], environment = connection.recv()
    os.environ |= environment
    tempfile.tempdir = str(root)  # also for the files of AutoGraph
    os.chdir(tempfile.mkdtemp())
    connection.send((Path.cwd(), os.getpid()))
    with suppress(EOFError, ConnectionError):  # the other end is gone
        while True:
            function, arguments = connection.recv()
            try:
                outcome = True, function(*arguments)
            except Exception as error:
                outcome = False, error
            connection.send(outcome)
    os._exit(0)


def _end_with(descriptor: int) -> None:
    """Ends this process when the other end of the connection is closed."""
    hung_up = select.poll()
    hung_up.register(descriptor, 0)
    hung_up.poll()
    os._exit(0)


if __name__ == "__main__":
    _main(int(sys.argv[1]))
