"""Sphinx extension: the kernels of the pages are forks of one process that has imported TensorFlow.

The import takes some seconds of a processor, which each page would take again. `python kernels.py DESCRIPTOR` is the
process that imports and forks. On macOS, where a fork of TensorFlow is not safe, kernels start as Jupyter starts them,
as does that of a page with `kernel: own` in its front matter, which sets what TensorFlow reads when it is imported.
Nothing is where no page to be read wants a fork.
"""

import contextlib
import json
import os
import re
import runpy
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from importlib.metadata import EntryPoint

from jupyter_client.provisioning import KernelProvisionerFactory
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from opcheck.processes.frozen import frozen

NAME = "fork"
GROUP = "jupyter_client.kernel_provisioners"
ENVIRONMENT = "OP_BY_OP_KERNELS"


def serve(listening: int) -> None:
    """Forks a kernel for each request: JSON with `arguments`, `folder` and `environment`. Answers with its number.

    Args:
      listening: The descriptor of a socket to which requests come.
    """
    os.environ["JPY_PARENT_PID"] = str(os.getpid())  # a kernel ends with its parent
    with frozen():
        import ipykernel.kernelapp  # noqa: F401
        import tensorflow  # noqa: F401

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for a kernel
    with socket.socket(fileno=listening) as server:
        while True:
            connection, _ = server.accept()
            with connection, connection.makefile("rw") as stream:
                request = json.loads(stream.readline())
                if (pid := os.fork()) == 0:
                    server.close()
                    become_kernel(**request)
                stream.write(f"{pid}\n")


def become_kernel(arguments: list[str], folder: str, environment: dict) -> None:
    """What `python -m ipykernel_launcher` does, in this process. Does not return."""
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv[1:] = arguments
    code = 1
    try:
        runpy.run_module("ipykernel_launcher", run_name="__main__", alter_sys=True)
        code = 0
    finally:
        os._exit(code)


class Forked:
    """A fork of the server, with the methods of `subprocess.Popen` that Jupyter calls."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def poll(self) -> int | None:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return 0
        return None

    def wait(self) -> int:
        while self.poll() is None:
            time.sleep(0.02)
        return 0

    def send_signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


class ForkProvisioner(LocalProvisioner):
    """Starts a kernel by asking the server for a fork."""

    async def launch_kernel(self, cmd: list[str], **options) -> dict:
        if getattr(self.parent, "own", False):
            return await super().launch_kernel(cmd, **options)
        request = {
            "arguments": cmd[cmd.index("ipykernel_launcher") + 1 :],
            "folder": os.fspath(options.get("cwd") or os.getcwd()),
            "environment": dict(options["env"]),
        }
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(os.environ[ENVIRONMENT])
            with connection.makefile("rw") as stream:
                stream.write(json.dumps(request) + "\n")
                stream.flush()
                self.process = Forked(int(stream.readline()))
        self.pid = self.pgid = self.process.pid
        return self.connection_info


def wants_fork(path) -> bool:
    """Whether a page has cells and a kernel that is not its own."""
    text = path.read_text()
    return "{code-cell}" in text and not re.search("^kernel: own$", text, re.M)


def start(app, env, docnames: list[str]) -> None:
    """Starts the server, once for a build and the processes that it forks. Requests wait until it has imported."""
    if sys.platform != "linux" or app.config.nb_execution_mode == "off":
        return
    if not any(wants_fork(env.doc2path(name)) for name in docnames):
        return
    folder = tempfile.mkdtemp()
    os.environ[ENVIRONMENT] = f"{folder}/kernels"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.environ[ENVIRONMENT])
        listening.listen(64)
        server = subprocess.Popen(
            [sys.executable, __file__, str(listening.fileno())],
            pass_fds=[listening.fileno()],
            env={
                **os.environ,
                "TF_CPP_MIN_LOG_LEVEL": "3",
                "TF_ENABLE_ONEDNN_OPTS": "0",
            },
        )
    app.connect("build-finished", lambda *_: stop(server, folder), priority=900)
    factory = KernelProvisionerFactory.instance()
    factory.provisioners[NAME] = EntryPoint(NAME, f"{__name__}:ForkProvisioner", GROUP)
    factory.default_provisioner_name = NAME


def stop(server: subprocess.Popen, folder: str) -> None:
    server.kill()
    server.wait()
    shutil.rmtree(folder)


def setup(app) -> dict[str, bool]:
    app.connect("env-before-read-docs", start)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    serve(int(sys.argv[1]))
