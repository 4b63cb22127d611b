"""Installs what bench/ measures against, the extra `bench`, where this environment lacks it."""

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution, requires
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
NO_NETWORK = ("ConnectionError", "ProxyError", "Timeout", "NameResolution")


def missing() -> list[Requirement]:
    """Those packages of the extra that this machine can have and this environment has not."""
    found = []
    for requirement in map(Requirement, requires("op-by-op") or []):
        marker = requirement.marker
        wanted = marker and marker.evaluate({"extra": "bench"})
        if wanted and not marker.evaluate({"extra": ""}):
            try:
                distribution(requirement.name)
            except PackageNotFoundError:
                found.append(requirement)
    return found


def main() -> None:
    packages = missing()
    if not packages:
        return
    names = ", ".join(package.name for package in packages)
    print(f"Installing {names}: some minutes, the first time only", flush=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet"]
    pip += ["--disable-pip-version-check", "--constraint", "constraints.txt"]
    wanted = [f"{package.name}{package.specifier}" for package in packages]
    run = subprocess.run([*pip, *wanted], cwd=ROOT, capture_output=True, text=True)
    if run.returncode:
        lines = [line for line in run.stderr.splitlines() if "error" in line.lower()]
        why = lines[-1].strip() if lines else f"exit code {run.returncode}"
        if any(sign in run.stderr for sign in NO_NETWORK):
            why = "no network? (PIP_INDEX_URL sets another package index)"
        sys.exit(f"make bench: pip cannot install {names}: {why}")


if __name__ == "__main__":
    main()
