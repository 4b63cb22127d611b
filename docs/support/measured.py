"""The tables of bench/ for the pages: read and drawn in the colours of the page."""

import csv
import html
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from IPython.display import HTML, display

Row = Mapping[str, str]
BENCH = Path(__file__).parents[2] / "bench"
REPOSITORY = "https://github.com/op-by-op/op-by-op/blob/main"


@dataclass(frozen=True)
class Table:
    """A table of bench/: its first lines, on command, machine, versions and date, and its rows."""

    first_lines: list[str]
    rows: list[dict[str, str]]
    name: str

    def show(self, leave_out: tuple[str, ...] = ()) -> None:
        """Shows machine and date; who opens them finds most other first lines, and the way to the table.

        Args:
          leave_out: How lines begin that have nothing to do with the page.
        """
        shown = "machine: ", "date: ", "load at the start: ", *leave_out
        lines = [line for line in self.first_lines if not line.startswith(shown)]
        lines = "\n".join(map(html.escape, lines))
        path = f"bench/{self.name}.csv"
        summary = html.escape(
            f"Measured on {self.value('date')}, {self.value('machine')}"
        )
        display(
            HTML(
                f'<details class="measured"><summary>{summary}</summary>'
                f'<pre style="white-space: pre-wrap">{lines}</pre>'
                f'<p>The table is <a href="{REPOSITORY}/{path}"><code>{path}</code></a>.</p></details>'
            )
        )

    def where(self, **fields: str) -> list[dict[str, str]]:
        """The rows that have these values."""
        return [
            row
            for row in self.rows
            if all(row[key] == value for key, value in fields.items())
        ]

    def number(self, column: str = "ratio", **fields: str) -> float:
        """What the one row that has these values has in a column."""
        [row] = self.where(**fields)
        return float(row[column])

    def text(self, column: str = "milliseconds", **fields: str) -> str:
        """The same as text of two digits."""
        return number(self.number(column, **fields))

    def value(self, name: str) -> str:
        """What a first line says: `value("command")`.

        Raises:
          KeyError: There is no such line.
        """
        for line in self.first_lines:
            key, _, value = line.partition(": ")
            if key == name:
                return value
        raise KeyError(name)


def read(name: str) -> Table:
    """Reads `bench/<name>.csv`.

    Raises:
      FileNotFoundError: That has not been measured.
    """
    lines = (BENCH / f"{name}.csv").read_text().splitlines()
    first_lines = [line[2:] for line in lines if line.startswith("# ")]
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return Table(first_lines, list(rows), name)


def number(value: float) -> str:
    """Two digits: 0.12, 1.2, 12, 120."""
    if value <= 0:
        return "0"
    rounded = float(f"{value:.2g}")
    return f"{rounded:.{max(0, 1 - math.floor(math.log10(rounded)))}f}"


def text_of(row: Row, column: str = "milliseconds") -> str:
    """What a row has in a column, as text of two digits."""
    return number(float(row[column]))


def grouped(rows: Iterable[Row], *columns: str) -> dict[tuple[str, ...], list[Row]]:
    """The rows by what they have in some columns, in the order of their first."""
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[each] for each in columns), []).append(row)
    return found


def span(rows: Sequence[Row], to: str = " to ") -> str:
    """From the least to the greatest of the ratios of some rows."""
    ratios = [float(row["ratio"]) for row in rows]
    least, most = number(min(ratios)), number(max(ratios))
    return least if least == most else f"{least}{to}{most}"
