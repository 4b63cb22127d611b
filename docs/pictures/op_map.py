"""The tables of the map of TensorFlow's ops: how large each family is, who computes its ops, and where to read that."""

import collections
from collections.abc import Iterator

from op_map import FILES, busiest, families, kernel_classes, module_of

# These modules are made from several files.
OF_TPUS = {"tpu": "tpu_*_ops.cc", "xla": "tpu/ops/sparse_core_*ops.cc"}
KERNELS = (
    "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/kernels"
)


def interfaces() -> Iterator[tuple]:
    """Of each family: how many ops, how many with a kernel on the CPU, and the files that declare most of them."""
    for family, ops in families().items():
        files = collections.Counter(map(module_of, ops)).most_common(3)
        names = (OF_TPUS.get(name, f"{name}_ops.cc") for name, _ in files)
        computed = sum(bool(kernel_classes(op)) for op in ops)
        yield family, len(ops), computed, ", ".join(f"`{name}`" for name in names)


def classes() -> Iterator[tuple]:
    """Of some ops of each family, the classes of their kernels and the file to read."""
    for family, files in FILES.items():
        for op, file in files.items():
            names = ", ".join(f"`{name}`" for name in sorted(kernel_classes(op)))
            title = family if op == next(iter(files)) else ""
            yield title, f"`{op}`", names, f"[`{file}`]({KERNELS}/{file})"


def shared(many: int) -> Iterator[tuple]:
    """The classes that compute the most ops, and some of these."""
    for name, ops in busiest(many):
        yield f"`{name}`", len(ops), ", ".join(f"`{op}`" for op in ops[:4]) + ", …"
