"""The named sections of an example's source, which pages show.

`// [kernel] Words.` opens a section. It goes up to the next comment that stands as far left, or up to the end of the
block or namespace around it. Where a section follows another directly, this is the block around the first of them.
`// []` ends a section in the middle of a block.
"""

import re
from pathlib import Path

_MARK = re.compile(r" *// \[(\w*)\]( |$)")
_NAMESPACE = re.compile(r"((inline )?namespace\b.*\{|}  // namespace)")
_RAW_STRING = re.compile(r'R"(\w*)\(.*?\)\1"', re.S)


def sections(path: Path) -> dict[str, tuple[int, int]]:
    """Names the sections of a file, which is formatted in Google's style.

    Returns:
      From the name to the first and the last line, counted from 1, without blank lines at the end.

    Raises:
      ValueError: Two sections have the same name.
    """
    # Raw strings stand farther right than any mark.
    text = _RAW_STRING.sub(
        lambda raw: raw[0].count("\n") * "\n" + 99 * " ", path.read_text()
    )
    lines = text.splitlines()
    found: dict[str, tuple[int, int]] = {}
    end = block = -1  # of the section above
    for first, mark in enumerate(map(_MARK.match, lines)):
        if not mark or not (name := mark[1]):
            continue
        if name in found:
            raise ValueError(f"{path}: two sections are named {name}")
        depth = _depth(lines[first])
        block = min(block, depth) if end == first else depth
        end = last = _end(lines, first, depth, block)
        while not lines[last - 1]:
            last -= 1
        found[name] = (first + 1, last)
    return found


def without_names(code: str) -> str:
    """The code, or a difference of two, as a page shows it: `// [kernel] Words.` becomes `// Words.`"""
    code = re.sub(r"^([-+ ]? *// )\[\w+\] ", r"\1", code, flags=re.M)
    return re.sub(r"^[-+ ]? *// \[\w*\]\n", "", code, flags=re.M)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _end(lines: list[str], first: int, depth: int, block: int) -> int:
    """The line behind the section whose mark stands at `depth`, in a block that stands at `block`."""
    in_code, conditions = False, 0
    for number, line in enumerate(lines[first + 1 :], first + 1):
        comment = line.lstrip().startswith("//")
        if not line or (comment and not in_code and not _MARK.match(line)):
            continue
        in_code = True
        if line.startswith("#"):
            conditions += line.startswith("#if") - line.startswith("#endif")
            if conditions < 0:  # of the whole header
                return number
        elif (
            _MARK.match(line)
            or (comment and _depth(line) <= depth)
            or _depth(line) < block
            or _NAMESPACE.match(line)
        ):
            return number
    return len(lines)
