"""Writes opcheck/headers.toml, by which `explain` tells the header of a name: what the book's examples include and use.

    python packages/opcheck/headers.py

A name belongs to the header that declares it, of those that an example which uses the name includes itself.
"""

import collections
import re
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
TABLE = HERE / "opcheck" / "headers.toml"
EXAMPLES = HERE.parents[1] / "examples"
INCLUDE = re.compile(r'^#include "((?:tensorflow|absl|tsl)/[\w/.-]+\.h)"', re.M)
INCLUDE_TOO = re.compile(r'^#include "(tensorflow/[\w/.-]+\.h)"', re.M)
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
# What Google's style has at the start of a line: namespaces, and what they declare.
OPENS = re.compile(r"(?:inline )?namespace ([\w:]+) \{")
CLOSES = re.compile(r"\}\s*// *(?:end )?namespace")
DECLARES = re.compile(
    r"#define (?P<macro>[A-Z]\w+)"
    r"|(?:class|struct) (?:[A-Z_]+(?:\([^)]*\))? )?(?P<type>[A-Z]\w+|tstring)(?: final)?(?:$| :| \{)"
    r"|using (?:::)?(?:\w+::)+(?P<used>[A-Z]\w+|tstring);"
    r"|using (?P<alias>[A-Z]\w+|tstring) ="
    r"|(?!return|using|typedef|friend)[a-zA-Z\[][\w:<>,&*\[\] ]*[ &*](?P<function>[A-Z]\w+)\("
)
# Names that stand for other things as well, or have an entry of their own.
LEFT_OUT = set(
    "AddV2 Const Create CreateResource DebugString Duration Input LOG MakeShape Merge Name Node Operation Output "
    "Register Relu Scope Session StatusOr".split()
)
GPU = "tensorflow/core/util/gpu_kernel_helper.h"
# What the examples' own includes bring along, and what other people's kernels for GPUs use.
THROUGH = {
    "TF_RETURN_IF_ERROR": ("tensorflow/core/platform/errors.h", ""),
    "TTypes": ("tensorflow/core/framework/tensor_types.h", "tensorflow"),
    "data": ("tensorflow/core/framework/dataset.h", "tensorflow"),
    **dict.fromkeys(("CUDA_1D_KERNEL_LOOP", "GPU_1D_KERNEL_LOOP"), (GPU, "")),
    **dict.fromkeys(
        "CudaAtomicAdd CudaGridRangeX CudaLaunchConfig CudaLaunchKernel GetCudaLaunchConfig GetGpuLaunchConfig "
        "GpuAtomicAdd GpuGridRangeX GpuLaunchConfig GpuLaunchKernel".split(),
        (GPU, "tensorflow"),
    ),
}
KINDS = "type", "macro", "function", "alias", "used"


def declared(header: str) -> Iterator[tuple[str, str, int]]:
    """The names that a header declares, with their namespace, and how directly it does so."""
    spaces, forward = [], False
    for line in header.splitlines():
        if opened := OPENS.match(line):
            spaces.append(opened[1])
            forward = True  # as long as there is nothing else, a bare brace closes it
        elif spaces and (CLOSES.match(line) or forward and line == "}"):
            spaces.pop()
        elif found := DECLARES.match(COMMENT.sub("", line).rstrip()):
            kind = found.lastgroup
            space = "" if kind == "macro" else "::".join(spaces)
            if "internal" not in space and not found[kind].endswith("_H_"):
                yield found[kind], space, KINDS.index(kind)
        if line and not re.match(
            r"(?:inline )?namespace|(?:class|struct) \w+;|//", line
        ):
            forward = False


def offered(include: Path, header: str) -> Iterator[tuple[str, str, int]]:
    """The names that whoever includes a header may use: its own, and the macros of what it includes itself."""
    if (include / header).exists():
        text = (include / header).read_text()
        yield from declared(text)
        for other in INCLUDE_TOO.findall(text):
            if (include / other).exists():
                for name, space, kind in declared((include / other).read_text()):
                    if KINDS[kind] == "macro":
                        yield name, space, len(KINDS)


def rows(include: Path) -> dict[str, tuple[str, str]]:
    """From a name to its header and its namespace."""
    votes: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    names: dict[str, list] = {}
    for path in sorted(EXAMPLES.glob("*/*.*")):
        if path.suffix not in (".cc", ".h"):
            continue
        text = path.read_text()
        words = set(re.findall(r"\w+", COMMENT.sub("", text)))
        for header in INCLUDE.findall(text):
            if header not in names:
                names[header] = list(offered(include, header))
            for name, space, kind in names[header]:
                if name in words - LEFT_OUT:
                    votes[name][kind, header, space] += 1
    return THROUGH | {
        name: min(some, key=lambda one: (one[0], -some[one], one))[1:]
        for name, some in sorted(votes.items())
    }


def main() -> None:
    import tensorflow as tf

    found = rows(Path(tf.sysconfig.get_include()))
    lines = "".join(
        f'{name} = ["{header}", "{space}"]\n'
        for name, (header, space) in sorted(found.items())
    )
    TABLE.write_text(
        f"# Made by `python packages/opcheck/headers.py` of the headers of TensorFlow {tf.__version__}: from a\n"
        "# name that the book's examples use to the header that declares it, and its namespace.\n\n"
        f"[names]\n{lines}"
    )


if __name__ == "__main__":
    main()
