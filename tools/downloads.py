"""Sphinx extension: what a chapter offers to take along, its notebook and its example directory as a zip."""

import html
import importlib.metadata
import io
import re
import zipfile
from pathlib import Path

from book import EXAMPLES, ROOT, chapters, example_of, executed, notebooks, urls
from chapter_code import without_statements, without_unused_fixtures
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from sphinx.application import Sphinx
from template import project

SOURCES = {".c", ".cc", ".cuh", ".h", ".py", ".pbtxt"}
# What is wrong on purpose, what gives an exercise away, what only the build of the book uses, and ops of the pages to
# look things up in.
LEFT_OUT = re.compile(
    r"(?:wrong|solution|exercise)_\w+|\w+_(?:mutants|fuzz)"
    r"|every_attr|type_lists|shape_calls|times_asked|gradient_registries"
)
# In conftest.py: what holds the book's own tests to narrow tolerances, a folder that they leave out, and the fixtures
# that need another example.
OF_THE_BOOK = {"tolerances_fit", "collect_ignore"}
OF_CC_GRADIENTS = {"cpp_gradient", "same_gradient_in_cpp"}
TEMPLATE = "my_op"
OF_PROJECTS = re.compile(
    r".*\.(cc|h|md|py|toml|txt|yml)|Dockerfile|Makefile|\.(docker|git)ignore"
)
# What needs the rest of the book: the steps of a chapter, and Python beside the package.
NOT_OF_PROJECTS = re.compile(
    r"(build|dist|wheelhouse|steps|\.(?!github)\w+)/|[^/]+\.py$"
)
TOOLS = ("cmake", "pytest")
README = """\
# {name}

{what}

It needs Linux or macOS, Python {python}, make and a C++17 compiler. In this folder, in a
[virtual environment](https://docs.python.org/3/library/venv.html):

```sh
pip install -r requirements.txt
make test
```

`make test` compiles the op with CMake and runs its tests. `opcheck`, which the tests use, is installed from the book's
repository.{gpu}

| Where | What |
|---|---|
| `examples/{name}/` | the op: C++, Python, tests |
| {common}`examples/conftest.py` | what examples and their tests share |
| `cmake/` | finds the TensorFlow of your Python, and compiles for it |

For an op of your own, begin with [my_op.zip]({site}downloads/my_op.zip), a project with one small op.{loader}{marks}
"""
ON_A_GPU = """ With a GPU, write
`tensorflow[and-cuda]` for `tensorflow-cpu` in `requirements.txt`, and call `GPUS_OF_TESTS=0 make test`."""
LOADER = """ To use
this one elsewhere, put `examples/common` on your `PYTHONPATH`, or copy `op_library.py` beside its Python file."""
MARKS = " Comments\nsuch as `{mark}` mark what the chapter shows."

MAKEFILE = """\
test: {name}
\tpython -m pytest examples/{name}

{name}:
\tcmake -S examples/{name} -B build -D CMAKE_BUILD_TYPE=Release
\tcmake --build build --parallel

.PHONY: test {name}
"""


def requirements() -> str:
    """What pip installs: the versions of pyproject.toml, and opcheck from where it is published."""
    required = [Requirement(text) for text in importlib.metadata.requires("op-by-op")]
    versions = {each.name: str(each.specifier) for each in required}
    supported = in_order(SpecifierSet(versions["tensorflow-cpu"]))
    linux = 'sys_platform == "linux" and platform_machine == "x86_64"'
    lines = [
        f"tensorflow-cpu{supported}; {linux}",
        f'tensorflow{supported}; sys_platform != "linux" or platform_machine != "x86_64"',
        "numpy>=2",  # whose assert_allclose knows strict, without the book's fixture
        *(f"{name}{in_order(SpecifierSet(versions[name]))}" for name in TOOLS),
        f"opcheck[fuzz] @ {urls()['Repository']}/archive/main.zip#subdirectory=packages/opcheck",
    ]
    return "\n".join(lines) + "\n"


