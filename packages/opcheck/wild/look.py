"""Runs opcheck on the ops of public wheels: `python packages/opcheck/wild/look.py FOLDER [NAME…] [--ops A,B]`.

Each wheel goes into an environment of its own below FOLDER, beside the TensorFlow that it was built for. Samples are
those of samples.py, or guessed. Writes
FOLDER/found.csv: a line for each op and finding, to be judged by hand, and a line for each op without one.
"""

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator
from pathlib import Path

from samples import SAMPLES

PACKAGE = Path(__file__).resolve().parents[1]
# What pip installs, and the TensorFlow that each was built for.
WHEELS = {
    "deepmd-kit==3.2.0": "2.21.0",
    "lingvo==0.14.2": "2.21.0",
    "scann==1.4.2": "2.20.0",
    "struct2tensor==0.48.1": "2.17.1",
    "tensorflow-addons==0.23.0": "2.15.1",
    "tensorflow-compression-ops==2.17.0": "2.17.1",
    "tensorflow-decision-forests==1.12.0": "2.19.1",
    "tensorflow-io==0.37.1": "2.16.2",
    "tensorflow-quantum==0.7.6": "2.18.1",
    "tensorflow-recommenders-addons==0.8.1": "2.16.2",
    "tensorflow-text==2.21.1": "2.21.0",
}
# They reach other machines, write files or wait for others.
LEFT_OUT = re.compile(
    "Kafka|Http|Big[A-Z]|Bigtable|Bigq|Pub[Ss]ub|Sql|Elastic|Mongo|Atlas|Genome|Prometheus|LLVM|Video|Write|Save"
    "|Load|Readable|Writable|Layer|Grpc|Oss|Azfs|Hdfs|Redis|Dataset|Arrow|Record|BabelSequence|GenericInput"
)
HEADER = (
    "library",
    "version",
    "TensorFlow",
    "file",
    "op",
    "check",
    "detail",
    "seen",
    "line",
    "left out",
)
CHECKS = ("empty", "bad_input")


def environment(folder: Path, wheel: str) -> tuple[Path, Path]:
    """Installs a wheel beside its TensorFlow: the Python of the environment, and where the files are."""
    where = folder / wheel.replace("==", "-")
    python = where / "bin" / "python"
    if not python.exists():
        venv.create(where, with_pip=True, symlinks=True)
        pip = [python, "-m", "pip", "install", "-q"]
        subprocess.run([*pip, "--no-deps", wheel], check=True)
        subprocess.run([*pip, f"tensorflow-cpu=={WHEELS[wheel]}"], check=True)
    return python, next(where.glob("lib/python*/site-packages"))


def look(folder: Path, wheel: str, seconds: float, ops: str) -> Iterator[tuple]:
    """Yields the lines of the table for one wheel."""
    library, version = wheel.split("==")
    python, packages = environment(folder, wheel)
    result = folder / f"{wheel}.json"
    command = [python, __file__, "--inside", packages, result, library, ops]
    try:
        subprocess.run(
            command, env=os.environ | {"PYTHONPATH": str(PACKAGE)}, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        print(f"{wheel}: not all ops within {seconds} s", file=sys.stderr)
    for one in json.loads(result.read_text()) if result.exists() else ():
        first = (library, version, WHEELS[wheel], one["file"], one["op"])
        for found in one["failures"]:
            told = (found[key] for key in ("check", "detail", "seen", "line"))
            yield (*first, *told, one["left_out"])
        if not one["failures"]:
            yield (*first, "", "", "", "", one["left_out"])


def looked_at(look_at: Callable, op, op_def, sample: tuple | None) -> dict:
    """What opcheck finds in one op, by guesses if there is no sample, or that it failed itself."""
    from opcheck.library import Found

    try:
        found = look_at(op, op_def, 10.0, sample, checks=CHECKS)
    except Exception as error:  # opcheck's own fault
        reason = f"opcheck raised {type(error).__name__}: {error}"
        found = Found(op_def.name, left_out=reason)
    return found.as_dict()


def look_inside(packages: Path, result: Path, library: str, ops: str) -> None:
    """Looks at all libraries of an environment, or at some ops of them, in the Python that has it."""
    from opcheck.library import look_at, ops_of

    everything = json.loads(result.read_text()) if result.exists() else []
    known = {(one["file"], one["op"]) for one in everything}

    def tell(**found) -> None:
        everything.append(found)
        print(found["file"], found["op"], len(found["failures"]), found["left_out"])
        result.write_text(json.dumps(everything, indent=1))

    for file in sorted(packages.rglob("*.so")):
        place = str(file.relative_to(packages))
        if place.startswith("tensorflow/") or b"OpDefBuilder" not in file.read_bytes():
            continue
        try:
            definitions = ops_of(str(file))
        except ValueError as error:
            if (place, "") not in known and "registers no op" not in str(error):
                tell(file=place, op="", failures=[], left_out=str(error)[:200])
            continue
        for name, op_def in definitions.items():
            if (place, name) in known or (ops and name not in ops.split(",")):
                continue
            if LEFT_OUT.search(name):
                reason = "reaches other machines, files or a table"
                tell(file=place, op=name, failures=[], left_out=reason)
                continue
            sample = SAMPLES.get(library, {}).get(name)
            tell(file=place, **looked_at(look_at, str(file), op_def, sample))


def main() -> None:
    """Writes the table."""
    if sys.argv[1:2] == ["--inside"]:
        look_inside(Path(sys.argv[2]), Path(sys.argv[3]), *sys.argv[4:])
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="of wheels; all by default")
    parser.add_argument("--seconds", type=float, default=3600, help="for a wheel")
    parser.add_argument("--ops", default="", help="only these: A,B")
    options = parser.parse_args()
    folder, wanted = options.folder.resolve(), options.names
    wheels = {wheel.split("==")[0]: wheel for wheel in WHEELS}
    if unknown := ", ".join(sorted({*wanted} - {*wheels})):
        parser.exit(1, f"look.py: no wheel {unknown}: there are {', '.join(wheels)}\n")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "found.csv"
    kept = list(csv.DictReader(path.open(newline=""))) if path.exists() else []
    rows = [
        list(row.values()) for row in kept if row["library"] not in (wanted or wheels)
    ]
    for name in wanted or wheels:
        rows += look(folder, wheels[name], options.seconds, options.ops)
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([HEADER, *rows])


if __name__ == "__main__":
    main()
