"""Commands, options, paths, links, versions and words of drawings: what a text names must be there."""

import ast
import functools
import itertools
import math
import os
import re
import sysconfig
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import pytest
from book import DOCS, EXAMPLES, ROOT, examples, parts
from markdown_it import MarkdownIt
from markdown_it.token import Token

PAGES = sorted(DOCS.glob("*.md"))
TEXTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES]
REPOSITORY = "https://github.com/op-by-op/op-by-op"
FOLDERS = ("bench", "cmake", "docs", "examples", "opcheck", "tests", "tools")
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.S)
PLACEHOLDER = re.compile(r"\bx(?:_\w+)?\b|\bNAME\b|[<>*…{}$]")
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_0-9]{2,}")
CODE_LIKE = re.compile(r"_|[a-z][A-Z]|^lib.+")
WORD = re.compile(r"[a-z0-9]{3,}")
STOP_WORDS = {
    "and",
    "the",
    "them",
    "its",
    "you",
    "one",
    "page",
    "chapter",
    "op",
    "first",
}

# What leads to a section with a heading that all chapters have.
SAID_BY = {
    "Declare it": "interface input output attr",
    "Compute it": "kernel loop pools",
    "What it computes": "formula",
    "Build it": "compile library",
    "Call it": "Python",
    "Differentiate it": "gradient derivative",
    "Measure it": "measured measurements times figures gain cost faster difference processor",
    "Test it": "checks file",
    "When it goes wrong": "error fails refused not happens otherwise",
    "Try it": "exercise rounding",
}
FILES = {".py": "", ".cc": "", ".c": "", ".h": "header", ".txt": "cmake", ".cmake": ""}

texts = pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.stem)
commands = pytest.mark.parametrize(
    "text", [ROOT / "Makefile", *TEXTS], ids=lambda path: path.stem
)
pages = pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)


@functools.cache
def tokens(path: Path) -> list[Token]:
    """The Markdown of a file, with front matter and the colons of MyST's directives taken away."""
    text = FRONT_MATTER.sub(lambda match: "\n" * match[0].count("\n"), path.read_text())
    text = re.sub(r"^:{3,}.*$", "", text, flags=re.M)
    return MarkdownIt().enable("table").parse(text)


def inline(path: Path) -> Iterator[Token]:
    for token in tokens(path):
        yield from token.children or []


@functools.cache
def code(path: Path) -> str:
    """What a file shows as code, cells included, a piece per line; of the Makefile, all."""
    if path.name == "Makefile":
        return re.sub(r'^#\s+|"', "\n", path.read_text(), flags=re.M)
    pieces = [token.content for token in inline(path) if token.type == "code_inline"]
    pieces += [token.content for token in tokens(path) if token.type == "fence"]
    return "\n".join(pieces)


@functools.cache
def links(path: Path) -> list[tuple[str, str]]:
    """The text and the address of each link."""
    found, text, address = [], "", None
    for token in inline(path):
        if token.type == "link_open":
            text, address = "", unquote(token.attrs["href"])
        elif token.type == "link_close":
            found.append((text, address))
            address = None
        elif address is not None:
            text += token.content
    return found


@functools.cache
def sentences_of_links(path: Path) -> list[tuple[str, str, str]]:
    """The text and the address of each link, and the sentence that it is in, with the link's title behind it."""
    found = []
    for block in tokens(path):
        text, marks = "", []
        for token in block.children or []:
            if token.type == "link_open":
                title = token.attrs.get("title", "")
                marks.append((len(text), unquote(token.attrs["href"]), title))
            elif token.type == "link_close":
                begin, *address = marks.pop()
                marks.insert(0, (begin, len(text), *address))
            text += " " if token.type.endswith("break") else token.content
        ends = [0, *(match.end() for match in re.finditer(r"[.:?!](?=\s)", text))]
        for begin, end, address, title in reversed(marks):
            first = max(x for x in ends if x <= begin)
            last = min((x for x in ends if x >= end), default=len(text))
            found.append((text[begin:end], address, f"{text[first:last]} {title}"))
    return found


@functools.cache
def headings(path: Path) -> list[str]:
    """The headings of a page, its title first."""
    pairs = zip(tokens(path), tokens(path)[1:])
    return [
        "".join(child.content for child in content.children)
        for token, content in pairs
        if token.type == "heading_open"
    ]


