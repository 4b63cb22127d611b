"""The table of what can go wrong in an op's life: messages, their causes and cures."""

import functools
import re
import sys
from dataclasses import dataclass
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class Entry:
    """One message, or one symptom without a text.

    Attributes:
      id: Names it, and is its anchor on the page.
      phase: When it comes, from "compile" to "test"; "silent" where nothing is printed.
      pattern: A regular expression for Python and JavaScript; empty where nothing is printed.
      message: What one sees.
      cause: Markdown.
      cure: Markdown.
      chapter: The page, or page#section, where the book explains it; empty where none does.
      reproducer: What in `mistakes/` provokes it; empty where nothing does.
      not_provoked: Why nothing provokes it.
      source: Where it was met.
      follows: The entries that are its cause, where both are found. "*" is any other.
    """

    id: str
    phase: str
    message: str
    cause: str
    cure: str
    source: str
    pattern: str = ""
    chapter: str = ""
    reproducer: str = ""
    not_provoked: str = ""
    follows: tuple[str, ...] = ()

    def __post_init__(self):
        object.__setattr__(self, "follows", tuple(self.follows))

    @functools.cached_property
    def regex(self) -> re.Pattern | None:
        """The pattern, compiled."""
        return re.compile(self.pattern) if self.pattern else None


@functools.cache
def entries() -> dict[str, Entry]:
    """The table, by id, in its order."""
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return {error["id"]: Entry(**error) for error in tomllib.loads(text)["error"]}
