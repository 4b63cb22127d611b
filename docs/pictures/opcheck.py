"""The pictures of the chapter on opcheck, drawn from its reports, its processes and the calls that it shrinks.

`watch` keeps what they need of the runs that follow; it changes nothing of them.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from IPython.display import HTML
from pictures.figures import (
    BOLD,
    CODE,
    COLOURS,
    END,
    FITTING,
    MIDDLE,
    SMALL,
    arrow_right,
    drawing,
    text,
)

from opcheck import NAMES, Report, children, fuzzing, run

WIDTH = 380
BLUE, ORANGE = (f'fill="{colour}" fill-opacity="0.25"' for colour in COLOURS)
LOOKS = {
    "pass": BLUE,
    "note": BLUE,
    "skip": 'fill="none" stroke-dasharray="4 3"',
    "fail": ORANGE,
    "not run": 'fill="none" stroke-opacity="0.3"',
}
MARKS = {"pass": "✓", "note": "✓", "skip": "–", "fail": "✗", "not run": ""}


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
    wide, high, columns = 124, 46, 3
    parts = []
    for i, result in enumerate(report.results):
        x, y = 4 + i % columns * wide, 2 + i // columns * high
        parts += [
            f'<rect x="{x}" y="{y}" width="{wide - 6}" height="{high - 6}" rx="5" stroke="currentColor" '
            f"{LOOKS[result.verdict]}/>",
            text(x + wide / 2 - 3, y + 17, result.check, MIDDLE, CODE),
            text(
                x + wide / 2 - 3,
                y + 34,
                f"{MARKS[result.verdict]} {result.verdict}",
                MIDDLE,
                'font-weight="bold"' if result.verdict == "fail" else "",
            ),
        ]
    said = "; ".join(f"{one.check}: {one.verdict}" for one in report.results)
    height = 2 + -(-len(report.results) // columns) * high
    return HTML(drawing(parts, WIDTH, height, f"{said}.", style=FITTING, font_size=12))


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
    rows: dict[tuple[str, ...], list[Worker]] = {}
    for worker in workers:
        rows.setdefault(worker.checks, []).append(worker)
    if sorted(name for checks in rows for name in checks) != sorted(NAMES):
        raise ValueError(f"not the workers of all checks: {rows.keys()}")
    trunk, left, high = 12, 34, 44
    most = max(len(workers) for workers in rows.values())
    step = min(46, (WIDTH - left) // most)
    parts = [
        f'<rect x="4" y="2" width="206" height="24" rx="5" stroke="currentColor" {BLUE}/>',
        text(14, 19, "server: imports TensorFlow"),
    ]
    said = ["The server imports TensorFlow and forks"]
    for i, (checks, forked) in enumerate(sorted(rows.items(), key=_order)):
        y = 52 + i * high
        parts += [
            text(left, y - 5, _title(checks), CODE, SMALL),
            f'<path d="M{trunk} {y + 8}H{left}" stroke="currentColor"/>',
        ]
        for j, worker in enumerate(forked):
            x, middle = left + j * step, left + j * step + (step - 8) / 2
            parts.append(
                f'<rect x="{x}" y="{y}" width="{step - 8}" height="16" rx="3" stroke="currentColor" '
                f"{ORANGE if worker.death else BLUE}/>"
            )
            if j:
                parts.append(f'<path d="M{x - 8} {y + 8}h8" stroke="currentColor"/>')
            if worker.death:
                parts.append(
                    f'<path d="m{middle - 4} {y + 4} 8 8m0 -8l-8 8" stroke="currentColor" stroke-width="2"/>'
                )
        deaths = sum(bool(worker.death) for worker in forked)
        died = f", of which {deaths} died" if deaths else ""
        plural = "s" if len(forked) > 1 else ""
        said.append(f"{_title(checks)}: {len(forked)} worker{plural}{died}")
    last = 52 + (len(rows) - 1) * high + 8
    parts.append(f'<path d="M{trunk} 26V{last}" stroke="currentColor"/>')
    return HTML(
        drawing(
            parts,
            WIDTH + 8,
            last + 14,
            f"{'; '.join(said)}.",
            style=FITTING,
            font_size=13,
            shown_width=560,
        )
    )


def _order(row: tuple[tuple[str, ...], list[Worker]]) -> tuple[int, int]:
    return -len(row[0]), NAMES.index(row[0][0])


def shrunk(seen: Watched) -> HTML:
    """The first failing call of a fuzz run, the shapes of the ones on the way, and the smallest one."""
    steps = [(inputs[0], attrs) for inputs, attrs in seen.failing]
    (first, first_attrs), (last, last_attrs) = steps[0], steps[-1]
    if not first.size > last.size == 1:
        raise ValueError(f"{first.shape} is not shrunk to one element: {last.shape}")
    wide, high, top = 76, 22, 46
    rows = first.reshape(-1, first.shape[-1])
    parts = [
        text(4, 16, "found", BOLD),
        text(4, 34, _attrs(first_attrs), CODE),
        text(WIDTH - 4, 16, "reported", END, BOLD),
        text(WIDTH - 4, 34, _attrs(last_attrs), END, CODE),
    ]
    block = first.shape[-2] if first.ndim > 1 else 1
    for (row, column), value in np.ndenumerate(rows):
        x, y = 4 + column * wide, top + row * high + row // block * 6
        parts.append(_cell(x, y, wide, high, value, row + column == 0))
    bottom = top + len(rows) * (high + 6 / block)
    x, y = WIDTH - 4 - wide, (top + bottom) / 2 - high / 2
    start = 4 + rows.shape[1] * wide + 6
    parts += [
        arrow_right(start, x - 6, y + high / 2),
        _cell(x, y, wide, high, last.item(), True),
    ]
    shapes = list(dict.fromkeys(str(list(inputs.shape)) for inputs, _ in steps))
    way = " → ".join(shapes)
    parts.append(text(4, bottom + 20, f"shapes: {way}"))
    label = (
        f"Found: {first.size} numbers of shape {shapes[0]}, {_attrs(first_attrs)}. On the way: {way}. "
        f"Reported: the number {last.item():g}, {_attrs(last_attrs)}."
    )
    return HTML(
        drawing(
            parts,
            WIDTH,
            bottom + 28,
            label,
            style=FITTING,
            font_size=13,
            shown_width=560,
        )
    )


def _attrs(attrs: Mapping) -> str:
    return ", ".join(f"{name}={value}" for name, value in attrs.items())


def _cell(
    x: float, y: float, wide: float, high: float, value: float, marked: bool
) -> str:
    look = ORANGE if marked else 'fill="none"'
    return (
        f'<rect x="{x}" y="{y}" width="{wide}" height="{high}" stroke="currentColor" {look}/>'
        + text(x + wide / 2, y + 15, f"{value:.3g}", MIDDLE, 'font-size="11"')
    )
