"""What the first cell of a downloaded notebook runs: the book's dependencies, and a chapter's example compiled.

It uses no package but what Python brings, for the others may be what is missing.
"""

import importlib
import re
import runpy
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

BOOK = Path(__file__).parents[1]
TENSORFLOWS = ("tensorflow", "tensorflow-cpu")
# What the cells of the chapters use.
TOOLS = ("cmake", "ninja", "numpy", "matplotlib", "pytest", "hypothesis")
MODULES = {
    **dict.fromkeys(TENSORFLOWS, "tensorflow"),
    "numpy": "numpy",
    "protobuf": "google.protobuf",
}


def set_up(*examples: str) -> None:
    """Installs what this Python lacks, and compiles examples.

    Raises:
      SystemExit: Something is in the way; the message says what, and what to do.
    """
    pyproject = (BOOK / "pyproject.toml").read_text()
    check = runpy.run_path(str(BOOK / "tools" / "check_environment.py"))
    oldest, beyond = check["supported_pythons"]()
    if not (3, oldest) <= sys.version_info[:2] < (3, beyond):
        sys.exit(
            f"Set-up: this kernel is Python {sys.version.split()[0]}, the book needs 3.{oldest} to 3.{beyond - 1}"
        )
    minors = re.search(r'"tensorflow-cpu>=2\.(\d+),<2\.(\d+);', pyproject).groups()
    supported = [f"2.{minor}" for minor in range(*map(int, minors))]
    steps = pip_commands(
        _installed(), supported, colab="google.colab" in sys.modules, gpu=_has_gpu()
    )
    if steps:
        says = "Installing TensorFlow and tools: some minutes, the first time only"
        print(says, flush=True)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    for step in steps:
        _run([*pip, *step], "pip cannot install")
    importlib.invalidate_caches()
    if old := _outdated():
        sys.exit(
            f"Set-up: {', '.join(old)} of this kernel was replaced: restart it and run this cell again"
        )
    if examples:
        tool = str(BOOK / "tools" / "examples.py")
        _run([sys.executable, tool, *examples], "cannot compile")
        print("Compiled", ", ".join(examples))


def pip_commands(
    installed: dict[str, str], supported: list[str], colab: bool, gpu: bool
) -> list[list[str]]:
    """The arguments of the pip commands to run.

    Args:
      installed: From the name of each package that is installed to its version.
      supported: The minor versions of TensorFlow that the book is for.
      colab: This is Colab. Its own TensorFlow is replaced, its other packages stay as they are wherever possible.
      gpu: The machine has one.

    Raises:
      SystemExit: Another TensorFlow is installed, and it is not for us to replace it.
    """
    found = [name for name in TENSORFLOWS if name in installed]
    fitting = [
        name for name in found if re.match(r"\d+\.\d+", installed[name])[0] in supported
    ]
    missing = [name for name in TOOLS if name not in installed]
    if fitting and not missing:
        return []
    if found and not fitting and not colab:
        sys.exit(
            f"Set-up: TensorFlow {installed[found[0]]} is installed here, the book needs "
            f"{supported[0]} to {supported[-1]}: make an environment of its own for the book "
            "(README.md says how) and run this notebook there"
        )
    device = "" if fitting else "[gpu]" if gpu else "[cpu]"
    install = ["install", "--editable", f"{BOOK}/packages/opcheck"]
    install += ["--editable", f"{BOOK}{device}", *missing]
    if colab:
        replaced = [["uninstall", "--yes", *found]] if found and not fitting else []
        return [*replaced, install]
    # constraints.txt is for the newest TensorFlow, the one here may be older.
    pinned = ["--constraint", str(BOOK / "constraints.txt")] if not fitting else []
    return [[*install, *pinned]]


def _installed() -> dict[str, str]:
    found = {}
    for name in (*TENSORFLOWS, *TOOLS):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _has_gpu() -> bool:
    return (
        bool(shutil.which("nvidia-smi"))
        and not subprocess.run(["nvidia-smi", "-L"], capture_output=True).returncode
    )


def _outdated() -> list[str]:
    """The packages that this process has imported in another version than is installed now."""
    old = []
    for package, module in MODULES.items():
        loaded = getattr(sys.modules.get(module), "__version__", None)
        try:
            if loaded and loaded != version(package):
                old.append(f"{package} {loaded}")
        except PackageNotFoundError:
            continue
    return old


def _run(command: list[str], failure: str) -> None:
    run = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if run.returncode:
        print(run.stdout, flush=True)
        *_, reason = ["no reason given", *run.stdout.strip().splitlines()]
        sys.exit(f"Set-up: {failure}: {reason}")
