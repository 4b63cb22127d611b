"""The dictionary of errors: what can go wrong in an op's life, why, and what helps."""

import functools
import re
import sys
from dataclasses import dataclass
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SITE = "https://op-by-op.github.io/op-by-op/"
REPORT = "https://github.com/op-by-op/op-by-op/issues/new?title=An+error+that+is+not+in+the+list"


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
      special: Whether it is a special case of another entry, and is told in place of it.
      ours: Whether it is only told of a text in which there is something of TensorFlow's.
      beside: What a text without white space must hold besides, as a pattern; empty if nothing.
      unless: A text in which this pattern finds something, without white space, is not told of it.
      alone: Whether it is only told where no other entry is found: of a text that says little.
      cut: Whether it says that the error is not in this text, and is not told where another line looks like one.
      staged: Whether the reproducer only imitates what happens to a reader.
      harmless: Whether it is no error, and of no use where there is one that is not known.
      anyones: Whether it means the same in a text of another library, in which nothing else is looked for.
      names: Whether it is only found with a name of TensorFlow's, of which headers.toml tells the header.
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
    harmless: bool = False
    names: bool = False
    ours: bool = False
    beside: str = ""
    unless: str = ""
    alone: bool = False
    special: bool = False
    cut: bool = False
    staged: bool = False
    anyones: bool = False

    @functools.cached_property
    def regex(self) -> re.Pattern | None:
        """The pattern, compiled."""
        return re.compile(self.pattern) if self.pattern else None

    @property
    def address(self) -> str:
        """Where it is on the site."""
        return f"{SITE}errors/{self.id}.html"


@functools.cache
def entries() -> dict[str, Entry]:
    """The dictionary, by id, in its order."""
    return {error["id"]: Entry(**error) for error in table("errors")["error"]}


@functools.cache
def table(name: str) -> dict:
    """What a TOML file of this folder holds."""
    path = Path(__file__).with_name(f"{name}.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))
