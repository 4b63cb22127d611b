"""How much a browser loads to show a page of the built site."""

import gzip
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup

LOADED = {"script": "src", "img": "src", "link": "href"}
RELATIONS = {"stylesheet", "icon", "preload"}
STYLE_URL = re.compile(r"""url\(["']?(?!data:)([^"')]+)""")


def page_files(page: Path) -> set[Path]:
    """The page and the files that it loads; of a font, also those that no glyph of the page needs."""
    found = {page}
    for element in BeautifulSoup(page.read_text(), "html.parser").find_all(list(LOADED)):
        address = element.get(LOADED[element.name])
        if address and (element.name != "link" or RELATIONS & set(element["rel"])):
            found.add(_file(page, address))
    for style in [path for path in found if path.suffix == ".css"]:
        found |= {_file(style, address) for address in STYLE_URL.findall(style.read_text())}
    return found


def _file(base: Path, address: str) -> Path:
    return (base.parent / unquote(urlsplit(address).path)).resolve()


def page_weight(page: Path) -> int:
    """The bytes of a page with all that it loads, each file compressed with gzip."""
    return sum(len(gzip.compress(path.read_bytes())) for path in page_files(page))