STABLE_README = """\
stable_op.h: TensorFlow ops that one binary brings to many versions of TensorFlow
{site}stable_abi.html

  TF=$(python -c 'import importlib.util as u; print(u.find_spec("tensorflow").submodule_search_locations[0])')
  c++ -std=c++17 -O2 -fPIC -shared -fvisibility=hidden -isystem $TF/include by_layer.cc -o libby_layer.so \\
      -L$TF -l:libtensorflow_framework.so.2 -pthread -Wl,-z,defs
  python -c 'import tensorflow as tf; print(tf.load_op_library("./libby_layer.so").zero_out_by_layer([3.0, 4.0]))'

stable_float16.h is for half and bfloat16, stable_parallel.h for all cores. stable_abi.cc is a larger op.
"""


def stable_header(site: str) -> bytes:
    """The headers for ops of one binary, with two ops that use them, as a zip."""
    folder = EXAMPLES / "stable_abi"
    headers = sorted(folder.glob("stable_*.h"))
    sources = [*headers, folder / "by_layer.cc", folder / "stable_abi.cc"]
    files = {path.name: path.read_text() for path in sources}
    files["LICENSE"] = (ROOT / "LICENSE").read_text()
    files["README.txt"] = STABLE_README.format(site=site)
    return packed("stable_op", files)


def readme(name: str, site: str, files: dict[str, str]) -> str:
    """How to build and test an example that was unpacked from its zip, which has these files."""
    shown = [page for page, path in chapters().items() if example_of(path) == name]
    page = name if name in shown else next(iter(shown), "index")
    chapter = (
        f"The example of a chapter of [Op by Op]({site}): [{page}]({site}{page}.html)."
    )
    python = importlib.metadata.metadata("op-by-op")["Requires-Python"]
    own = "".join(files[x] for x in files if x.startswith(f"examples/{name}/"))
    mark = re.search(r"^\s*((?://|#) \[\w+\])", own, re.M)
    return README.format(
        name=name,
        what=chapter,
        site=site,
        python=in_order(SpecifierSet(python)),
        common="`examples/common/`, " if re.search("/common/", "".join(files)) else "",
        gpu=ON_A_GPU if "add_cuda_kernels" in own else "",
        loader=LOADER if "op_library import" in own else "",
        marks=MARKS.format(mark=mark[1]) if mark else "",
    )


def in_order(specifiers: SpecifierSet) -> str:
    """For example ">=2.21,<2.22", which the metadata of a package turns around."""
    return ",".join(sorted(map(str, specifiers), reverse=True))


def archive(name: str, site: str) -> bytes:
    """An example and all that it takes to build it, laid out as in the repository, as a zip.

    An example that is a project of its own, as the template is, has it all in its folder.
    """
    folder = EXAMPLES / name
    if name == TEMPLATE:
        return packed(name, project(name=name))
    if (folder / "pyproject.toml").exists():
        return packed(name, own_files(folder))
    sources = [path for path in sorted(folder.iterdir()) if path.suffix in SOURCES]
    gone = {stem(x) for x in sources if left_out(x)} | OF_THE_BOOK
    gone |= OF_CC_GRADIENTS if name != "cc_gradients" else set()
    own = [x for x in sources if not left_out(x)] + [folder / "CMakeLists.txt"]
    files = {inside(x): without(x.read_text(), x, gone) for x in own}
    shared = EXAMPLES / "conftest.py"
    files[inside(shared)] = without_unused_fixtures(
        without(shared.read_text(), shared, gone), "".join(files.values())
    )
    files |= named_there("".join(files.values()))
    files["LICENSE"] = (ROOT / "LICENSE").read_text()
    files["README.md"] = readme(name, site, files)
    files["requirements.txt"] = requirements()
    files["Makefile"] = MAKEFILE.format(name=name)
    # So that pytest finds conftest.py from any folder.
    files["pytest.ini"] = "[pytest]\n"
    return packed(name, files)


def inside(path: Path) -> str:
    """Where a file of the repository lies in a zip: at the same place."""
    return path.relative_to(ROOT).as_posix()


def stem(path: Path) -> str:
    """What a file is called without its suffixes: x of x.cu.cc."""
    return path.name.partition(".")[0]


def left_out(path: Path) -> bool:
    return bool(LEFT_OUT.fullmatch(stem(path)))


def reference(path: Path) -> str:
    """A pattern for how code asks for a file that examples share."""
    name = re.escape(path.stem)
    if path.suffix == ".py":
        return rf'\b(?:import|from) {name}\b|"{name}"'
    if path.suffix == ".cmake":
        package = name.removeprefix("Find")
        return rf"/{name}\.cmake|include\({name}\)|find_package\({package}\b"
    return re.escape(path.name)


