"""Runs opcheck on the ops of this folder: `python measure_unseen.py OUT.jsonl [NAMES]`.

`--fuzz` generates calls in place of the checks. OUT.jsonl gets a JSON object a line: the op, the seconds, those of the
processors, in all processes, the memory of this one afterwards in MB, and what was found. What it has already is left
out.
"""

import argparse
import ctypes
import json
import os
import struct
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PATHS = [
    str(HERE),
    str(HERE.parent / "broken_ops"),
    os.environ.get("OPCHECK", str(HERE.parents[1])),
]
sys.path[:0] = PATHS
os.environ["PYTHONPATH"] = os.pathsep.join([*PATHS, os.environ.get("PYTHONPATH", "")])
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"


def clock() -> int:
    """A file that counts the nanoseconds in which this thread, and all that it starts from now on, run.

    Linux does not add up the times of children that nobody waits for.
    """
    attributes = struct.pack("2I5Q2I2Q", *(1, 72, 1, 0, 0, 0, 2), *[0] * 4)
    libc = ctypes.CDLL(None, use_errno=True)
    file = libc.syscall(
        *(ctypes.c_long(298), attributes), *map(ctypes.c_long, (0, -1, -1, 8))
    )
    if file < 0:
        raise OSError(ctypes.get_errno(), "no perf_event_open")
    return file


def checked(name: str, buggy: bool, fuzz: bool, ran: int, checks=None) -> dict:
    """The findings on an op, or on its buggy twin; `ran` is a `clock`."""
    import unseen_ops as ops

    import opcheck

    inputs, attrs = ops.SAMPLES[name]
    op = getattr(ops, f"buggy_{name}" if buggy else name)
    reference = getattr(ops, f"{name}_reference", None)
    start, before = time.monotonic(), os.read(ran, 8)
    if fuzz:
        from unseen_fuzz import STRATEGIES

        strategy = STRATEGIES[name]
        options = ops.OPTIONS.get(name, {})
        report = opcheck.fuzz(op, strategy, 300, 20, reference=reference, **options)
    else:
        options = {"checks": checks, **ops.OPTIONS.get(name, {})}
        report = opcheck.check(op, *inputs, reference=reference, **options, **attrs)
    seconds = time.monotonic() - start
    (before,), (after,) = (struct.unpack("Q", x) for x in (before, os.read(ran, 8)))
    found = [
        {
            "check": one.check,
            "verdict": one.verdict,
            "detail": one.detail,
            "expected": one.expected,
            "seen": one.seen,
            "cause": one.cause,
            "line": one.line,
        }
        for result in report.results
        for one in (result, *result.others)
        if one.verdict in ("fail", "note")
    ]
    skipped = {one.check: one.detail for one in report.results if one.verdict == "skip"}
    return {
        "op": name,
        "buggy": buggy,
        "fuzz": fuzz,
        "calls": getattr(report, "calls", None),
        "seconds": round(seconds, 1),
        "cpu": round((after - before) * 1e-9, 1),
        "memory": int(Path("/proc/self/statm").read_text().split()[1]) * 4096 >> 20,
        "found": found,
        "skipped": skipped,
    }


def main() -> None:
    ran = clock()  # before other threads start
    import unseen_ops as ops

    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--fuzz", action="store_true")
    parser.add_argument("--checks", nargs="+", help="all by default")
    parser.add_argument("--only", choices=["buggy", "right"])
    given = parser.parse_intermixed_args()
    text = given.out.read_text() if given.out.exists() else ""
    done = {
        (x["op"], x["buggy"], x["fuzz"]) for x in map(json.loads, text.splitlines())
    }
    for name in given.names or ops.SAMPLES:
        for buggy in (True, False):
            if given.only and buggy != (given.only == "buggy"):
                continue
            if (name, buggy, given.fuzz) in done:
                continue
            record = checked(name, buggy, given.fuzz, ran, given.checks)
            with given.out.open("a") as out:
                out.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
