"""Sessions with gdb, as one would type them."""

import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SETTINGS = [
    "set debuginfod enabled off",
    "set auto-load python-scripts off",
    "set print address off",
    "set print frame-arguments none",
    "handle SIGCONT nostop noprint",
    "set auto-solib-add off",
    "set trace-commands on",
]
NOISE = r"\[|Using host|warning:|\+backtrace$|$"
# Of TensorFlow, or of what it waits with; the frames on both sides are of the C library and of Python.
TELLING = r"#\d+ +(in )?(tensorflow|tsl::thread|Eigen::ThreadPool\w*|op_by_op|absl::\w+::Notification)\b"


def gdb(script: Path, *program: str | Path) -> str:
    """Runs the commands of a script.

    Args:
      script: A command on each line.
      *program: What gdb is started with: `--args` and a command, or a program and its core dump.

    Returns:
      The commands and what gdb answers, each line cut off where it gets long; of all threads, the frames that tell
      the most.
    """
    settings = [word for each in SETTINGS for word in ("-iex", each)]
    command = ["gdb", "-batch", "-nx", *settings, "-x", script, *program]
    run = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in run.stdout.split("\n") if not re.match(NOISE, line)]
    errors = re.findall(r"Error in sourced.*\n.*", run.stderr)
    return "\n".join(map(_readable, [*_few_frames(lines), *errors]))


def core_of(program: Path, folder: Path) -> Path | None:
    """Runs a program that crashes in a folder; returns the core dump that it leaves there, if it does."""

    def unlimited() -> None:
        most = resource.getrlimit(resource.RLIMIT_CORE)[1]
        resource.setrlimit(resource.RLIMIT_CORE, (most, most))

    subprocess.run(
        [sys.executable, program], cwd=folder, preexec_fn=unlimited, capture_output=True
    )
    return next(folder.glob("core*"), None)


def _few_frames(lines: list[str]) -> Iterator[str]:
    """Of the threads that `thread apply all` shows, those in TensorFlow, with two frames each."""
    start = next(
        (i for i, x in enumerate(lines) if "thread apply all" in x), len(lines)
    )
    yield from lines[: start + 1]
    thread, left = "", 0
    end = next(
        (i for i, x in enumerate(lines) if i > start and x[:1] == "+"), len(lines)
    )
    for line in lines[start + 1 : end]:
        if line.startswith("Thread "):
            thread, left = line, 2
        elif left and re.match(TELLING, line):
            if thread:
                yield re.sub(r" \(Thread \S+ \(LWP \d+\)(.*)\):", r"\1:", thread)
            yield re.sub(r" ?\(.*", "", _without_parameters(line))
            thread, left = "", left - 1
    yield from lines[end:]


def _without_parameters(line: str) -> str:
    """A frame without the parameters of its templates."""
    line = line.replace("(anonymous namespace)::", "")
    while (less := re.sub(r"<[^<>]*>", "", line)) != line:
        line = less
    return line


def _readable(line: str) -> str:
    line = re.sub(r"^\++(?=\w)", "(gdb) ", line)
    line = re.sub(r"[\w./-]*/(?=[\w.-])", "", line)
    line = line.replace("(anonymous namespace)::", "")
    return line if len(line) <= 90 else f"{line[:89]}…"