def slug(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def words(text: str) -> set[str]:
    """Significant words, without their plural."""
    return {*all_words(text)} - {word.rstrip("s") for word in STOP_WORDS}


def all_words(text: str) -> list[str]:
    text = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", text)
    return [word.rstrip("s") for word in WORD.findall(text.lower())]


@functools.cache
def makefile() -> str:
    return (ROOT / "Makefile").read_text()


@functools.cache
def sources() -> str:
    """The programs that `make` calls."""
    files = [*ROOT.glob("tools/*.*"), *ROOT.glob("bench/*.py"), *ROOT.glob("cmake/*")]
    return "\n".join(path.read_text() for path in files)


def takes(variable: str, value: str) -> bool:
    """Whether a program or its usage knows a variable; one that has a choice of words, this word."""
    lines = re.findall(rf"^.*\b{variable}\b.*$", makefile() + sources(), re.M)
    words = set(re.findall(r"[\w.]+", "\n".join(lines)))
    return bool(lines) and (not value.isalpha() or value in words)


@commands
def test_targets_and_variables_of_make_exist(text):
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile(), re.M))
    targets |= set(examples())
    unknown = []
    for command in re.findall(r"(?:^|&& )make((?: [\w.=/'-]+)+)", code(text), re.M):
        for word in command.split():
            name, is_variable, value = word.partition("=")
            if PLACEHOLDER.search(word):
                continue
            if is_variable and not takes(name, value):
                unknown.append(word)
            elif not is_variable and word not in targets:
                unknown.append(f"make {word}")
    variables = re.findall(r"^(\w+) \?=", makefile(), re.M)
    variables += re.search(r"^export ([A-Z ]+)$", makefile(), re.M)[1].split()
    for name, value in re.findall(r"^([A-Z]+)=([\w.]+)", code(text), re.M):
        if name in variables and not takes(name, value):
            unknown.append(f"{name}={value}")
    assert not unknown


@commands
def test_paths_exist(text):
    missing = []
    for path in re.findall(
        rf"(?<![\w/.-])((?:{'|'.join(FOLDERS)})/[\w./-]*\w)", code(text)
    ):
        if PLACEHOLDER.search(path) or "/build" in path:
            continue
        if not (ROOT / path).exists() and not is_made(path):
            missing.append(path)
    assert not missing


def is_made(path: str) -> bool:
    """Whether CMake or a measurement makes the file: then its name is known there."""
    folder, name = (ROOT / path).parent, Path(path).name
    makers = [folder / "CMakeLists.txt", folder / f"{Path(name).stem}.py"]
    known = "".join(maker.read_text() for maker in makers if maker.is_file())
    return bool(
        re.search(rf"\b{re.escape(Path(name).stem.removeprefix('lib'))}\b", known)
    )


@commands
def test_options_of_our_programs_exist(text):
    unknown = []
    for program, rest in re.findall(
        r"((?:tools|bench)/\w+\.py|python -m opcheck)\b([^\n|;&']*)", code(text)
    ):
        path = ROOT / "opcheck/__main__.py" if "opcheck" in program else ROOT / program
        for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", rest):
            if f'"{option}"' not in path.read_text():
                unknown.append(f"{program} {option}")
    cells = "".join(token.content for token in tokens(text) if token.type == "fence")
    known = sources() + (ROOT / "opcheck/__main__.py").read_text() + cells
    for token in [] if text.name == "Makefile" else inline(text):
        option = re.match(r"--([\w-]+)", token.content)
        if token.type == "code_inline" and option and option[1] not in known:
            unknown.append(option[0])
    assert not unknown


@pages
def test_options_of_the_compiler_are_those_of_the_build(page):
    """Those that begin as ours do; a page may say which ones it does without."""
    cmake = "\n".join(path.read_text() for path in ROOT.glob("cmake/*"))
    cmake += "\n".join(path.read_text() for path in EXAMPLES.glob("*/CMakeLists.txt"))
    prose = " ".join(
        token.content for token in inline(page) if token.type == "code_inline"
    )
    ours = r"(?<!\S)(?:-W\w+|-fvis\S+|-ffp-\S+|--fmad\S+)"
    assert set(re.findall(ours, prose)) - set(re.findall(r"[-\w=]+", cmake)) == set()


