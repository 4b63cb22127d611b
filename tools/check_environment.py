"""For `make PYTHON=…`: exits with one line unless this environment holds the dependencies of pyproject.toml."""

import re
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

INSTALL = "pip install --constraint constraints.txt --editable packages/opcheck --editable '.[cpu,dev]'"


def supported_pythons() -> tuple[int, int]:
    """The oldest minor version of Python 3 that the book is for, and the first one that it is not for."""
    pyproject = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    pattern = r'^requires-python = ">=3\.(\d+),<3\.(\d+)"$'
    oldest, beyond = re.search(pattern, pyproject, re.M).groups()
    return int(oldest), int(beyond)


def main() -> None:
    oldest, beyond = supported_pythons()
    if not (3, oldest) <= sys.version_info[:2] < (3, beyond):
        sys.exit(
            f"make: {sys.executable} is Python {sys.version.split()[0]}, needs 3.{oldest} to 3.{beyond - 1}: "
            "conda env create -f environment.yml && conda activate op-by-op"
        )
    try:
        from packaging.requirements import Requirement

        requires = distribution("op-by-op").requires or []
    except (ImportError, PackageNotFoundError):
        sys.exit(
            f"make: {sys.executable} lacks the book's dependencies: {sys.executable} -m {INSTALL}"
        )
    wanted, extras = [Requirement(line) for line in requires], {"", "dev"}
    for requirement in wanted:
        if requirement.name == "op-by-op":
            extras |= requirement.extras
    missing = []
    for requirement in wanted:
        marker = requirement.marker
        if marker and not any(marker.evaluate({"extra": extra}) for extra in extras):
            continue
        try:
            distribution(requirement.name)
        except PackageNotFoundError:
            missing.append(requirement.name)
    if missing:
        sys.exit(
            f"make: {sys.executable} lacks {', '.join(missing)}: {sys.executable} -m {INSTALL}"
        )


if __name__ == "__main__":
    main()
