"""The command line: `python -m opcheck FILE.py:function --samples FILE.py:name`, `… fuzz FILE.py`, `… explain LOG`."""

import argparse
import errno
import io
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from opcheck.registry import CHECKS
from opcheck.run import check
from opcheck.usage import BadUse, load, shown

_HELP = f"""\
usage: python -m opcheck FILE.py:function --samples FILE.py:name [--checks A,B] [--skip A,B] [--html OUT.html]
   or: python -m opcheck LIBRARY.so [--list] [--ops A,B] [--checks A,B]
   or: python -m opcheck fuzz FILE.py [--calls 10000] [--shrink 100] [--threads 1] [--state FILE]
   or: python -m opcheck explain build.log, or something 2>&1 | python -m opcheck explain
name: a tuple of inputs, or a dict of `inputs`, attrs and options of opcheck.check, or a function that returns one;
checks: {" ".join(CHECKS)}, and those of the option `extra`
"""
_NOT_WRITTEN = {errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str):
        raise BadUse(message)


def main(arguments: list[str] | None = None) -> int:
    """Runs the command: 0 if no check failed, `fuzz` found nothing, or `explain` something, else 1."""
    arguments = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # an ASCII terminal has no …
            stream.reconfigure(errors="backslashreplace")
    try:
        code = 0
        if arguments[:1] in (["-h"], ["--help"]):
            print(_HELP, end="")
        else:
            code = _run(parser().parse_args(_named(arguments)))
        if sys.stdout:
            sys.stdout.flush()
        return code
    except BadUse as error:
        print(f"opcheck: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("opcheck: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    except OSError as error:
        if error.errno not in _NOT_WRITTEN:
            raise
        if error.errno != errno.EPIPE:  # of `| head`
            print(
                f"opcheck: cannot write the output: {error.strerror}", file=sys.stderr
            )
        # What is left in the buffer would be written at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _run(options: argparse.Namespace) -> int:
    """Imports what the command needs: `explain` does without TensorFlow."""
    if options.command == "explain":
        return _explain(options)
    if options.command == "fuzz":
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"  # thousands of calls end with an error
        from opcheck import rounds as module
    elif options.command == "library":
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
        from opcheck import library as module
    else:
        return _check(options)
    return module.main(options)


def _named(arguments: list[str]) -> list[str]:
    """The arguments, with the name of the command where a file stands for it."""
    first = arguments[0] if arguments else ""
    if first in ("fuzz", "explain"):
        return arguments
    library = first.endswith((".so", ".dylib"))
    if first and first[0] != "-" and not library and ":" not in first:
        raise BadUse(
            f"{first!r} is not FILE.py:name, LIBRARY.so, fuzz or explain: --help shows the forms"
        )
    return ["library" if library else "check", *arguments]


def parser() -> argparse.ArgumentParser:
    """What each command takes."""
    parser = _Parser("python -m opcheck")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", usage=_HELP.partition("usage: ")[2])
    check.add_argument("op")
    check.add_argument("--samples", required=True)
    check.add_argument("--checks", type=_names)
    check.add_argument("--skip", type=_names)
    check.add_argument("--html", type=_output)

    library = commands.add_parser("library")
    library.add_argument("file", type=_file)
    library.add_argument("--list", action="store_true", help="only name the ops")
    library.add_argument("--ops", type=_names, help="only these: A,B")
    library.add_argument("--checks", type=_names, help="only these: A,B")
    library.add_argument("--json", type=_output, help="where to write what was found")
    library.add_argument(
        "--timeout", type=_above_0(float), default=6.0, help="seconds of a call"
    )

    fuzz = commands.add_parser("fuzz")
    fuzz.add_argument("file", type=_file)
    fuzz.add_argument("--calls", type=_above_0(int), default=10_000, help="of each op")
    fuzz.add_argument(
        "--shrink", type=_from_0, default=100, help="calls by opcheck.fuzz before"
    )
    fuzz.add_argument("--threads", type=_above_0(int), default=1)
    fuzz.add_argument(
        "--state", type=_output, help="a file that always holds the last call, pickled"
    )

    explain = commands.add_parser("explain")
    explain.add_argument(
        "log", nargs="?", default="-", help="a file, or - for what is piped in"
    )
    return parser


def _names(text: str) -> list[str]:
    return [one.strip() for one in text.split(",")]


def _file(text: str) -> Path:
    if not os.path.isfile(text):
        raise argparse.ArgumentTypeError(f"there is no file {text}")
    return Path(text)


def _output(text: str) -> Path:
    """A file that can be written, which one knows now, and not after all checks."""
    path = Path(text)
    is_new = not path.exists()
    try:
        path.open("ab").close()
    except OSError as error:
        raise argparse.ArgumentTypeError(
            f"cannot write {text}: {error.strerror}"
        ) from None
    if is_new:
        path.unlink()
    return path


def _above_0(kind: type) -> Callable[[str], float]:
    def number(text: str) -> float:
        if not (value := kind(text)) > 0:
            raise argparse.ArgumentTypeError(f"{text} is not above 0")
        return value

    number.__name__ = kind.__name__
    return number


def _from_0(text: str) -> int:
    if (value := int(text)) < 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return value


def _check(options: argparse.Namespace) -> int:
    op = load(options.op)
    if not callable(op):
        raise BadUse(f"{options.op} is not a function")
    samples = load(options.samples)
    if callable(samples):
        try:
            samples = samples()
        except Exception as error:
            raise BadUse(f"{options.samples} raised {shown(error)}") from None
    keywords = dict(samples) if isinstance(samples, dict) else {"inputs": samples}
    inputs = keywords.pop("inputs", None)
    if not isinstance(inputs, list | tuple):
        raise BadUse(
            f"{options.samples} is neither a tuple of inputs nor a dict with `inputs`"
        )
    given = {"checks": options.checks, "skip": options.skip}
    keywords |= {name: names for name, names in given.items() if names is not None}
    try:
        report = check(op, *inputs, **keywords)
    except ValueError as error:
        raise BadUse(str(error)) from None
    print(report)
    if options.html:
        options.html.write_text(report.page(), encoding="utf-8")
    return 0 if report.ok else 1


def _explain(options: argparse.Namespace) -> int:
    """0 if something of the text is known, else 1."""
    from opcheck.explain import explain, told, unknown

    log = options.log
    if log == "-" and sys.stdin.isatty():
        raise BadUse(
            "which log? Name a file, or pipe one in: make 2>&1 | python -m opcheck explain"
        )
    try:
        content = sys.stdin.buffer.read() if log == "-" else Path(log).read_bytes()
    except FileNotFoundError:
        raise BadUse(f"there is no file {log}") from None
    except OSError as error:
        raise BadUse(f"cannot read {log}: {error.strerror}") from None
    # Windows redirects to UTF-16.
    wide = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    explanation = explain(content.decode("utf-16" if wide else "utf-8", "replace"))
    if not (explanation.found or explanation.read or explanation.died):
        raise BadUse(unknown(explanation))
    print(told(explanation, sys.stdout.isatty() and "NO_COLOR" not in os.environ))
    return 0