@pytest.mark.parametrize("folder", FOLDERS)
def test_arguments_that_a_docstring_names_exist(folder):
    unknown = []
    for path in (ROOT / folder).rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef):
                said = (ast.get_docstring(function) or "").partition("\nArgs:\n")[2]
                lines = re.findall(r"^  ([\w*, ]+):", said.partition("\n\n")[0], re.M)
                named = {*re.findall(r"\w+", " ".join(lines))}
                known = {x.arg for x in ast.walk(function.args) if hasattr(x, "arg")}
                unknown += [(path.name, function.name, x) for x in named - known]
    assert not unknown


@texts
def test_file_names_are_of_this_project_or_of_tensorflow(text):
    ours = {
        file
        for folder in FOLDERS
        for _, _, files in os.walk(ROOT / folder)
        for file in files
    } | {path.name for path in ROOT.iterdir()}
    include = Path(sysconfig.get_path("purelib"), "tensorflow", "include")
    own = "\n".join(token.content for token in tokens(text) if token.type == "fence")
    unknown = []
    for token in inline(text):
        name = token.content if token.type == "code_inline" else ""
        if not re.fullmatch(
            r"[\w./-]+\.(?:py|cc|h|cmake|csv|svg|toml|yml|js|css)", name
        ):
            continue
        known = Path(name).name in ours or (include / name).exists() or name in own
        if not known and not PLACEHOLDER.search(name):
            unknown.append(name)
    assert not unknown


@texts
def test_links_to_the_repository_lead_somewhere(text):
    wrong = []
    for _, address in links(text):
        if not address.startswith(f"{REPOSITORY}/"):
            continue
        kind, path, lines = re.fullmatch(
            rf"{REPOSITORY}/(\w+)(?:/main/([^#]*))?#?(.*)", address
        ).groups()
        if kind not in ("tree", "blob"):
            continue
        file = ROOT / path
        fits = file.is_dir() if kind == "tree" else file.is_file()
        numbers = [int(number) for number in re.findall(r"L(\d+)", lines)]
        if not fits or (numbers and max(numbers) > len(file.read_text().splitlines())):
            wrong.append(address)
    assert not wrong


@texts
def test_links_to_tensorflow_are_of_the_version_that_the_book_is_proven_on(text):
    """Or of a commit. What they lead to is in the package, if it is a header."""
    proven = re.search(
        r"^tensorflow-cpu==([\d.]+)", (ROOT / "constraints.txt").read_text(), re.M
    )[1]
    packages = Path(sysconfig.get_path("purelib"))
    installed = any(packages.glob(f"tensorflow*-{proven}.dist-info"))
    include = packages / "tensorflow" / "include"
    source = r"https://github\.com/tensorflow/tensorflow/(?:blob|tree)/([^/]+)/([^#]*)"
    wrong = []
    for _, address in links(text):
        if match := re.match(source, address):
            version, path = match.groups()
            path = path.removeprefix("third_party/xla/")
            header = installed and path.endswith(".h")
            there = not header or (include / path).exists()
            if len(version) != 40 and (version != f"v{proven}" or not there):
                wrong.append(address)
    assert not wrong


@texts
def test_the_text_of_a_link_to_a_file_names_the_file(text):
    wrong = []
    for label, address in links(text):
        path = urlsplit(address).path.rstrip("/")
        names_a_file = re.fullmatch(r"[\w./-]+(\.\w+|/)|(?:examples|bench)/\w+", label)
        if address.startswith(REPOSITORY) and names_a_file:
            if not path.endswith("/" + label.rstrip("/")):
                wrong.append((label, address))
    assert not wrong


@pages
def test_the_text_of_a_link_agrees_with_the_page_that_it_leads_to(page):
    order = order_of_chapters()
    subjects = {
        other.name: words(f"{headings(other)[0]} {other.stem}") for other in PAGES
    }
    wrong = []
    for label, address in links(page):
        name, _, anchor = address.removeprefix("./").partition("#")
        if name not in subjects or not label:
            continue
        if label == "the first chapter":
            agrees = name == f"{order[0]}.md"
        elif f"{label}.md" in subjects:
            agrees = name == f"{label}.md"
        else:
            subject = subjects[name] | {
                word
                for heading in headings(DOCS / name)
                if slug(heading) == anchor
                for word in words(heading)
            }
            common = len(words(label) & subject)
            others = (
                len(words(label) & subjects[other])
                for other in subjects
                if other != name
            )
            agrees = common and common >= max(others)
        if not agrees:
            wrong.append(f"[{label}]({address})")
    assert not wrong, "the text has no word of the page's title, or more of another's"


