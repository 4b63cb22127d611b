"""What the benches share: what stands above their tables, and the medians of rounds."""

import argparse
import csv
import datetime
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cpuinfo() -> dict[str, str]:
    """What Linux tells of the first processor."""
    info = Path("/proc/cpuinfo")
    first = info.read_text().partition("\n\n")[0] if info.exists() else ""
    lines = (line.partition(":") for line in first.splitlines())
    return {name.strip(): value.strip() for name, _, value in lines}


def processor() -> str:
    """The name of the processor, where Linux tells it."""
    return cpuinfo().get("model name") or platform.processor() or platform.machine()


def instructions_and_caches() -> str:
    """What decides how fast a processor can be, where Linux tells it.

    That is its model, as a number, since a virtual machine may not tell the name; its vector instructions; its caches.
    """
    info = cpuinfo()
    number = []
    if "cpu family" in info:
        number = [f"family {info['cpu family']} model {info['model']}"]
    flags = info.get("flags", "").split()
    vectors = ["avx2", "fma", "avx512f", "avx512_vnni", "amx_tile"]
    return ", ".join([*number, *(word for word in vectors if word in flags), caches()])


def caches() -> str:
    """The sizes of this processor's caches, where Linux tells them."""
    return ", ".join(
        f"L{(each / 'level').read_text().strip()} {(each / 'size').read_text().strip()}"
        for each in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"))
        if (each / "type").read_text().strip() != "Instruction"
    )


def gpu_and_driver(target: str = "bench-gpu", program: str = "nvidia-smi") -> str:
    """The name of this machine's GPU and the version of its driver, as nvidia-smi tells.

    Raises:
      SystemExit: There is none, or not a program of CUDA that the target of the Makefile needs.
    """
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    run = shutil.which(query[0]) and subprocess.run(
        query, capture_output=True, text=True
    )
    if not run or run.returncode or not run.stdout.strip():
        sys.exit(f"make {target}: no GPU: nvidia-smi finds none")
    if not shutil.which(program):
        sys.exit(f"make {target}: there is no {program}: add CUDA's bin to the PATH")
    return run.stdout.splitlines()[0].replace(", ", ", driver ")


def scheduling() -> list[str]:
    """What to say of how this process is scheduled, if that is not the usual way."""
    if not hasattr(os, "sched_getscheduler"):
        return []
    if os.sched_getscheduler(0) not in (os.SCHED_FIFO, os.SCHED_RR):
        return []
    return ["scheduling: real time; other processes wait while this one runs"]


def settings() -> str:
    """TensorFlow's settings in this process, for the first lines of a table."""
    names = ("TF_ENABLE_ONEDNN_OPTS", "TF_CPU_ALLOCATOR_USE_BFC")
    found = [f"{name}={os.environ[name]}" for name in names if name in os.environ]
    return " ".join(found) or "TensorFlow's defaults"


def heading(
    command: str,
    packages: Sequence[str],
    notes: Iterable[str] = (),
    gpu: str = "no GPU used",
) -> list[str]:
    """The first lines of a table: command, machine, load, versions, date and notes.

    Args:
      command: What makes the table again.
      packages: Names of distributions; those that are not installed are left out.
      notes: Further lines, on how it was measured.
      gpu: The name of the GPU that was measured.
    """
    installed = []
    for package in packages:
        try:
            installed.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    lines = [
        f"command: {command}",
        f"machine: {processor()}, {cores()} cores, {gpu}",
        f"processor: {instructions_and_caches()}",
        f"load at the start: {os.getloadavg()[0]:.1f} processes ready to run, others' included",
        *scheduling(),
        f"versions: {', '.join([*installed, f'Python {platform.python_version()}'])}",
        f"date: {datetime.date.today()}",
        *notes,
    ]
    return [f"# {line}" for line in lines]


def quartiles(values: ArrayLike) -> list[float]:
    """The median of the values and the quartiles about it."""
    return [float(np.quantile(values, q)) for q in (0.5, 0.25, 0.75)]


def mean_time(call: Callable, span: float) -> float:
    """The mean seconds of a call, of as many as take about so long and of one at least.

    One more before is not counted: memory that lay idle may have to come back.
    """
    call()
    count, start = 0, time.perf_counter()
    while not count or time.perf_counter() - start < span:
        call()
        count += 1
    return (time.perf_counter() - start) / count


def in_turns(
    timed: Mapping[Hashable, Callable[[], ArrayLike]], rounds: int
) -> dict[Hashable, np.ndarray]:
    """Lets ways take turns, so that what else the machine does meets all of them: what each returns in each round."""
    names, found = list(timed), {name: [] for name in timed}
    for i in range(rounds):
        # In another order each round, for the caches hold what the one before has left there.
        for way in np.random.default_rng(i).permutation(len(names)):
            found[names[way]].append(timed[names[way]]())
    return {name: np.array(times) for name, times in found.items()}


def ratios(times: np.ndarray, base: np.ndarray) -> dict[str, str]:
    """The columns of the ratio of times to others of the same rounds: the median and the quartiles about it."""
    values = (f"{value:.3f}" for value in quartiles(times / base))
    return dict(zip(["ratio", "q1", "q3"], values))


def row(
    case: Mapping[str, object], way: str, times: np.ndarray, base: np.ndarray
) -> dict:
    """A row of a table, of the seconds of a call in each round, and the seconds to which the ratio is."""
    milliseconds = f"{np.median(times) * 1e3:.4f}"
    return {**case, "way": way, "milliseconds": milliseconds, **ratios(times, base)}


def timed_turns(
    case: Mapping[str, object], timed: Mapping[str, Callable[[], float]], rounds: int
) -> list[dict]:
    """Rows of ways that take turns, with ratios to the first.

    Args:
      case: The first columns of the rows.
      timed: From names to functions that take a turn and return how many seconds one of its calls took.
      rounds: How often each has its turn.
    """
    times = in_turns(timed, rounds)
    base = next(iter(times.values()))
    return [row(case, way, of_way, base) for way, of_way in times.items()]


def command_line(
    bench: str, doc: str, rounds: int, span: float = 0.05
) -> argparse.ArgumentParser:
    """What a bench's command takes: how many rounds, for how long each way runs in one, and the file of the table.

    Args:
      bench: The file of the bench, beside which its table is.
      doc: Its docstring.
      rounds: How many, unless the command line says otherwise.
      span: How many seconds, likewise.
    """
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--span", type=float, default=span, help="seconds of each run")
    parser.add_argument("--output", type=Path, default=Path(bench).with_suffix(".csv"))
    return parser


def heading_of(
    bench: str,
    options: argparse.Namespace,
    notes: Iterable[str] = (),
    packages: Sequence[str] = ("tensorflow-cpu", "tensorflow", "numpy"),
    gpu: str = "no GPU used",
) -> list[str]:
    """The first lines of the table of a bench with the options of `command_line`."""
    command = f"python bench/{Path(bench).name} --rounds {options.rounds} --span {options.span:g}"
    return heading(command, packages, notes, gpu)


def read(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """The first lines of a table and its rows; nothing, if there is none."""
    lines = path.read_text().splitlines() if path.exists() else []
    heads = [line for line in lines if line.startswith("#")]
    return heads, list(csv.DictReader(lines[len(heads) :]))


def write(path: Path, first_lines: Sequence[str], rows: Sequence[Mapping]) -> None:
    """Writes a table under its first lines. A run that is broken off leaves the old one."""
    new = path.with_suffix(".new")
    with new.open("w") as file:
        print(*first_lines, sep="\n", file=file)
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    new.replace(path)
