"""The benches: what they compare with is right, and what is in the way they say in one line."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
# The op's module before bench/roi_pool.py, which has its name.
sys.path += [
    str(ROOT / folder)
    for folder in (
        "docs",
        "docs/support",
        "examples/common",
        "examples/roi_pool",
        "bench",
    )
]

import gpu_profile  # noqa: E402
import measure  # noqa: E402
import measured  # noqa: E402
from pictures import performance, roi_pool_measured  # noqa: E402


@pytest.mark.parametrize("pooled", [1, 3, 7])
def test_windows_equal_the_op(pooled):
    import tensorflow as tf
    from roi_pool import roi_pool
    from stock_windows import roi_pool as windows

    random = np.random.default_rng(pooled)
    features = random.integers(-3, 4, [2, 23, 41, 5]).astype(np.float32)  # many ties
    corners = random.uniform(-20, 60, [40, 4])
    rois = np.concatenate([np.arange(40)[:, None] // 20, corners], 1)
    arguments = tf.constant(features), tf.constant(rois, tf.float32), pooled, pooled
    expected = roi_pool(*arguments, 0.75)
    assert (expected.argmax.numpy() == -1).any()
    for got, wanted in zip(windows(*arguments, 0.75, True), expected):
        np.testing.assert_array_equal(got, wanted, strict=True)
    got, none = windows(*arguments, 0.75, False)
    np.testing.assert_array_equal(got, expected.pooled, strict=True)
    assert none is None


def test_a_processor_is_known_by_its_model_vectors_and_caches(monkeypatch):
    known = {"cpu family": "25", "model": "17", "flags": "sse avx2 fma avx512f"}
    monkeypatch.setattr(measure, "cpuinfo", lambda: known)
    monkeypatch.setattr(measure, "caches", lambda: "L1 32K, L2 1024K, L3 32768K")
    line = measure.instructions_and_caches()
    assert line.startswith("family 25 model 17, avx2, fma, avx512f, L1 32K")
    short = "family 25 model 17, AVX-512, L2 1 MB, L3 32 MB"
    assert performance.hardware(line) == short
    monkeypatch.setattr(measure, "cpuinfo", dict)  # not Linux
    assert measure.instructions_and_caches() == "L1 32K, L2 1024K, L3 32768K"


def test_factors_are_written_as_factors_and_each_machine_with_its_processor():
    rows = [*performance.verdicts(), *performance.verdicts(gpu=True)]
    speeds = [speed for row in rows for speed in row[3:5]]
    assert {speed[-1] for speed in speeds} == {"×", "–"}
    for machine in performance.machines().split("; "):
        assert re.search(r"cores \(.*AVX.*, L2 \d+ MB, L3 \d+ MB\)$", machine)


TABLES = pytest.mark.parametrize(
    "path", sorted(ROOT.glob("bench/*.csv")), ids=lambda path: path.stem
)


# Of the pages and their pictures; the list of all tables is a text file.
CODE = "".join(
    path.read_text()
    for path in sorted(ROOT.glob("docs/**/*.*"))
    if path.suffix in (".md", ".py", ".csv")
)


@TABLES
def test_every_table_says_where_it_comes_from_and_is_on_a_page(path, monkeypatch):
    table = measured.read(path.stem)
    for name in ("command", "machine", "versions", "date"):
        assert table.value(name)
    assert re.search(rf"\b{path.stem}\b", (ROOT / "Makefile").read_text())
    assert path.stem in performance.TABLES, (
        "say in docs/pictures/performance.txt what it holds"
    )
    assert re.search(rf"""["/,]{path.stem}["'.,]""", CODE), "no page shows it"
    shown = []
    monkeypatch.setattr(measured, "display", shown.append)
    table.show()
    assert f'/blob/main/bench/{path.name}"' in shown[0].data


def test_what_is_no_bench_is_said_before_anything_runs():
    command = [
        "make",
        "-C",
        ROOT,
        f"PYTHON={sys.executable}",
        "bench",
        "BENCH=cpu nope",
    ]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode
    assert "make bench: there is no nope, only peers roi_pool" in run.stderr


def test_the_list_has_no_table_that_is_not_there():
    there = {path.stem for path in ROOT.glob("bench/*.csv")}
    assert performance.TABLES.keys() <= there


def test_an_op_that_is_sometimes_slower_needs_to_say_when_it_pays(monkeypatch):
    op = performance.Compared("X", "x", {"stock": "`tf.x`"})

    def verdict(*ratios: str) -> str:
        rows = [{"size": r, "way": "stock", "ratio": r} for r in ratios]
        table = measured.Table([], rows, "x")
        monkeypatch.setattr(performance, "read", lambda name: table)
        return performance.verdict(op)

    assert verdict("1.3", "3") == "yes"
    assert verdict("0.5", "1.2") == "no"
    with pytest.raises(ValueError, match="X: when to write it. Not for .*0.9"):
        verdict("0.9", "4")
    op = replace(op, only_if="it rains")
    assert verdict("0.9", "4") == "only if it rains"


def test_what_is_nearly_as_fast_does_not_look_faster():
    def speeds(*ratios: str) -> str:
        return performance.speeds([{"ratio": ratio} for ratio in ratios])

    assert speeds("1.053", "3.505") == f"1.05{performance.TO}3.5"
    assert speeds("0.964") == "0.96"


def test_a_variant_of_the_op_is_compared_with_the_best_alternative(monkeypatch):
    ratios = {"op": "1", "op, faster": "0.5", "stock": "1.5", "stock, XLA": "0.8"}
    rows = [{"size": "1", "way": way, "ratio": ratios[way]} for way in ratios]
    monkeypatch.setattr(performance, "read", lambda _: measured.Table([], rows, "x"))
    others = {"stock": "`tf.x`", "stock, XLA": "XLA"}
    op = performance.Compared("X", "x", others, ours="op, faster")
    assert [performance.ratio(row) for row in op.rows()] == [1.6]


@TABLES
def test_a_ratio_lies_between_its_quartiles(path):
    rows = measured.read(path.stem).rows
    for one in rows:
        if one.get("ratio"):
            assert float(one["q1"]) <= float(one["ratio"]) <= float(one["q3"]), one


@TABLES
def test_a_ratio_agrees_with_the_times(path):
    """Of the medians, one way round or the other: they come from the same rounds."""
    cases = {}
    for one in measured.read(path.stem).rows:
        if one.get("ratio") and one.get("milliseconds"):
            columns = list(one)
            case = tuple(one[name] for name in columns[: columns.index("way")])
            cases.setdefault(case, []).append(one)
    for rows in cases.values():
        bases = {one["way"]: one for one in rows if float(one["ratio"]) == 1}
        for one in rows:
            if base := bases.get(one.get("base") or next(iter(bases), None)):
                of_times = float(one["milliseconds"]) / float(base["milliseconds"])
                ratios = [of_times, 1 / of_times]
                assert any(0.5 < float(one["ratio"]) / x < 2 for x in ratios), one


def test_two_tables_tell_the_same_of_a_case():
    cases = {
        "elementwise": {"threads": "2", "task": "Snake of 10000000"},
        "prototype": {"mode": "tf.function", "size": "10000000"},
    }
    for way in "composed", "composed, XLA":
        one, other = (
            measured.read(table).number(way=way, **case)
            for table, case in cases.items()
        )
        assert 1 / 1.3 < one / other < 1.3, (way, one, other)


def test_launches_belong_to_the_case_whose_marker_is_before_them(monkeypatch):
    marker, block = gpu_profile.MARKER
    kernels = [("fill", "1"), (marker, block), ("add<float>", "2"), (marker, block)]
    found = [
        {"ID": str(i), "Kernel Name": name, "Grid Size": grid}
        | {
            "Metric Name": gpu_profile.TIME,
            "Metric Value": "1,500",
            "Metric Unit": "ns",
        }
        for i, (name, grid) in enumerate([*kernels, ("mul", "3")])
    ]
    monkeypatch.setattr(gpu_profile, "by_ncu", lambda *_: (["first", "second"], found))
    cases = gpu_profile.launches_of({gpu_profile.TIME: "microseconds"}, [])
    assert [(name, [one["grid"] for one in of]) for name, of in cases] == [
        ("first", ["2"]),
        ("second", ["3"]),
    ]
    assert cases[0][1][0]["microseconds"] == 1.5


def test_a_table_is_read_as_it_was_written(tmp_path, monkeypatch):
    monkeypatch.setattr(measured, "BENCH", tmp_path)
    path = tmp_path / "walk.csv"
    measure.write(path, ["# command: walk"], [{"what": "a mile", "measured": 20.5}])
    assert measured.read("walk").rows == [{"what": "a mile", "measured": "20.5"}]


@pytest.mark.parametrize("absent", ["Paddle", "OpenVINO"])
def test_a_table_without_a_library_is_drawn(absent, monkeypatch):
    """And so is one of a machine with a single core."""
    table = measured.read("roi_pool")
    rows = [row for row in table.rows if row["way"] != absent]
    less = replace(table, rows=[r for r in rows if r["threads"] == "1"])
    assert len(less.rows) < len(rows) < len(table.rows)
    monkeypatch.setattr(roi_pool_measured, "read", lambda name: less)
    picture = roi_pool_measured.beside_others().data
    assert f">{absent}<" not in picture and "2 threads" not in picture