def sections_spoken_of(
    page: Path, target: Path, label: str, address: str, sentence: str
) -> set[str]:
    """The sections of a page that a link can mean, by its own words, or else by those of its sentence."""
    title, *parts = re.split(r"^#+ (.*)$", target.read_text(), flags=re.M)[1:]
    by_label, by_sentence = {}, {}
    own = words("" if label in ("above", "below") else label) - words(title)
    around = words(sentence)
    if page != target:
        around |= words(f"{headings(page)[0]} {page.stem}")
    for heading, text in zip(parts[1::2], parts[2::2]):
        anchor = slug(heading.replace("`", ""))
        of_heading = words(f"{heading} {SAID_BY.get(heading, '')}")
        by_sentence[anchor] = len(around & of_heading)
        if f"]({address})" not in text:  # the section with the link itself
            found = words(f"{heading} {text}")
            by_label[anchor] = (len(own & words(heading)), len(own & found))
    spoken_of = set(best(by_label))
    if len(spoken_of) != 1:
        of_both = spoken_of & set(best(by_sentence))
        spoken_of = of_both or set(best(by_sentence))
    return spoken_of


def best(scores: dict[str, object]) -> list[str]:
    """The names with the highest score, if it is not the lowest that can be."""
    highest = max(scores.values(), default=0)
    return [x for x in scores if scores[x] == highest and highest not in (0, (0, 0))]


@pages
def test_what_a_link_speaks_of_is_in_the_section_that_it_leads_to(page):
    wrong = []
    for label, address, sentence in sentences_of_links(page):
        name, _, anchor = address.removeprefix("./").partition("#")
        target = DOCS / name if name else page
        if anchor and target in PAGES:
            there = sections_spoken_of(page, target, label, address, sentence)
            if anchor not in there:
                wrong.append(f"[{label}]({address}): more of it is in {there}")
    assert not wrong


@functools.cache
def words_of_pages() -> dict[str, Counter]:
    """How often each word is on a page."""
    texts = {path.stem: FRONT_MATTER.sub("", path.read_text()) for path in PAGES}
    del texts["index"], texts["glossary"]
    return {name: Counter(all_words(text)) for name, text in texts.items()}


def fit(text: str, name: str) -> float:
    """How well a text fits a page: by their common words, most by those of the title and those that few pages have."""
    pages = words_of_pages()
    title, own = words(headings(DOCS / f"{name}.md")[0]), pages[name]
    return sum(
        math.log(len(pages) / sum(word in other for other in pages.values()))
        * (own[word] / (own[word] + 3) + (word in title))
        for word in words(text) & own.keys()
    )


def said_of_pages() -> Iterator[dict[str, str]]:
    """From each page to what its front matter says of it, and to what the landing page says to experts."""
    line = re.compile(r"^(?:learn|holds): (.*)$", re.M)
    texts = {name: (DOCS / f"{name}.md").read_text() for name in words_of_pages()}
    yield {name: line.search(text)[1] for name, text in texts.items()}
    row = r"^\| (.*) \| \[.*\]\((\w+)\.md\) \|$"
    found = re.findall(row, (DOCS / "index.md").read_text(), re.M)
    yield {name: text for text, name in found}


@pytest.mark.parametrize("said", [*said_of_pages()], ids=["learn", "experts"])
def test_what_is_said_of_two_pages_would_fit_worse_if_swapped(said):
    assert len(said) > 20
    fits = {(page, x): fit(said[x], page) for page in said for x in said}
    swapped = [
        f"{one}, {other}: `{said[one]}`, `{said[other]}`"
        for one, other in itertools.combinations(said, 2)
        if fits[one, one] + fits[other, other] <= fits[one, other] + fits[other, one]
    ]
    assert not swapped


