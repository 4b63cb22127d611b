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
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processor() -> str:
    """The name of the processor, where Linux tells it."""
    info = Path("/proc/cpuinfo")
    names = [
        line.partition(":")[2].strip()
        for line in (info.read_text().splitlines() if info.exists() else [])
        if line.startswith("model name")
    ]
    return names[0] if names else platform.processor() or platform.machine()


def instructions_and_caches() -> str:
    """What decides how fast a processor can be, where Linux tells it: its vector instructions and its caches."""
    info = Path("/proc/cpuinfo")
    flags = set(info.read_text().split()) if info.exists() else set()
    vectors = ["avx2", "fma", "avx512f", "avx512_vnni", "amx_tile"]
    return ", ".join([*(word for word in vectors if word in flags), caches()])


def caches() -> str:
    """The sizes of this processor's caches, where Linux tells them."""
    return ", ".join(
        f"L{(each / 'level').read_text().strip()} {(each / 'size').read_text().strip()}"
        for each in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"))
        if (each / "type").read_text().strip() != "Instruction"
    )


def gpu_and_driver() -> str | None:
    """The name of this machine's GPU and the version of its driver, as nvidia-smi tells. None where there is none."""
    if not shutil.which("nvidia-smi"):
        return None
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    run = subprocess.run(query, capture_output=True, text=True)
    if run.returncode or not run.stdout.strip():
        return None
    return run.stdout.splitlines()[0].replace(", ", ", driver ")


def scheduling() -> list[str]:
    """What to say of how this process is scheduled, if that is not the usual way."""
    if not hasattr(os, "sched_getscheduler"):
        return []
    if os.sched_getscheduler(0) not in (os.SCHED_FIFO, os.SCHED_RR):
        return []
    return ["scheduling: real time, so others wait while the bench has work to do"]


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


def traced(way: Callable, *inputs: object) -> Callable:
    """A way in a `tf.function`, as a function of no arguments that returns a list, for `turns`."""
    import tensorflow as tf

    function = tf.function(lambda *x: tf.nest.flatten(way(*x)), autograph=False)
    return partial(function.get_concrete_function(*inputs), *inputs)


def compiled_by_xla(way: Callable) -> Callable:
    """A way in a `tf.function` that XLA compiles."""
    import tensorflow as tf

    return tf.function(way, autograph=False, jit_compile=True)


def trained(way: Callable) -> Callable:
    """A way and its gradient with respect to the first input: of the inputs and, if known, of what flows back."""
    import tensorflow as tf

    def both(x: tf.Tensor, *more: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = way(x)
        return y, tape.gradient(y, x, *more)

    return both


def differentiated(way: Callable) -> Callable:
    """What a training step does with a function of one tensor: its result's gradient."""
    import tensorflow as tf

    def step(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = way(x)
        return tape.gradient(y, x)

    return step


def turns(
    case: Mapping[str, object],
    runs: Mapping[str, Callable],
    rounds: int,
    span: float,
    base: str | None = None,
) -> list[dict]:
    """Lets functions take turns, so that what else the machine does meets all of them.

    Args:
      case: The first columns of their rows.
      runs: From names to functions of no arguments, which have their results when they return, as on a CPU. What they
        return isn't read: `.numpy()` would copy it, which for large outputs takes longer than many ops.
      rounds: How often each has its turn.
      span: How many seconds about a turn takes: a function is called so often.
      base: The name of the one to whose time of the same round the ratios are: the first, unless it is given.

    Returns:
      For each a row: the case, its name as "way", the median of its milliseconds per call, and the ratio with its
      quartiles.
    """

    def seconds(run: Callable, calls: int) -> float:
        start = time.perf_counter()
        for _ in range(calls):
            run()
        return (time.perf_counter() - start) / calls

    timed = {
        name: partial(seconds, run, max(1, round(span / seconds(run, 3))))
        for name, run in runs.items()
    }
    return timed_turns(case, timed, rounds, base)


def mean_and_cores(call: Callable, span: float) -> tuple[float, float]:
    """The mean time of a call, of as many as take about so many seconds and of one at least; how many cores worked."""
    count, start, busy = 0, time.perf_counter(), time.process_time()
    while not count or time.perf_counter() - start < span:
        call()
        count += 1
    taken = time.perf_counter() - start
    return taken / count, (time.process_time() - busy) / taken


def timed_turns(
    case: Mapping[str, object],
    timed: Mapping[str, Callable[[], float]],
    rounds: int,
    base: str | None = None,
) -> list[dict]:
    """As `turns`, for functions that take a turn and return how many seconds one of its calls took."""
    names, rows = list(timed), []
    times = np.empty((rounds, len(names)))
    for i in range(rounds):
        # In another order each round, for the caches hold what the one before has left there.
        for way in np.random.default_rng(i).permutation(len(names)):
            times[i, way] = timed[names[way]]()
    ratios = times / times[:, [names.index(base) if base else 0]]
    for way, name in enumerate(names):
        spread = (f"{value:.3f}" for value in quartiles(ratios[:, way]))
        milliseconds = f"{np.median(times[:, way]) * 1e3:.4f}"
        fields = zip(["milliseconds", "ratio", "q1", "q3"], [milliseconds, *spread])
        rows.append({**case, "way": name, **dict(fields)})
    return rows


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


def run_turns(
    bench: str,
    doc: str,
    notes: Iterable[str],
    rows: Callable[..., Sequence[Mapping]],
    rounds: int = 41,
    threads: bool = False,
    cases: Iterable[Sequence] = ((),),
) -> None:
    """The command line of a bench whose ways take turns: measures, writes the table beside the bench, and prints it.

    The time of a way is the median of the rounds. Ratios are taken within a round; the table has their quartiles, too.

    Args:
      bench: The file of the bench.
      doc: Its docstring.
      notes: Lines above the table, on how it was measured.
      rows: Measures in a number of rounds, each way for about so many seconds in each; of `by_threads` if `threads`.
      rounds: How many, unless the command line says otherwise.
      threads: Whether the command line may say with how many threads: one and one for each core otherwise.
      cases: What else `rows` is called with, before the rounds, in one call after the other.
    """
    notes = list(notes)
    if not any(note.startswith("setting") for note in notes):
        notes.append(f"settings: {settings()}")
    parser = command_line(bench, doc, rounds)
    if threads:
        add_threads(parser)
    options = parser.parse_args()
    first_lines = heading_of(bench, options, notes)
    arguments = [options.rounds, options.span]
    arguments += [options.threads] if threads else []
    found = [row for case in cases for row in rows(*case, *arguments)]
    write(options.output, first_lines, found)
    print(options.output.read_text(), end="")


def add_threads(parser: argparse.ArgumentParser) -> None:
    """Adds `--threads`, numbers of them: by default one, and one for each core."""
    parser.add_argument("--threads", type=int, nargs="+", default=sorted({1, cores()}))


def kept(
    path: Path,
    first_lines: Sequence[str],
    again: Callable[[Mapping[str, str]], bool],
) -> list[dict[str, str]]:
    """The rows of a table that are not measured again, and will stand below these first lines.

    Raises:
      SystemExit: There are some, of another command, machine, versions or day.
    """
    heads, rows = read(path)
    rows = [row for row in rows if not again(row)]
    for line in first_lines:
        what = line.partition(": ")[0].removeprefix("# ")
        if what in ("command", "machine", "versions", "date") and line not in heads:
            if rows:
                sys.exit(
                    f"make bench: {path.name} has other rows, of another {what}: measure them again, too"
                )
    return rows


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
