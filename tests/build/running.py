"""How tests run programs, and what stands in for some."""

import os
import subprocess
from pathlib import Path


def run(
    *command: object, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess:
    """Runs a command, with these variables beside those that there are, and keeps what it says, as text."""
    return subprocess.run(
        [*map(str, command)],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )


def program(folder: Path, name: str, script: str) -> Path:
    """Writes a program: a script of the shell."""
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    return folder / name