def test_a_route_of_the_landing_page_leads_to_the_page_that_it_names():
    routes = re.findall(
        r'<li><a href="(\w+)\.html">(.*?)</a>', (DOCS / "index.md").read_text()
    )
    assert len(routes) > 2
    for name, label in routes:
        named = [page.stem for page in PAGES if page.stem.rstrip("s") in words(label)]
        assert name in (named or [name]), label


def glossary() -> Iterator[tuple[list[str], str, list[str]]]:
    """The words of each entry, what it says, and the texts of the sections that it leads to."""
    entry = r"^((?:\S.*\n)+)  (\S.*)\n\n  See (.*)\.$"
    glossary = (DOCS / "glossary.md").read_text().partition("{glossary}\n")[2]
    entries = re.findall(entry, glossary, re.M)
    assert len(entries) == len(re.findall(r"^\S.*\n  \S", glossary, re.M)) > 20
    for terms, meaning, see in entries:
        found = []
        for name, anchor in re.findall(r"\((\w+\.md)#?([\w-]*)\)", see):
            _, *parts = re.split(r"^#+ (.*)$", (DOCS / name).read_text(), flags=re.M)
            texts = dict(zip(map(slug, parts[0::2]), parts[1::2]))
            found.append(texts[anchor] if anchor else "".join(texts.values()))
        yield terms.splitlines(), meaning, found


def test_the_glossary_leads_to_where_its_words_are():
    """Each meaning has a link, to a section that has the word."""
    for terms, _, texts in glossary():
        for text in texts:
            known = (rf"\b{re.escape(term)}" for term in terms)
            assert any(re.search(term, text, re.I) for term in known), terms


@texts
def test_a_link_to_a_file_speaks_of_this_file(text):
    """And of no other file beside it more."""
    wrong = []
    for label, address, sentence in sentences_of_links(text):
        found = re.fullmatch(rf"{REPOSITORY}/blob/main/(.*)/([^/#]*)(#.*)?", address)
        if not found or label == found[2]:
            continue
        spoken_of = {}
        for path in (ROOT / found[1]).iterdir():
            name = words(f"{path.stem} {FILES.get(path.suffix, '')}")
            defined = rf'\b(def|class) {re.escape(label)}\b|"{re.escape(label)}"'
            there = path.is_file() and path.suffix in FILES and path.read_text()
            spoken_of[path.name] = len(name & words(sentence)) + bool(
                there and re.search(defined, there)
            )
        if found[2] not in best(spoken_of):
            wrong.append(f"[{label}]({address}): {best(spoken_of)} is spoken of")
    assert not wrong


@functools.cache
def outside() -> dict[str, set[str]]:
    """The addresses outside this project on all pages, each with the words of its last part."""
    found = {}
    for address in {address for text in TEXTS for _, address in links(text)}:
        url = urlsplit(address)
        if url.scheme and not address.startswith(REPOSITORY):
            path = url.path.removesuffix("index.html").rstrip("/")
            last = path.rpartition("/")[2].removesuffix(".html")
            found[address] = words(f"{last or url.netloc} {url.fragment}")
    return found


@texts
def test_a_link_to_another_project_speaks_of_what_it_leads_to(text):
    """And of no other such address more. Where its sentence does not, its title does, which readers see, too."""
    wrong = []
    for label, address, sentence in sentences_of_links(text):
        if address in outside() and "arxiv.org" not in address:
            said = words(sentence)
            spoken_of = {other: len(own & said) for other, own in outside().items()}
            if not outside()[address] <= said and address not in best(spoken_of):
                wrong.append(f'[{label}]({address}): add a title, ({address} "…")')
    assert not wrong


@texts
def test_the_number_in_a_link_is_in_its_address(text):
    """`#351` leads to an address that ends so; a paper is named in the code, too, that follows it."""
    code_of_examples = "".join(path.read_text() for path in EXAMPLES.glob("*/*.py"))
    wrong = []
    for label, address in links(text):
        if address.startswith("http") and not address.startswith(REPOSITORY):
            numbers = re.findall(r"#(\d+)", label)
            fits = all(address.endswith(f"/{number}") for number in numbers)
            if re.search(r"\d\.\d", address):
                fits &= all(x in address for x in re.findall(r"\d+\.\d+", label))
            if "arxiv.org" in address or "doi.org" in address:
                fits = address in code_of_examples
            if not fits:
                wrong.append(f"[{label}]({address})")
    assert not wrong


