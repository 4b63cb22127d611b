"""A process that has imported TensorFlow and forks a worker whenever one is asked for.

Importing TensorFlow takes seconds, a fork takes milliseconds; and no op has run in this process,
so that a fork of it is as good as a fresh one. One byte and four file descriptors ask for a
worker: its connection, where its exit status goes, its standard error, and memory for a `pulse.Pulse`.
"""

import os
import select
import shutil
import signal
import socket
import sys
import tempfile


def main(control_fd: int) -> None:
    """Serves until the process that started it is gone."""
    from opcheck.processes.frozen import frozen

    with frozen():
        import tensorflow  # noqa: F401

        from opcheck.processes import worker  # noqa: F401

    control = socket.socket(fileno=control_fd)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        message, fds, _, _ = socket.recv_fds(control, 1, 4)
        if not message:
            return
        if os.fork() == 0:
            control.close()
            _supervise(*fds)
        for fd in fds:
            os.close(fd)


def _supervise(connection_fd: int, status_fd: int, log_fd: int, pulse_fd: int) -> None:
    """Runs a worker in a fork, reports how it ended, and ends it if nobody listens any more.

    Its temporary files, which TensorFlow makes for autograph and the worker leaves, are gone with it.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    alive, kept_open = os.pipe()
    try:
        folder = tempfile.mkdtemp(prefix="opcheck-")
    except OSError:
        folder = ""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(alive)
            os.close(status_fd)
            os.dup2(log_fd, 1)
            os.dup2(log_fd, 2)
            _work(connection_fd, pulse_fd, folder)
            code = 0
        except BaseException as error:
            print(f"ERROR: {type(error).__name__}: {error}", file=sys.stderr)
        finally:
            sys.stderr.flush()
            os._exit(code)
    os.close(kept_open)
    os.close(connection_fd)
    os.close(pulse_fd)
    os.write(status_fd, pid.to_bytes(8, "little"))
    ready, _, _ = select.select([alive, status_fd], [], [])
    if alive not in ready:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    try:
        os.write(status_fd, status.to_bytes(8, "little"))
    except OSError:
        pass
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def _work(connection_fd: int, pulse_fd: int, folder: str) -> None:
    from multiprocessing.connection import Connection

    from opcheck.processes import pulse
    from opcheck.processes.worker import serve

    pulse.share(pulse_fd)
    os.close(pulse_fd)
    serve(Connection(connection_fd), folder)
