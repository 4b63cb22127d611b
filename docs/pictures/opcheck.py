"""The pictures of the chapter on opcheck, drawn from its reports, its processes and the calls that it shrinks.

`watch` keeps what they need of the runs that follow; it changes nothing of them.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import wrong_keep_first as wrong
from hypothesis import strategies as st
from IPython.display import HTML
from keep_first import keep_first
from keep_first_reference import keep_first_reference
from pictures.drawing import (
    COLOURS,
    ORANGE,
    bold,
    code,
    line,
    picture,
    small,
    space,
    words,
)
from pictures.layout import arrow, at, box, column, grid, layers, table

from opcheck import NAMES, Report, check, children, fuzzing, run
from opcheck.strategies import calls, tensors

LOOKS = {
    "pass": ("✓", {"shade": 0.25}),
    "note": ("✓", {"shade": 0.25}),
    "skip": ("–", {"dashed": True}),
    "fail": ("✗", {"shade": 0.25, "colour": ORANGE}),
    "not run": ("", {"stroke_opacity": 0.3}),
}


@dataclass
class Worker:
    """A fork: which checks it was for, and how it died, if it did."""

    checks: tuple[str, ...]
    death: str = ""


@dataclass
class Watched:
    """What happened since `watch`: the workers, and the generated calls that failed."""

    workers: list[Worker] = field(default_factory=list)
    failing: list[tuple[list, dict]] = field(default_factory=list)


def watch() -> Watched:
    """Keeps what the pictures need of all runs from now on."""
    seen, here = Watched(), threading.local()
    inside, alone = run._Run._inside, run._Run._alone
    opened, crashed = children.Child._open, children.Child._crash
    failed = fuzzing._Campaign._fail

    def of_many(self, names, worker):
        here.checks = tuple(names)
        return inside(self, names, worker)

    def of_one(self, name):
        here.checks = (name,)
        return alone(self, name)

    def open_(self):
        opened(self)
        self.watched = Worker(getattr(here, "checks", ()))
        seen.workers.append(self.watched)

    def crash(self, *arguments, **options):
        worker, death = self.watched, crashed(self, *arguments, **options)
        worker.death = death.args[0]
        return death

    def fail(self, kind, what, inputs, attrs, *rest):
        seen.failing.append(([np.array(x) for x in inputs], dict(attrs)))
        return failed(self, kind, what, inputs, attrs, *rest)

    run._Run._inside, run._Run._alone = of_many, of_one
    children.Child._open, children.Child._crash = open_, crash
    fuzzing._Campaign._fail = fail
    return seen


def verdicts(report: Report) -> HTML:
    """A box for each check, with its verdict."""
    boxes = []
    for result in report.results:
        mark, look = LOOKS[result.verdict]
        verdict = small(
            f"{mark} {result.verdict}".strip(), bold=result.verdict == "fail"
        )
        boxes.append(
            box([code(result.check, 12), verdict], width=118, height=40, **look)
        )
    boxes += [space() for _ in range(-len(boxes) % 3)]
    rows = [boxes[i : i + 3] for i in range(0, len(boxes), 3)]
    said = "; ".join(f"{one.check}: {one.verdict}" for one in report.results)
    return picture(table(rows, 6), f"{said}.")


# Of each version after the draft, the bug that it repairs, and what is new in its code.
REPAIRS = {
    "shaped": ("the shape function promises a vector", "UnchangedShape"),
    "bounded": (
        "the kernel goes past the end of the memory",
        "kept.size() == 0",
        "std::min",
    ),
    "sloped": ("the gradient forgets `count`", 'op.get_attr("count")'),
    "local": (
        "calls share a member; `count` has neither limit nor description",
        "const auto values",
        "count: int >= 0",
        ".Doc",
    ),
    "final": ("`count=0` keeps an element", "std::copy_n", "std::fill_n"),
}


def repairs(draft: Report) -> tuple[list[str], list[tuple]]:
    """Header and rows of a table: which checks each version passes that the one before it failed.

    Args:
      draft: The report on the first version.
    """
    failed = [result.check for result in draft.failures]
    asked = [check for check in failed if check != "concurrency"]
    sample, large = (
        np.float32([[5, 4, 3], [2, 1, 6]]),
        np.arange(1, 1e6, dtype=np.float32),
    )
    random_calls = calls(tensors("float32"), count=st.integers(0, 9))
    before, rows = {*failed, "fuzz"}, []
    for name, (bug, *new) in REPAIRS.items():
        right = name in ("local", "final")  # as far as threads go
        op = keep_first if name == "final" else getattr(wrong, f"keep_first_{name}")
        reports = [
            check(op, sample, count=2, reference=keep_first_reference, checks=asked),
            check(
                op,
                large,
                count=2,
                checks=["concurrency"],
                concurrency_seconds=1 if right else 30,
            ),
        ]
        if right:
            options = {"examples": 300, "reference": keep_first_reference}
            reports.append(fuzzing.fuzz(op, random_calls, **options))
        broken = {one.check for report in reports for one in report.failures}
        if not right:
            broken.add("fuzz")
        passed = [name for name in [*failed, "fuzz"] if name in before - broken]
        before = broken
        columns = (", ".join(f"`{each}`" for each in some) for some in (new, passed))
        rows.append((f"`{op.__name__}`", bug, *columns))
    header = (
        "Version",
        "Bug that it repairs",
        "New in its code",
        "Checks that then pass",
    )
    return [*header], rows


def _title(checks: Sequence[str]) -> str:
    """Which checks a worker is for, in few words."""
    if len(checks) < 4:
        return ", ".join(checks)
    return f"{checks[0]}, {checks[1]} and {len(checks) - 2} more"


def forks(workers: Sequence[Worker]) -> HTML:
    """The tree of a run: the server, a branch for each group of checks, and on it the workers, one after the other.

    Args:
      workers: Of all checks.
    """
    branches: dict[tuple[str, ...], list[Worker]] = {}
    for worker in workers:
        branches.setdefault(worker.checks, []).append(worker)
    step = min(46, 346 // max(map(len, branches.values())))
    said = ["The server imports TensorFlow and forks"]
    shapes = [at(-30, -58, box(words("server: imports TensorFlow", 13), 0.25, pad=4))]
    for i, (checks, forked) in enumerate(sorted(branches.items(), key=_order)):
        y, deaths = 44 * i, sum(bool(worker.death) for worker in forked)
        shapes.append(at(0, y - 10, code(_title(checks), 12), "sw"))
        for j, worker in enumerate(forked):
            look = {"shade": 0.25, "colour": COLOURS[bool(worker.death)], "corner": 3}
            cross = small("✗", bold=True) if worker.death else ""
            fork = box(cross, width=step - 8, height=16, **look)
            before = step * j - (8 if j else 22)
            shapes += [line((before, y), (step * j, y)), at(step * j, y, fork, "w")]
        died = f", of which {deaths} died" if deaths else ""
        plural = "s" if len(forked) > 1 else ""
        said.append(f"{_title(checks)}: {len(forked)} worker{plural}{died}")
    shapes.append(line((-22, -34), (-22, 44 * (len(branches) - 1))))
    return picture(layers(*shapes), f"{'; '.join(said)}.", scale=1.4)


def _order(row: tuple[tuple[str, ...], list[Worker]]) -> tuple[int, int]:
    return -len(row[0]), NAMES.index(row[0][0])


def shrunk(seen: Watched, fuzz: Callable[[int], object]) -> HTML:
    """The first failing call of a fuzz run, the shapes of the ones on the way, and the smallest one.

    Args:
      seen: What `watch` has returned.
      fuzz: Runs with a seed. Which calls a seed gives is a matter of the modules that are loaded: the picture is of the
        first seed whose first failing call fits into it and is not small already.
    """
    for seed in range(100):
        seen.failing.clear()
        fuzz(seed)
        if not seen.failing:
            continue
        steps = [(inputs[0], _attrs(attrs)) for inputs, attrs in seen.failing]
        (first, first_attrs), (last, last_attrs) = steps[0], steps[-1]
        if 3 <= first.size <= 48 and first.shape[-1] < 4 and last.size == 1:
            break
    look = {"width": 76, "height": 22, "colour": ORANGE, "size": 11}
    numbers = np.vectorize("{:.3g}".format)(np.atleast_2d(first))
    blocks = numbers.reshape(-1, *numbers.shape[-2:])
    places = np.arange(blocks.size).reshape(blocks.shape)
    found = column(*(grid(*each, **look) for each in zip(blocks, places == 0)))
    reported = grid([[f"{last.item():.3g}"]], 1, **look)
    headings = [
        [bold("found"), "", bold("reported")],
        [code(first_attrs), "", code(last_attrs)],
        [found, space(60), reported],
    ]
    shapes = list(dict.fromkeys(str(list(inputs.shape)) for inputs, _ in steps))
    way = " → ".join(shapes)
    label = (
        f"Found: {first.size} numbers of shape {shapes[0]}, {first_attrs}. On the way: {way}. "
        f"Reported: the number {last.item():g}, {last_attrs}."
    )
    both = table(headings, (8, 4), ("start", "start", "end"))
    below = layers(column(both, f"shapes: {way}"), arrow(found, reported))
    return picture(below, label, scale=1.4)


def _attrs(attrs: Mapping) -> str:
    return ", ".join(f"{name}={value}" for name, value in attrs.items())
