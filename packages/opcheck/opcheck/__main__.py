"""The command line: `python -m opcheck FILE.py:function --samples FILE.py:name`, `… fuzz FILE.py`, `… explain LOG`."""

import argparse
import os
import sys
from pathlib import Path

from opcheck import explain
from opcheck.registry import NAMES
from opcheck.run import check
from opcheck.samples import Location
from opcheck.worker import place

_HELP = f"""\
usage: python -m opcheck FILE.py:function --samples FILE.py:name [--checks A,B] [--skip A,B] [--html OUT.html]
   or: python -m opcheck LIBRARY.so [--list] [--ops A,B] [--checks A,B]
   or: python -m opcheck fuzz FILE.py [--calls 10000] [--shrink 100] [--threads 1] [--state FILE]
   or: python -m opcheck explain build.log, or something 2>&1 | python -m opcheck explain
name: a tuple of inputs, or a dict of `inputs`, attrs and options of opcheck.check, or a function that returns one;
checks: {" ".join(NAMES)}, and those of the option `extra`
"""


class _BadUse(Exception):
    """One line on what is wrong with the command."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str):
        raise _BadUse(message)

    def format_help(self) -> str:
        return _HELP


def main(arguments: list[str] | None = None) -> int:
    """Runs the command: 0 if no check failed, `fuzz` found nothing, or `explain` something, else 1."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["explain"]:
        return explain.main(arguments[1:])
    if arguments[:1] == ["fuzz"]:
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"  # thousands of calls end with an error
        from opcheck import rounds

        return rounds.main(arguments[1:])
    if arguments and arguments[0].endswith((".so", ".dylib")):
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
        from opcheck import library

        return library.main(arguments)
    try:
        return _run(parser().parse_args(arguments))
    except _BadUse as error:
        print(f"opcheck: {error}", file=sys.stderr)
        return 1


def parser() -> argparse.ArgumentParser:
    """The options, which the help has in one line."""
    parser = _Parser("opcheck")
    parser.add_argument("op")
    parser.add_argument("--samples", required=True)
    parser.add_argument("--checks")
    parser.add_argument("--skip")
    parser.add_argument("--html")
    return parser


def _run(options: argparse.Namespace) -> int:
    op = _load(options.op)
    if not callable(op):
        raise _BadUse(f"{options.op} is not a function")
    samples = _load(options.samples)
    if callable(samples):
        try:
            samples = samples()
        except Exception as error:
            raise _BadUse(f"{options.samples} raised {_shown(error)}") from None
    keywords = dict(samples) if isinstance(samples, dict) else {"inputs": samples}
    inputs = keywords.pop("inputs", None)
    if not isinstance(inputs, list | tuple):
        raise _BadUse(
            f"{options.samples} is neither a tuple of inputs nor a dict with `inputs`"
        )
    for name in ("checks", "skip"):
        if (value := getattr(options, name)) is not None:
            keywords[name] = [one.strip() for one in value.split(",")]
    try:
        report = check(op, *inputs, **keywords)
    except ValueError as error:
        raise _BadUse(str(error)) from None
    print(report)
    if options.html:
        try:
            Path(options.html).write_text(report.page(), encoding="utf-8")
        except OSError as error:
            raise _BadUse(f"cannot write {options.html}: {error.strerror}") from None
    return 0 if report.ok else 1


def _load(place: str):
    """What FILE.py:name names."""
    file, separator, name = place.rpartition(":")
    if not separator or not file or not name:
        raise _BadUse(f"{place!r} is not FILE.py:name")
    path = Path(file)
    if not path.is_file():
        raise _BadUse(f"there is no file {file}")
    try:
        return Location(path.stem, str(path.resolve()), name).load()
    except AttributeError as error:
        if error.name and error.name in name.split("."):
            raise _BadUse(f"{file} has no {name}") from None
        raise _BadUse(f"{file} cannot be imported: {_shown(error)}") from None
    except (Exception, SystemExit) as error:
        raise _BadUse(f"{file} cannot be imported: {_shown(error)}") from None


def _shown(error: BaseException) -> str:
    first, *_ = f"{type(error).__name__}: {error}".splitlines()
    where = "" if isinstance(error, SyntaxError) else place(error)
    return f"{first} ({where})" if where else first


if __name__ == "__main__":
    sys.exit(main())