def test_a_paper_that_the_code_names_is_on_a_page():
    """One of two addresses that is wrong is found: the test above looks in the other direction."""
    pages = "".join(map(Path.read_text, PAGES))
    papers = r"https://(?:arxiv|doi)\.org/[\w./]*\w"
    code = "".join(path.read_text() for path in EXAMPLES.glob("*/*.[chp]*"))
    assert {paper for paper in re.findall(papers, code) if paper not in pages} == set()


def order_of_chapters() -> list[str]:
    return [page for part in parts().values() for page in part]


@pages
def test_what_a_chapter_needs_comes_before_it(page):
    order = order_of_chapters()
    needs = re.search(
        r"^\*\*You need\*\*(.*?)^\*\*Code\*\*", page.read_text(), re.S | re.M
    )
    late = [
        name
        for name in re.findall(r"\((\w+)\.md", needs[1] if needs else "")
        if order.index(name) >= order.index(page.stem)
    ]
    assert not late


@pages
def test_what_comes_next_comes_later(page):
    order = order_of_chapters()
    ends = re.findall(r"^Next\b[^(]*\((\w+)\.md", page.read_text(), re.M)
    for name in ends:
        assert order.index(name) > order.index(page.stem)


# Spellings of older releases, which a text may name if it says so.
OLD = re.compile(
    r"\bStatus::OK\(|\berrors::[A-Z]\w+\(|\btensorflow::(?:Status|StatusOr|int64|string)\b"
)
SAYS_SO = re.compile(r"no\s+longer|older|today's\s+spelling|\bgone\b|\bhas\s+become\b")


@texts
def test_an_old_spelling_is_said_to_be_old(text):
    wrong = [
        token.content
        for token in tokens(text)
        if token.type == "inline"
        and OLD.search(token.content)
        and not SAYS_SO.search(token.content)
    ]
    assert not wrong


@pytest.mark.parametrize("folder", sorted({*FOLDERS} - {"tests"}))
def test_sources_are_of_any_machine_and_of_today(folder):
    """No path of the machine that they were written on; in C++ no old spelling, but in what shows mistakes."""
    for path in sorted((ROOT / folder).rglob("*.*")):
        if path.suffix not in (".py", ".cc", ".h", ".md", ".toml", ".cmake", ".sh"):
            continue
        text = path.read_text()
        place = re.search(r"(?<![\w.}>)-])/(?:home|root|work|mnt|srv|Users)/\w", text)
        assert not place, f"{path.name}: {text[place.start() :][:40]}"
        if path.suffix in (".cc", ".h") and not path.name.startswith("wrong_"):
            old = OLD.search(text)
            assert not old or path.parent.name == "compile", f"{path.name}: {old[0]}"


@pages
def test_the_ops_of_a_chapter_are_in_its_example(page):
    text = page.read_text()
    ops = re.search(r"^ops: \[(.*)\]$", text.partition("\n---\n")[0], re.M)
    folder = re.search(r"^\*\*Code\*\* \[`(examples/\w+)`\]", text, re.M)
    own = "".join(
        path.read_text()
        for path in (ROOT / folder[1] if folder else ROOT).glob("*.cc")
        if not path.name.startswith(("wrong_", "solution_"))
    )
    known = set(re.findall(r'REGISTER_\w+\(\s*(?:Name\()?"(?:\w+>)?(\w+)"', own))
    missing = set(re.findall(r"\w+", ops[1] if ops else "")) - known
    assert not missing


@texts
def test_extras_of_the_package_exist(text):
    pyproject = (ROOT / "pyproject.toml").read_text()
    table = re.search(
        r"^\[project.optional-dependencies\]\n(.*?)^\[", pyproject, re.S | re.M
    )
    known = set(re.findall(r"^(\w+) = ", table[1], re.M))
    asked = re.findall(r"\bop-by-op\[([a-z,]+)\]|^\[([a-z,]+)\]$", code(text), re.M)
    unknown = {extra for one in asked for extra in ",".join(one).split(",")} - {""}
    unknown -= known
    assert not unknown


