"""The verdicts of the page of all measurements, and its list of the tables, from `bench/`."""

import csv
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_uppercase

from measured import BENCH, REPOSITORY, Row, grouped, number, read, text_of
from pictures.anchors import tables_beside

TO = "\u2060–\u2060"  # the numbers stay on a line
WORTH = 1.25  # times as fast: less is not worth an op
ON_GPU = "gpu_ops"  # the table whose rows are of a GPU


@dataclass(frozen=True)
class Compared:
    """An op of the book and what a reader would use otherwise.

    Args:
      op: In Markdown.
      table: Of `bench/`.
      others: From ways of the table to Markdown. Those that the table has compiled, too, "way, XLA", are XLA.
      where: The values of columns that the rows have.
      only_if: When the op is worth it although it is not faster, or not always.
      ours: The way that is the op, unless the table's ratios are to it.
    """

    op: str
    table: str
    others: Mapping[str, str]
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    only_if: str = ""
    ours: str = ""

    def other(self, row: Row) -> str | None:
        """What a reader would use, in Markdown, if the row is of that."""
        way = row["way"]
        if way in self.others:
            return self.others[way]
        return XLA if way.removesuffix(", XLA") in self.others else None

    def rows(self) -> list[Row]:
        """Those of the best alternative in each case; their ratios say how many times faster the op is."""
        rows, best = read(self.table).rows, []
        columns = list(rows[0])
        for case in grouped(rows, *columns[: columns.index("way")]).values():
            others = [row for row in case if self.other(row) and self.has(row)]
            if not others:
                continue
            row = min(others, key=ratio)
            if self.ours:
                [own] = [row for row in case if row["way"] == self.ours]
                row = {**row, "ratio": str(ratio(row) / ratio(own))}
            best.append(row)
        if not best:
            raise ValueError(f"bench/{self.table}.csv has no row for {self.op}")
        return best

    def has(self, row: Row) -> bool:
        """Whether a row has the values that it has to."""
        return all(row[key] in values for key, values in self.where.items())


def ratio(row: Row) -> float:
    return float(row["ratio"])


XLA = "`jit_compile=True`"


def pairs(text: str) -> dict[str, str]:
    """From names to values: `a=b; c=d`."""
    return dict(part.split("=", 1) for part in text.split("; ") if part)


def compared() -> list[Compared]:
    """The ops of performance.csv."""
    found = []
    with Path(__file__).with_suffix(".csv").open() as file:
        for row in csv.DictReader(file):
            where = {key: x.split("|") for key, x in pairs(row["where"]).items()}
            names = row["op"], row["table"], pairs(row["others"])
            found.append(Compared(*names, where, row["only if"], row["ours"]))
    return found


def mean(rows: Sequence[Row]) -> float:
    """The geometric mean of the ratios."""
    return math.exp(sum(math.log(ratio(row)) for row in rows) / len(rows))


def verdict(compared: Compared) -> str:
    """Whether to write the op: yes if it is faster by `WORTH` in each case, no if it is not on average.

    Raises:
      ValueError: It is so in some cases, and nobody has said when to write it.
    """
    rows = compared.rows()
    if min(map(ratio, rows)) >= WORTH:
        return "yes"
    if compared.only_if:
        return f"only if {compared.only_if}"
    if mean(rows) >= WORTH:
        worst = min(rows, key=ratio)
        raise ValueError(f"{compared.op}: when to write it? Not for {worst}")
    return "no"


def verdicts(gpu: bool = False) -> Iterator[tuple[str, ...]]:
    """Op with its machine, whether to write it, best alternative, how many times faster the op is on 1 and 2 threads.

    What not to write comes first. On a GPU, there is one speed, and one machine.

    Raises:
      ValueError: A table was measured with oneDNN off, which is not what readers have.
    """
    order = {"no": 0, "only if": 1, "yes": 2}
    chosen = (each for each in compared() if (each.table == ON_GPU) == gpu)
    found = [(verdict(each), each, each.rows()) for each in chosen]
    letters = {table: letter for letter, _, of in kinds() for table in of}
    found.sort(key=lambda one: (order[one[0][:7]], mean(one[2])))
    for said, each, rows in found:
        if "TF_ENABLE_ONEDNN_OPTS=0" in settings(each.table):
            raise ValueError(f"bench/{each.table}.csv: measure with oneDNN on")
        threads = [[r for r in rows if r.get("threads", "2") == n] for n in "12"]
        best = Counter(map(each.other, rows)).most_common()
        yield (
            each.op if gpu else f"{each.op}\u202f<sup>{letters[each.table]}</sup>",
            f"**{said}**" if said in order else said.replace("only if", "**only if**"),
            " or ".join(name for name, _ in best),
            *(f"{speeds(some)}×" if some else "–" for some in threads[gpu:]),
        )


