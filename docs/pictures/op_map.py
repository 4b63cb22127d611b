"""The map of TensorFlow's ops: how large each family is, who computes its ops, and where to read that."""

import collections
from collections.abc import Iterator

from IPython.display import HTML
from op_map import FILES, busiest, families, kernel_classes, module_of
from pictures.drawing import bar, picture, small
from pictures.layout import row, table

BARS = 250  # how wide the longest is
# These modules are made from several files.
OF_TPUS = {"tpu": "tpu_*_ops.cc", "xla": "tpu/ops/sparse_core_*ops.cc"}
TENSORFLOW = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow"


def sizes() -> dict[str, tuple[int, int]]:
    """Of each family, how many ops it has, and how many of them have a kernel on the CPU."""
    return {
        family: (len(ops), sum(bool(kernel_classes(op)) for op in ops))
        for family, ops in families().items()
    }


def map_of_ops(sizes: dict[str, tuple[int, int]]) -> HTML:
    """Draws a bar for each family, its part without a kernel on the CPU paler."""
    unit = BARS / max(ops for ops, _ in sizes.values())
    rows = []
    for family, (ops, computed) in sizes.items():
        bars = bar(unit * computed, 16), bar(unit * (ops - computed), 16, 0.25)
        beside = row(row(*bars, gap=0), small(f"{ops}"), gap=6)
        beside.tells(f"{family}: {ops}, {computed} of them with a kernel on the CPU")
        rows.append([small(family), beside])
    shapes = table(rows, (6, 3), ("end", "start"))
    return picture(shapes, "TensorFlow's ops by family.")


def interfaces() -> Iterator[tuple]:
    """Of each family: how many ops, and the files that declare most of them."""
    for family, ops in families().items():
        files = collections.Counter(map(module_of, ops)).most_common(3)
        names = (OF_TPUS.get(name, f"{name}_ops.cc") for name, _ in files)
        yield family, len(ops), ", ".join(f"`{name}`" for name in names)


def classes() -> Iterator[tuple]:
    """Of some ops of each family, the classes of their kernels and the file to read."""
    for family, files in FILES.items():
        for op, file in files.items():
            names = ", ".join(f"`{name}`" for name in sorted(kernel_classes(op)))
            title = family if op == next(iter(files)) else ""
            yield (
                title,
                f"`{op}`",
                names,
                f"[`{file}`]({TENSORFLOW}/core/kernels/{file})",
            )


def shared(many: int) -> Iterator[tuple]:
    """The classes that compute the most ops, and some of these."""
    for name, ops in busiest(many):
        yield f"`{name}`", len(ops), ", ".join(f"`{op}`" for op in ops[:4]) + ", …"
