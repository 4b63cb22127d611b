"""Sessions with gdb, as one would type them."""

import re
import resource
import subprocess
import sys
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
NOISE = r"\[|Using host|warning:|\+backtrace 1$|$"


def gdb(script: Path, *program: str | Path) -> str:
    """Runs the commands of a script.

    Args:
      script: A command on each line.
      *program: What gdb is started with: `--args` and a command, or a program and its core dump.

    Returns:
      The commands and what gdb answers, each line cut off where it gets long.
    """
    settings = [word for each in SETTINGS for word in ("-iex", each)]
    command = ["gdb", "-batch", "-nx", *settings, "-x", script, *program]
    run = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in run.stdout.split("\n") if not re.match(NOISE, line)]
    errors = re.findall(r"Error in sourced.*\n.*", run.stderr)
    return "\n".join(map(_readable, [*lines, *errors]))


def core_of(program: Path, folder: Path) -> Path | None:
    """Runs a program that crashes in a folder; returns the core dump that it leaves there, if it does."""

    def unlimited() -> None:
        most = resource.getrlimit(resource.RLIMIT_CORE)[1]
        resource.setrlimit(resource.RLIMIT_CORE, (most, most))

    subprocess.run(
        [sys.executable, program], cwd=folder, preexec_fn=unlimited, capture_output=True
    )
    return next(folder.glob("core*"), None)


def _readable(line: str) -> str:
    line = re.sub(r"^\++(?=\w)", "(gdb) ", line)
    line = re.sub(r"[\w./-]*/(?=[\w.-])", "", line)
    line = line.replace("(anonymous namespace)::", "")
    return line if len(line) <= 90 else f"{line[:89]}…"