def speeds(rows: Sequence[Row]) -> str:
    """From the least to the greatest of the ratios, with three digits near 1, where two would hide who is faster."""
    ends = [
        f"{one:.2f}" if 0.95 < one < 1.1 else number(one)
        for one in (min(map(ratio, rows)), max(map(ratio, rows)))
    ]
    return TO.join(dict.fromkeys(ends))


def kinds() -> list[tuple[str, str, list[str]]]:
    """Of each machine of the verdicts a letter, its name, and the tables that were measured on it."""
    found: dict[str, list[str]] = {}
    for table in dict.fromkeys(each.table for each in compared()):
        if table != ON_GPU:
            of = read(table)
            kind = f"{plain(of.value('machine'))} ({hardware(of.value('processor'))})"
            found.setdefault(kind, []).append(table)
    ordered = sorted(found.items(), key=lambda kind: -len(kind[1]))
    return [(letter, *each) for letter, each in zip(ascii_uppercase, ordered)]


def machines() -> str:
    """The machines of the verdicts, with their letters. A ratio is of one machine."""
    return "; ".join(f"{letter}: {kind}" for letter, kind, _ in kinds())


def lines_of_roi_pool() -> dict[str, int]:
    """How many lines of C++ the op and its gradient are on a CPU, what CUDA adds, and a composition for XLA."""
    folder = BENCH.parent / "examples" / "roi_pool"
    headers = "check", "cpu", "geometry", "half", "shard", "sweep"
    sources = "", "_cpu", "_grad", "_simd", "_sweep"
    cpu = [f"roi_pool{each}.cc" for each in sources]
    files = {
        "cpu": [*cpu, *(f"roi_pool_{each}.h" for each in headers), "large_pages.h"],
        "gpu": ["roi_pool.cu.cc", "roi_pool_gpu.cc", "roi_pool_gpu.h"],
        "xla": ["stock_xla.py"],
    }
    texts = {name: [(folder / x).read_text() for x in of] for name, of in files.items()}
    return {f"lines_{name}": "".join(of).count("\n") for name, of in texts.items()}


def page_faults() -> tuple[list[str], list[list[str]]]:
    """What page faults cost an op with a large output, by setting."""
    rows = []
    for each in read("page_faults").rows:
        faults, times = f"{int(each['page faults']):,}", f"{float(each['ratio']):.2f}"
        rows.append([each["way"], faults, text_of(each), times])
    header = ["Setting", "Page faults of a call", "Milliseconds"]
    return [*header, "Time, oneDNN off = 1"], rows


def plain(machine: str) -> str:
    """Without marks and words that tell nothing."""
    return re.sub(r"\(R\)| Processor|, no GPU used", "", machine)


def hardware(processor: str) -> str:
    """What tells processors of one name from each other: the widest vectors, and the caches behind the first.

    hardware("avx2, avx512f, L1 32K, L2 1024K, L3 32768K")  # AVX-512, L2 1 MB, L3 32 MB
    """
    vectors = "AVX-512" if "avx512f" in processor else "AVX2"
    model = re.findall(r"family \d+ model \d+", processor)
    sizes = re.findall(r"(L[23]) (\d+)K", processor)
    caches = [f"{level} {int(size) // 1024} MB" for level, size in sizes]
    return ", ".join([*model, vectors, *caches])


def settings(name: str) -> str:
    """What `bench/<name>.csv` says of TensorFlow's settings, if they are not the defaults."""
    try:
        return read(name).value("settings")
    except KeyError:
        return ""


# What the tables hold.
TABLES = dict(tables_beside(__file__)["tables"])


def tables() -> Iterator[tuple[str, ...]]:
    """Each table: its file, what it holds, the machine and the date."""
    for path in sorted(BENCH.glob("*.csv")):
        of = read(path.stem)
        machine = plain(of.value("machine"))
        file = f"[`{path.name}`]({REPOSITORY}/bench/{path.name})"
        yield file, TABLES.get(path.stem, ""), f"{machine}, {of.value('date')}"


def softplus() -> dict[str, float]:
    """How many times LogCosh's time tf.nn.softplus takes, one op of its composition, on one thread."""
    table = read("elementwise")
    case = {"threads": "1", "way": "tf.nn.softplus"}
    types = "float32", "float64"
    return {f"softplus_{each}": table.number(task=each, **case) for each in types}


def gpu() -> str:
    """The GPU of the verdicts."""
    return read(ON_GPU).value("machine").split(", ")[2]
