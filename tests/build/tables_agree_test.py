"""Two tables of bench/, or two parts of one, that measure the same thing agree: their times are 30 % apart at most."""

import shutil
import sys
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT / folder) for folder in ("docs", "docs/support")]

import measured  # noqa: E402

APART = 1.3
# A case, such as an op with its workload, threads and settings; where it is measured; and how long it takes.
Measured = tuple[tuple, str, float]


def roi_pool() -> Iterator[Measured]:
    """RoiPool with argmax, by the memory that it gets. On workload c it packs, in AVX-512 where there is that."""
    memory = {"RoiPool": "on", "RoiPool, oneDNN off": "off"}
    memory["RoiPool, kept memory"] = "kept"
    table = measured.read("roi_pool")
    packed = table.where(task="variants", way="packed, avx512", workload="c")
    if not any("avx512f" in line for line in table.first_lines):
        packed = []
    for row in [*table.where(task="with argmax"), *packed]:
        if row["way"] in memory or row in packed:
            kind = memory.get(row["way"], "kept")
            case = "RoiPool", row["workload"], row["threads"], kind
            if row["milliseconds"]:
                yield case, place("roi_pool", row), float(row["milliseconds"])


def roi_pool_choices() -> Iterator[Measured]:
    """What RoiPool chooses: huge pages on workload b, and the sweep over a copy on c."""
    memory = {"default": "on", "kept": "kept"}
    table = measured.read("roi_pool_choices")
    for row in [
        *table.where(question="pages", way="large", case="b", memory="default"),
        *table.where(question="copy", way="sweep, copied", case="c"),
    ]:
        case = "RoiPool", row["case"], row["threads"], memory[row["memory"]]
        yield case, place("roi_pool_choices", row), float(row["milliseconds"])


def cpu() -> Iterator[Measured]:
    """The steps of the kernel, which several questions compare with others."""
    for row in measured.read("cpu").rows:
        way = row["way"].removesuffix(" -O3").removesuffix(", 0 bytes")
        sizes = row["threads"], row["points"], row["centers"], row["size"]
        yield (way, *sizes), place("cpu", row), float(row["milliseconds"])


def mat_mul() -> Iterator[Measured]:
    """The peak, which is measured beside each size."""
    for row in measured.read("mat_mul").where(way="peak"):
        yield ("peak", row["threads"]), place("mat_mul", row), float(row["gflops"])


def place(table: str, row: measured.Row) -> str:
    columns = list(row)
    case = ", ".join(row[key] for key in columns[: columns.index("way") + 1])
    return f"bench/{table}.csv: {case}"


def processor(table: str) -> str:
    return measured.read(table).value("machine").split(",")[0]


def shared() -> dict[tuple, list[tuple[str, float]]]:
    """Cases that are measured in more than one place, on the same kind of processor."""
    found = defaultdict(list)
    for source in roi_pool, roi_pool_choices, cpu, mat_mul:
        for case, where, value in source():
            found[(processor(source.__name__), *case)].append((where, value))
    return {case: places for case, places in found.items() if len(places) > 1}


def contradictions() -> list[str]:
    return [
        f"{one}: {first:g}, but {other}: {second:g}"
        for places in shared().values()
        for (one, first), (other, second) in combinations(places, 2)
        if not 1 / APART <= first / second <= APART
    ]


def test_what_two_places_measure_is_the_same():
    found = [each for each in contradictions() if "roi_pool" not in each]
    assert not found, "\n".join(["measure again:", *found])


def test_what_two_tables_of_roi_pool_measure_is_the_same():
    found = [each for each in contradictions() if "roi_pool" in each]
    assert not found, "\n".join(["measure again:", *found])


@pytest.mark.parametrize(
    ("table", "column", "case", "other"),
    [
        ("cpu", "milliseconds", "ladder, {}", "sets, {}"),
        ("mat_mul", "gflops", "32, 1, peak", "1024, 1, peak"),
    ],
)
def test_a_table_that_contradicts_another_is_found(
    table, column, case, other, tmp_path, monkeypatch
):
    """A mutant of a table, in which one value of those that are measured twice is twice as large."""
    case, other = (
        each.format("1, 1000, 4096, 512, PanelsClones") for each in (case, other)
    )
    for path in measured.BENCH.glob("*.csv"):
        shutil.copy(path, tmp_path)
    mutate(tmp_path / f"{table}.csv", case, column)
    before = set(contradictions())
    monkeypatch.setattr(measured, "BENCH", tmp_path)
    new = set(contradictions()) - before
    assert new and all(f"bench/{table}.csv: {case}: " in one for one in new)
    assert any(f"bench/{table}.csv: {other}: " in one for one in new)


def mutate(path: Path, case: str, column: str) -> None:
    """Doubles one value of a table."""
    table = measured.read(path.stem)
    lines = [f"# {line}" for line in table.first_lines]
    lines.append(",".join(table.rows[0]))
    for row in table.rows:
        if place(path.stem, row).endswith(f".csv: {case}"):
            row[column] = str(2 * float(row[column]))
        lines.append(",".join(f'"{cell}"' for cell in row.values()))
    path.write_text("\n".join(lines))
