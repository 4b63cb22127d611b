"""Servers on this machine that send lines to whoever connects, or wait until all of them were asked."""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress

import tensorflow as tf
from fetch_lines_reference import fetch_lines_reference


@contextmanager
def serving(
    answers: Sequence[bytes],
    *,
    together: bool = False,
    patience: float | None = None,
    log: list | None = None,
) -> Iterator[list[int]]:
    """Has a server for each answer, which ends with the block; gives their ports.

    Args:
      answers: What each sends, before it closes the connection.
      together: Nobody sends before all have been asked.
      patience: After so many seconds without that, all give up and send nothing; None: never.
      log: Gets ("asked", number) when somebody connects, and ("answered", number) when all is sent.
    """
    log = [] if log is None else log
    all_asked = threading.Barrier(len(answers), timeout=patience)

    def answer(connection: socket.socket, number: int) -> None:
        log.append(("asked", number))
        if together:
            all_asked.wait()
        connection.sendall(answers[number])
        log.append(("answered", number))

    def serve(server: socket.socket, number: int) -> None:
        with suppress(OSError):  # of `accept`: the block has ended
            while True:
                connection, _ = server.accept()
                # Who has asked may be gone, or the servers have given up.
                with connection, suppress(OSError, threading.BrokenBarrierError):
                    if not all_asked.broken:
                        answer(connection, number)

    with ExitStack() as stack:
        servers = [
            stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in answers
        ]
        threads = [
            threading.Thread(target=serve, args=[server, number], daemon=True)
            for number, server in enumerate(servers)
        ]
        for thread in threads:
            thread.start()
        try:
            yield [server.getsockname()[1] for server in servers]
        finally:
            all_asked.abort()
            for server in servers:
                server.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join()


def blocking_fetch(port: tf.Tensor) -> tf.Tensor:
    """The lines of a server, by Python, which keeps its thread while it waits."""

    def fetch(port):
        server = "127.0.0.1", int(port)
        with socket.create_connection(server, timeout=10) as connection:
            with connection.makefile("rb") as file:
                return fetch_lines_reference(file.read())

    lines = tf.numpy_function(fetch, [port], tf.string)
    return tf.ensure_shape(lines, [None])
