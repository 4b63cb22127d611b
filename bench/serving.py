"""How many texts a second a SavedModel with our op answers in a program in C, by threads and batch."""

import os
import re
import subprocess
import tempfile
from functools import partial
from pathlib import Path

import prologue  # noqa: F401  before TensorFlow
from language import TEXTS, save
from measure import command_line, heading_of, in_turns, quartiles, settings, write

HERE = Path(__file__).parents[1] / "examples/serving"
WAYS = [(1, 1), (4, 1), (1, 64), (4, 64)]
ASKED = 100_000  # texts, by all threads of a way


def seconds(model: Path, threads: int, batch: int) -> tuple[float, float]:
    """The seconds of the first request, and of a text under load."""
    requests = ASKED // threads // batch
    command = [HERE / "server", model, HERE / "libserving.so", threads, requests, batch]
    done = subprocess.run(
        list(map(str, command)),
        input="\n".join(TEXTS),
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "2"},
    )
    first = re.search(r"(\S+) s for the first request", done.stderr)[1]
    load, many = re.search(r"(\S+) s for (\d+) requests", done.stderr).groups()
    return float(first), float(load) / int(many) / batch


def main() -> None:
    options = command_line(__file__, __doc__, rounds=5).parse_args()
    notes = [
        "texts_per_second: of all threads together, the median of the rounds, with q1 and q3",
        "first_milliseconds: of the first request, of one text, likewise",
        f"texts: {len(TEXTS)}, of 60 to 120 bytes, one after the other",
        f"settings: {settings()}, but sessions of one thread for each request",
    ]
    first_lines = heading_of(__file__, options, notes)
    with tempfile.TemporaryDirectory() as folder:
        save(Path(folder))
        model = Path(folder) / "language"
        timed = {way: partial(seconds, model, *way) for way in WAYS}
        found = in_turns(timed, options.rounds)
    rows = []
    for (threads, batch), times in found.items():
        middle, low, high = quartiles(1 / times[:, 1])
        rows.append(
            {
                "threads": threads,
                "batch": batch,
                "texts_per_second": f"{middle:.0f}",
                "q1": f"{low:.0f}",
                "q3": f"{high:.0f}",
                "first_milliseconds": f"{quartiles(1e3 * times[:, 0])[0]:.1f}",
            }
        )
    write(options.output, first_lines, rows)
    print(options.output.read_text(), end="")


if __name__ == "__main__":
    main()
