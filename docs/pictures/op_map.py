"""The map of TensorFlow's ops: how large each family is, who computes its ops, and where to read that."""

from collections.abc import Iterator

from op_map import FILES, busiest, families, kernel_classes
from pictures.anchors import codes

TENSORFLOW = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow"


def sizes() -> dict[str, tuple[int, int]]:
    """Of each family, how many ops it has, and how many of them have a kernel on the CPU."""
    return {
        family: (len(ops), sum(bool(kernel_classes(op)) for op in ops))
        for family, ops in families().items()
    }


def classes() -> Iterator[tuple]:
    """Of some ops of each family, the classes of their kernels and the file to read."""
    for family, files in FILES.items():
        for op, file in files.items():
            title = family if op == next(iter(files)) else ""
            link = f"[`{file}`]({TENSORFLOW}/core/kernels/{file})"
            yield title, f"`{op}`", codes(sorted(kernel_classes(op))), link


def shared(many: int) -> Iterator[tuple]:
    """The classes that compute the most ops, and some of these."""
    for name, ops in busiest(many):
        yield f"`{name}`", len(ops), f"{codes(ops[:4])}, …"