def named_there(code: str) -> dict[str, str]:
    """What examples share, as far as some code names it, and what that names in turn."""
    shared = [*(ROOT / "cmake").glob("*.cmake")]
    shared += [x for x in (EXAMPLES / "common").rglob("*") if x.suffix in SOURCES]
    found = {}
    while True:
        added = {
            inside(path): path.read_text()
            for path in shared
            if inside(path) not in found and re.search(reference(path), code)
        }
        if not added:
            return found
        found |= added
        code = "".join(added.values())


def own_files(folder: Path) -> dict[str, str]:
    """Those of an example that is a project of its own, without what was built."""
    paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    return {
        inside: path.read_text()
        for inside, path in paths.items()
        if OF_PROJECTS.fullmatch(path.name) and not NOT_OF_PROJECTS.match(inside)
    }


def packed(name: str, files: dict[str, str]) -> bytes:
    """A folder as a zip: the same files give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as zipped:
        for inside in sorted(files):
            info = zipfile.ZipInfo(f"{name}/{inside}")
            info.create_system, info.external_attr = 3, 0o100644 << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            if files[inside].strip():
                zipped.writestr(info, files[inside])
    return buffer.getvalue()


def without(text: str, path: Path, gone: set[str]) -> str:
    """A file without what uses files that are left out: targets of CMake, tests and what these alone need."""
    named = re.compile(rf"\b(?:lib)?(?:{'|'.join(map(re.escape, gone))})\b")
    if path.name == "CMakeLists.txt":
        one = f"(?:{named.pattern})"
        of_one = rf"if\(TARGET {one}\)\n(?:.*\n)*?endif\(\)\n|target_\w+\({one} .*\n"
        text = re.sub(
            rf"(?<=[ (]){one}(?:\.cc)?(?: |(?=\)))", "", re.sub(of_one, "", text)
        )
        empty = r"^op_by_op_(?!libraries\(\w)\w+\(\w* *\)\n"
        return re.sub(empty, "", text, flags=re.M).replace(" )", ")")
    if path.suffix != ".py" or not named.search(text):
        return text
    return without_statements(text, named)


def write_downloads(app: Sphinx, exception: Exception | None) -> None:
    """At the end of a build: the zip of every chapter's example, and that of the template."""
    if exception or app.builder.name != "html":
        return
    archives = Path(app.outdir) / "downloads"
    archives.mkdir(exist_ok=True)
    pages = [Path(app.env.doc2path(page)) for page in executed(app.env)]
    for name in {TEMPLATE, *filter(None, map(example_of, pages))}:
        content = archive(name, app.config.html_baseurl)
        (archives / f"{name}.zip").write_bytes(content)
    if "stable_abi" in executed(app.env):
        header = stable_header(app.config.html_baseurl)
        (archives / "stable_op.zip").write_bytes(header)


def add_links(
    app: Sphinx, page: str, template: str, context: dict, doctree: object
) -> None:
    """Gives the template a chapter's links: title, address, and whether to save what is there."""
    if page not in notebooks(app.env):
        return
    github = context["repository"]
    repository = github.removeprefix("https://github.com/")
    colab = f"https://colab.research.google.com/github/{repository}/blob/notebooks"
    binder = f"https://mybinder.org/v2/gh/{repository}/main?urlpath=lab/tree/build/lab"
    context["chapter_links"] = [
        ("Open in Colab", f"{colab}/{page}.ipynb", False),
        ("Open in Binder", f"{binder}/{page}.ipynb", False),
        ("Notebook", f"notebooks/{page}.ipynb", True),
    ]
    launch = "".join(
        f'<a href="{html.escape(address)}"{" download" if saved else ""}>{title}</a>'
        for title, address, saved in context["chapter_links"]
    )
    launch = (
        f'<nav class="launch" aria-label="This chapter as a notebook">{launch}</nav>'
    )
    context["body"] = context["body"].replace("</h1>", f"</h1>\n{launch}", 1)
    if name := example_of(Path(app.env.doc2path(page))):
        context["chapter_links"] += [
            ("Example (.zip)", f"downloads/{name}.zip", True),
            ("Source on GitHub", f"{github}/tree/main/examples/{name}", False),
        ]


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", add_links)
    app.connect("build-finished", write_downloads)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