@pages
def test_below_is_below(page):
    lines = page.read_text().splitlines()
    places = {
        slug(match[1].replace("`", "")): number
        for number, line in enumerate(lines)
        if (match := re.match(r"#+ (.*)", line))
    }
    for number, line in enumerate(lines):
        for label, anchor in re.findall(r"\[(below|above)\]\(#([\w-]+)\)", line):
            assert (places[anchor] > number) == (label == "below"), line


@texts
def test_versions_of_tensorflow_are_the_ones_of_pyproject(text):
    supported = re.search(
        r'"tensorflow-cpu>=(\d+)\.(\d+),<\d+\.(\d+)',
        (ROOT / "pyproject.toml").read_text(),
    )
    major, oldest, beyond = map(int, supported.groups())
    proven = re.search(
        r"^tensorflow-cpu==([\d.]+)", (ROOT / "constraints.txt").read_text(), re.M
    )[1]
    prose = "\n".join(
        "".join(
            child.content for child in token.children if child.type != "code_inline"
        )
        for token in tokens(text)
        if token.type == "inline"
    )
    named = r"TensorFlow (\d+\.\d+(?:\.\d+)?)"
    if text not in PAGES:  # these also speak of other things that have versions
        named = r"(?<![\d.])(2\.\d\d(?:\.\d+)?)"
        prose += code(text)
    for version in re.findall(named, prose):
        allowed = {
            f"{major}.{oldest}",
            f"{major}.{beyond - 1}",
            proven,
            proven.rpartition(".")[0],
        }
        assert version in allowed


def code_words(drawing: Path) -> set[str]:
    """The identifiers in a drawing: all that is set as code, and elsewhere what looks like code."""
    root = ElementTree.parse(drawing).getroot()
    elements = list(root.iter())
    style = " ".join(each.text or "" for each in elements if each.tag.endswith("style"))
    classes = set(re.findall(r"\.([\w-]+)\{[^}]*monospace", style))
    found = set()
    for element in elements:
        if element.tag.endswith("}text"):
            words = set(IDENTIFIER.findall("".join(element.itertext())))
            is_code = classes & set(element.get("class", "").split())
            found |= words if is_code else set(filter(CODE_LIKE.search, words))
    return found - {"TensorFlow"}


@pytest.mark.parametrize(
    "drawing", sorted(DOCS.glob("pictures/*.svg")), ids=lambda path: path.stem
)
def test_code_in_a_drawing_is_code_of_its_page(drawing):
    showing = [
        page
        for page in PAGES
        if f"{{drawing}} pictures/{drawing.name}\n" in page.read_text()
    ]
    assert len(showing) == 1
    page = showing[0]
    text = page.read_text()
    names = {page.stem, *re.findall(r"(?:snippet\} |examples/)(\w+)/", text)}
    names |= {"zero_out"} if page.stem == "index" else set()
    known = code(page)
    for name in names:
        for path in (EXAMPLES / name).glob("*.[chp]*"):
            known += f" {path.stem} {path.read_text()}"
        if (lists := EXAMPLES / name / "CMakeLists.txt").is_file():
            known += re.sub(r"\w+", r"\g<0> lib\g<0>", lists.read_text())
    assert code_words(drawing) - set(IDENTIFIER.findall(known)) == set()


def words_of_a_text(text: str) -> set[str]:
    """The beginnings of its words: `trace` and `traced` are one."""
    return {word[:5] for word in re.findall(r"[a-z]{4,}", text.lower())}


@pytest.mark.parametrize(
    "drawing", sorted(DOCS.glob("pictures/*.svg")), ids=lambda path: path.stem
)
def test_the_words_of_a_drawing_are_in_its_text_alternative(drawing):
    """Who cannot see the drawing is told the same; a word changed in one of them is found."""
    texts = [
        "".join(element.itertext())
        for element in ElementTree.parse(drawing).getroot().iter()
        if element.tag.endswith("}text")
    ]
    directive = rf"^```\{{drawing\}} pictures/{re.escape(drawing.name)}\n(.*?)^```$"
    [alternative] = (
        match[1]
        for page in PAGES
        for match in re.finditer(directive, page.read_text(), re.S | re.M)
    )
    drawn = words_of_a_text(" ".join(texts))
    missing = drawn - words_of_a_text(alternative)
    assert not missing
