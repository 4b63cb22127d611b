"""For `make PYTHON=…`: exits with one line unless this environment holds the dependencies of pyproject.toml."""

import re
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

INSTALL = (
    "pip install --constraint constraints.txt --editable '.[cpu,build,docs,fuzz,test]'"
)


def main() -> None:
    pyproject = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    oldest, beyond = map(
        int,
        re.search(
            r'^requires-python = ">=3\.(\d+),<3\.(\d+)"$', pyproject, re.M
        ).groups(),
    )
    if not (3, oldest) <= sys.version_info[:2] < (3, beyond):
        sys.exit(
            f"make: {sys.executable} is Python {sys.version.split()[0]}, needs 3.{oldest} to 3.{beyond - 1}: "
            "conda env create -f environment.yml && conda activate op-by-op"
        )
    try:
        wanted = distribution("op-by-op").requires or []
    except PackageNotFoundError:
        sys.exit(
            f"make: {sys.executable} lacks the book's dependencies: {sys.executable} -m {INSTALL}"
        )
    missing = []
    for requirement in wanted:
        name, extra = (
            re.match(r"[\w.-]+", requirement)[0],
            re.search(r"extra == ['\"](\w+)['\"]", requirement),
        )
        if extra and extra[1] not in ("build", "docs", "fuzz", "test"):
            continue
        try:
            distribution(name)
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        sys.exit(
            f"make: {sys.executable} lacks {', '.join(missing)}: {sys.executable} -m {INSTALL}"
        )


if __name__ == "__main__":
    main()
