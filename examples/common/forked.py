"""For tests: a process of its own, which need not import TensorFlow, for it is the fork of one that has."""

import multiprocessing
import os
import subprocess
import sys
import tempfile
from multiprocessing.context import BaseContext
from pathlib import Path


def forks() -> BaseContext:
    """Makes forks of a process that has imported TensorFlow, has run no op, and has loaded no library of ops."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["preloaded"])
    return context


def run(
    code: str, *arguments: object, timeout: float | None = None, **settings: str
) -> subprocess.CompletedProcess:
    """What `python -c CODE ARGUMENTS` does: the exit status, and what is printed. It can import what this process can.

    It is no fork but a new process with `settings`, variables of its environment, and with LD_PRELOAD: a sanitizer may
    not know forks.

    Raises:
      subprocess.TimeoutExpired: It was ended after `timeout` seconds.
    """
    if settings or "LD_PRELOAD" in os.environ:
        own = {"PYTHONPATH": os.pathsep.join(sys.path), "CUDA_VISIBLE_DEVICES": ""}
        return subprocess.run(
            [sys.executable, "-c", code, *arguments],
            env=os.environ | own | settings,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
    with tempfile.TemporaryDirectory() as folder:
        said = Path(folder, "out"), Path(folder, "err")
        process = forks().Process(target=_run, args=(code, arguments, said))
        process.start()
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(code, timeout)
        texts = [path.read_text(errors="replace") for path in said]
        return subprocess.CompletedProcess(code, process.exitcode, *texts)


def _run(code: str, arguments: tuple, said: tuple) -> None:
    for descriptor, path in enumerate(said, 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), descriptor)
    sys.argv = ["-c", *map(str, arguments)]
    exec(code, {"__name__": "__main__"})
