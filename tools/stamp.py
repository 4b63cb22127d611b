"""Sphinx extension: at the foot of a page stands when and on what its cells ran."""

import datetime
import os
import platform
import re
import shutil
import subprocess

from book import ROOT, tensorflow
from sphinx.application import Sphinx

COMPILERS = {"GNU": "g++", "Clang": "Clang", "AppleClang": "Apple Clang"}


def stamp() -> dict[str, object]:
    """What the foot of a page says whose cells ran just now."""
    describe = ("describe", "--always", "--dirty", "--abbrev=10", "--exclude=*")
    commit = output("git", "-C", str(ROOT), *describe)
    return {
        "time": datetime.datetime.now(datetime.timezone.utc).isoformat("T", "seconds"),
        "on": [
            f"TensorFlow {tensorflow()}",
            f"Python {platform.python_version()}",
            *compiler(),
            machine(),
        ],
        "commit": commit.removesuffix("-dirty"),
        "changed": commit.endswith("-dirty"),
    }


def output(*command: str) -> str:
    """What a program says; nothing where there is no such program, or where it fails."""
    if shutil.which(command[0]) is None:
        return ""
    run = subprocess.run(command, capture_output=True, text=True)
    return "" if run.returncode else run.stdout.strip()


def compiler() -> list[str]:
    """The compiler that CMake has built the examples with, if it has."""
    found = sorted(ROOT.glob("build/examples/CMakeFiles/*/CMakeCXXCompiler.cmake"))
    if not found:
        return []
    says = dict(re.findall(r'set\((\w+) "(.*)"\)', found[-1].read_text()))
    name = says["CMAKE_CXX_COMPILER_ID"]
    return [f"{COMPILERS.get(name, name)} {says['CMAKE_CXX_COMPILER_VERSION']}"]


def machine() -> str:
    """For example "Linux on x86_64, 4 cores, no GPU"."""
    cores = (
        len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count()
    )
    query = ("nvidia-smi", "--query-gpu=name", "--format=csv,noheader")
    gpus = output(*query).splitlines() or ["no GPU"]
    return f"{platform.system()} on {platform.machine()}, {cores} cores, {gpus[0]}"


def add_stamp(
    app: Sphinx, page: str, template: str, context: dict, doctree: object
) -> None:
    """Gives the templates what a page says of its execution."""
    executed = getattr(app.env, "nb_metadata", {}).get(page, {}).get("exec_data") or {}
    context["stamp"] = executed.get("stamp")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", add_stamp, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
