"""The named sections of an example's source: `// [kernel] …` opens one, the next such line ends it.

`// [] …` only ends one: what follows is on no page.
"""

import re
from pathlib import Path

_OPENING = re.compile(r"\s*// \[(\w*)\] ")
_NAMESPACE = re.compile(r"(\w+ )?namespace .*\{$|}  // namespace|$")


def sections(path: Path) -> dict[str, tuple[int, int]]:
    """Names the sections of a file.

    Returns:
      From the name to the first and the last line, counted from 1, without the blank lines and the
      lines that open or close a namespace at the end. The last section ends where its namespace does.

    Raises:
      ValueError: Two sections have the same name.
    """
    lines = path.read_text().splitlines()
    openings = [
        (number, match[1])
        for number, line in enumerate(lines, 1)
        if (match := _OPENING.match(line))
    ]
    last_opening = openings[-1][0] if openings else 0
    end = next(
        (
            number
            for number, line in enumerate(lines, 1)
            if number > last_opening and line.startswith("}  // namespace")
        ),
        len(lines) + 1,
    )
    found: dict[str, tuple[int, int]] = {}
    for (first, name), following in zip(
        openings, [number for number, _ in openings[1:]] + [end]
    ):
        if not name:
            continue
        if name in found:
            raise ValueError(f"{path}: two sections are named {name}")
        last = following - 1
        while _NAMESPACE.match(lines[last - 1]):
            last -= 1
        found[name] = (first, last)
    return found
