"""Runs opcheck on the ops of public wheels: `python packages/opcheck/wild/look.py FOLDER [NAME…] [--checks A,B]`.

Each wheel goes into an environment of its own below FOLDER, beside the TensorFlow of this Python. Writes
FOLDER/found.csv: a line for each op and finding, to be judged by hand, and a line for each op without one.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
# What pip installs. They were built for the TensorFlow that the book uses.
WHEELS = ("tensorflow-text==2.21.1",)
HEADER = ("library", "version", "op", "check", "detail", "seen", "line", "left out")
HOUR = 3600


def environment(folder: Path, wheel: str) -> tuple[str, Path]:
    """Installs a wheel: the Python of its environment, and where its files are."""
    where = folder / wheel.replace("==", "-")
    python = where / "bin" / "python"
    if not python.exists():
        venv.create(where, with_pip=True, symlinks=True)
        packages = next(where.glob("lib/python*/site-packages"))
        # TensorFlow, of the environment that runs this.
        (packages / "opcheck_wild.pth").write_text(sysconfig.get_path("purelib"))
    subprocess.run(
        [python, "-m", "pip", "install", "-q", "--no-deps", wheel], check=True
    )
    return str(python), next(where.glob("lib/python*/site-packages"))


def look(folder: Path, wheel: str, more: list[str]) -> Iterator[tuple]:
    """Yields the lines of the table for one wheel."""
    library, version = wheel.split("==")
    python, packages = environment(folder, wheel)
    name = library.replace("-", "_")
    env = os.environ | {"PYTHONPATH": str(PACKAGE)}
    for file in sorted((packages / name).rglob("*.so")):
        result = folder / f"{wheel}-{file.stem}.json"
        command = [python, "-m", "opcheck", file, "--json", result, *more]
        try:
            subprocess.run(command, env=env, timeout=4 * HOUR)
        except subprocess.TimeoutExpired:
            print(f"{file}: not all ops within {4 * HOUR} s", file=sys.stderr)
        if not result.exists():
            continue  # it registers no op
        for one in json.loads(result.read_text()):
            for found in one["failures"]:
                told = (found[key] for key in ("check", "detail", "seen", "line"))
                yield (library, version, one["op"], *told, one["left_out"])
            if not one["failures"]:
                yield (library, version, one["op"], "", "", "", "", one["left_out"])


def main() -> None:
    """Writes the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="of wheels; all by default")
    parser.add_argument("--checks", help="only these: A,B")
    options = parser.parse_args()
    folder, wanted = options.folder.resolve(), options.names
    more = ["--checks", options.checks] if options.checks else []
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "found.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(HEADER)
        for wheel in WHEELS:
            if not wanted or wheel.split("==")[0] in wanted:
                for row in look(folder, wheel, more):
                    table.writerow(row)
                    file.flush()


if __name__ == "__main__":
    main()
