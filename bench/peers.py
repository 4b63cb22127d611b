"""Installs what bench/ measures against, the extra `bench`, where this environment lacks it: pip looks."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
NO_NETWORK = ("ConnectionError", "ProxyError", "Timeout", "NameResolution")


def main() -> None:
    print("Installing what this environment lacks of the extra bench", flush=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet"]
    pip += ["--disable-pip-version-check", "--constraint", "constraints.txt"]
    run = subprocess.run(
        [*pip, "op-by-op[bench]"], cwd=ROOT, capture_output=True, text=True
    )
    if run.returncode:
        lines = [line for line in run.stderr.splitlines() if "error" in line.lower()]
        why = lines[-1].strip() if lines else f"exit code {run.returncode}"
        if any(sign in run.stderr for sign in NO_NETWORK):
            why = "no network? (PIP_INDEX_URL sets another package index)"
        sys.exit(f"make bench: pip cannot install the extra bench: {why}")


if __name__ == "__main__":
    main()
