"""How much a browser loads to show a page of the built site."""

import functools
import gzip
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup, SoupStrainer

LOADED = {"script": "src", "img": "src", "link": "href"}
RELATIONS = {"stylesheet", "icon", "preload"}
STYLE_URL = re.compile(r"""(?:url\(|@import )["']?(?!data:)([^"')]+)""")


def page_files(page: Path) -> set[Path]:
    """The page and what it loads; of its fonts, also those that no glyph of it needs."""
    found = {page}
    only = SoupStrainer(list(LOADED))  # the rest takes most of the time
    document = BeautifulSoup(page.read_text(), "html.parser", parse_only=only)
    for element in document.find_all(list(LOADED)):
        address = element.get(LOADED[element.name])
        if address and (element.name != "link" or RELATIONS & set(element["rel"])):
            found.add(_file(page, address))
    styles = [path for path in found if path.suffix == ".css"]
    for style in styles:
        named = {_file(style, url) for url in STYLE_URL.findall(style.read_text())}
        styles += [path for path in named - found if path.suffix == ".css"]
        found |= named
    return found


def _file(base: Path, address: str) -> Path:
    return (base.parent / unquote(urlsplit(address).path)).resolve()


def page_weight(files: set[Path]) -> int:
    """The bytes of these files, each compressed with gzip."""
    return sum(map(_compressed, files))


@functools.cache  # most are of all pages
def _compressed(file: Path) -> int:
    return len(gzip.compress(file.read_bytes()))
