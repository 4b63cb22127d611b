"""The tables of the page on TensorFlow's own kernels for the GPU: what a profile recorded."""

import re
from functools import partial
from itertools import product

from measured import Row, Table, read
from pictures.anchors import codes

TYPES = {
    "float32": "`float32`, TF32 off",
    "TF32": "`float32`, by default: TF32",
    "half": "`half`",
    "bfloat16": "`bfloat16`",
}
CONV = "Conv2D 3 × 3"


def short(kernel: str) -> str:
    """A kernel's name without what its templates and its tiles are."""
    if found := re.search(r"cutlass_tensorop_\w+", kernel):
        return found[0]
    kernel = re.sub(r"<.*", "", kernel.partition("_tilesize")[0])
    return kernel.rpartition("::")[2]


def launches(profile: Table, op: str, layout: str = "", **of: str) -> str:
    """The kernels of a call, each with its time in microseconds."""
    parts = []
    for row in profile.where(op=op, layout=layout, **{"setting": "default", **of}):
        times = "" if row["launches"] == "1" else f"{row['launches']} × "
        took = f"{float(row['microseconds']):.0f}"
        parts.append(f"`{short(row['kernel'])}` {times}{took}")
    return ", ".join(parts)


def products(profile: Table) -> list[tuple[str, str]]:
    """Of each type, the kernels of a matrix product."""
    return [
        (shown, launches(profile, "MatMul", type=name)) for name, shown in TYPES.items()
    ]


def convolutions(profile: Table, calls: Table) -> list[tuple[str, ...]]:
    """Of each type and layout, the kernels of a convolution, and the time of a call."""
    rows = []
    for name, layout in product(("float32", "TF32", "half"), ("NHWC", "NCHW")):
        kernels = launches(profile, CONV, layout, type=name)
        took = microseconds(calls, CONV, layout, type=name)
        rows.append((TYPES[name], layout, kernels, f"{took:.0f}"))
    return rows


def in_host_memory(row: Row) -> str:
    """The arguments of an op that its kernels of the GPU want there, and of which types, if not of all."""
    names = codes(row["host_memory"].split())
    every = row["of_types"] in ("", row["gpu"])
    return names if every else f"{names} ({row['of_types'].replace(' ', ', ')} only)"


def microseconds(times: Table, op: str, layout: str = "", **of: str) -> float:
    """Of a call after the first, or of the kernel of an op that has one."""
    of = {"op": op, "layout": layout, "setting": "default", **of}
    return times.number("microseconds", **of)


def figures(profile: Table, calls: Table) -> dict[str, float | str]:
    """What the text says of the recording."""
    back = "Conv2DBackpropInput"
    tuned_again = read("gpu_autotuning").where(op=back, layout="NHWC")
    cold, *warm = (float(row["microseconds"]) / 1e3 for row in tuned_again)
    of_first = {"op": CONV, "layout": "NHWC", "type": "TF32"}
    off = {"setting": "autotuning off"}
    nchw = partial(microseconds, calls, CONV, "NCHW")
    exact = microseconds(profile, "MatMul", type="float32")
    versions = r"cuBLAS (\d+\.\d+)\S* and cuDNN (\d+\.\d+)\S* for CUDA (\d+)"
    cublas, cudnn, cuda = re.search(versions, calls.value("libraries")).groups()
    return {
        "cublas": cublas,
        "cudnn": cudnn,
        "cuda": cuda,
        "gpu": calls.value("machine").split(", ")[2],
        "tf32": exact / microseconds(profile, "MatMul", type="TF32"),
        "half": exact / microseconds(profile, "MatMul", type="half"),
        "first": calls.number("first_milliseconds", setting="default", **of_first),
        "unloaded": calls.number("first_milliseconds", **off, **of_first),
        "later": microseconds(calls, **of_first) / 1e3,
        "tuned": microseconds(calls, back, "NHWC", type="float32") / 1e3,
        "untuned": microseconds(calls, back, "NHWC", type="float32", **off) / 1e3,
        "cold": cold,
        "warm": max(warm),
        "fresh": nchw(type="TF32"),
        "stale": nchw(type="TF32", setting="after float32"),
        "room": nchw(type="half"),
        "cramped": nchw(type="half", setting="workspace 1 MB"),
    }
