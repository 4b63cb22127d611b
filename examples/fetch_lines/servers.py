"""Servers on this machine that send lines to whoever connects, and ways to ask them in Python."""

import selectors
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress

import numpy as np
import tensorflow as tf
from fetch_lines_reference import fetch_lines_reference


@contextmanager
def serving(
    answers: Sequence[bytes],
    *,
    delay: float = 0,
    together: bool = False,
    log: list | None = None,
) -> Iterator[list[int]]:
    """Has a server for each answer, which ends with the block; gives their ports.

    Args:
      answers: What each sends, before it closes the connection.
      delay: So many seconds after somebody has connected.
      together: Nobody sends before all have been asked.
      log: Gets ("asked", number, time) when somebody connects, and ("answered", number, time) when all is sent.
    """
    log = [] if log is None else log
    all_asked = threading.Barrier(len(answers))

    def answer(connection: socket.socket, number: int) -> None:
        log.append(("asked", number, time.monotonic()))
        time.sleep(delay)
        if together:
            all_asked.wait()
        connection.sendall(answers[number])
        log.append(("answered", number, time.monotonic()))

    def serve(server: socket.socket, number: int) -> None:
        with suppress(OSError):  # of `accept`: the block has ended
            while True:
                connection, _ = server.accept()
                # Who has asked may be gone, or the block has ended.
                with connection, suppress(OSError, threading.BrokenBarrierError):
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


@contextmanager
def stopwatch(name: str) -> Iterator[None]:
    """Prints how many seconds its block took."""
    start = time.monotonic()
    yield
    print(f"{name}: {time.monotonic() - start:.1f} s")


def blocking_fetch(port: tf.Tensor) -> tf.Tensor:
    """The lines of a server, by Python, which keeps its thread while it waits."""

    def fetch(port):
        server = "127.0.0.1", int(port)
        with socket.create_connection(server, timeout=10) as connection:
            with connection.makefile("rb") as file:
                return fetch_lines_reference(file.read())

    lines = tf.numpy_function(fetch, [port], tf.string)
    return tf.ensure_shape(lines, [None])


def fetch_all(ports: Sequence[int]) -> list[bytes]:
    """What the servers send, all asked at once, on one thread."""
    waiting, texts = selectors.DefaultSelector(), {}
    for port in ports:
        connection = socket.create_connection(("127.0.0.1", int(port)))
        waiting.register(connection, selectors.EVENT_READ)
        texts[connection] = b""
    while waiting.get_map():
        for key, _ in waiting.select():
            part = key.fileobj.recv(65536)
            texts[key.fileobj] += part
            if not part:  # the server has closed the connection
                waiting.unregister(key.fileobj)
                key.fileobj.close()
    waiting.close()
    return list(texts.values())


def batched_fetch(ports: tf.Tensor) -> tf.Tensor:
    """The lines of all servers of a batch."""

    def fetch(ports):
        lines = [fetch_lines_reference(text) for text in fetch_all(ports)]
        return np.concatenate(lines)

    return tf.ensure_shape(tf.numpy_function(fetch, [ports], tf.string), [None])
