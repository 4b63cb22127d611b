"""What the C kernel API can and cannot do, found out by trying."""

import ctypes
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import tensorflow as tf
from op_library import load_op_library
from tensorflow.core.framework.node_def_pb2 import NodeDef

LIBRARY = Path(__file__).with_name("liblimits.so")
limits = load_op_library(LIBRARY, "limit_attrs", "limit_failure")
HEADERS = Path(tf.sysconfig.get_include(), "tensorflow", "c")
ATTRS = {"i": -3, "f": 0.5, "b": True, "s": "text", "li": [4, 5]}


def declared(header: str, names: str) -> list[str]:
    """The functions of a header whose names match."""
    text = (HEADERS / header).read_text()
    return sorted({*re.findall(rf"\b(TF_\w*(?:{names})\w*)\(", text)})


def exported(function: str) -> bool:
    """Whether the libraries of this TensorFlow have a function."""
    libraries = Path(tf.__file__).parent.glob("libtensorflow_*.2*")
    return any(hasattr(ctypes.CDLL(str(path)), function) for path in libraries)


def signal_of(call: str) -> str:
    """The signal that ends a process in which a call is made, or "" if it lives on."""
    load = (
        f"import tensorflow as tf, time; limits = tf.load_op_library({str(LIBRARY)!r})"
    )
    code = f"{load}\n{call}\ntime.sleep(1)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True)
    return signal.Signals(-run.returncode).name if run.returncode < 0 else ""


def error_of(call: Callable) -> str:
    """The error that a call raises, without where that was; "" if none."""
    try:
        call()
    except tf.errors.OpError as error:
        message = re.sub(r"\{\{function_node .*?\}\} | \[Op:.*", "", error.message)
        return f"{type(error).__name__}: {message.splitlines()[0].strip()}"
    return ""


def rows() -> list[tuple[str, str, str]]:
    """What one may want, whether the C API has it, and what the trial showed."""
    attrs = limits.limit_attrs(**ATTRS).numpy().decode()
    joined = limits.limit_join(before=1.0, parts=[["a", "b"], "c"]).numpy().decode()
    node = NodeDef.FromString(limits.limit_node(size=[7, None]).numpy())
    size = tf.TensorShape(node.attr["size"].shape)
    thrown = error_of(lambda: limits.limit_failure(x=1.0, how=0))
    now = limits.limit_now().numpy()
    later = signal_of("limits.limit_later()")
    out_of_range = signal_of("limits.limit_unchecked(how=1)")
    unchecked = error_of(lambda: limits.limit_unchecked(how=0))

    def gone(function: str) -> str:
        assert function in declared("kernels_experimental.h", "")
        where = "in a library" if exported(function) else "in no library"
        return f"`{function}`: declared in `kernels_experimental.h`, {where}"

    def none(header: str, names: str) -> str:
        found, words = len(declared(header, names)), names.replace("|", ", ")
        return f"of the {len(declared(header, ''))} functions in `{header}`, {found or 'none'} with {words} in its name"

    return [
        ("attrs of type bool, int, float, string, list(int)", "yes", f"an op gives them back: `{attrs}`"),
        ("strings, and inputs that are lists", "yes", f"an op joins them: `{joined}`"),
        ("an op that calls `done` before its function returns", "yes", f"it returns {now:g}"),
        ("an op that calls `done` later, as an `AsyncOpKernel` does",
         *(("no", f"the process ends with `{later}`") if later else ("yes", "it returns"))),
        ("TensorFlow's thread pool", "no", none("kernels.h", "Shard|Pool|Parallel")),
        ("an attr of type shape", "in the node",
         f"`TF_OpKernelConstruction_GetNodeDef` gives it, with all attrs, as a protocol buffer: `{size}`; "
         + gone("TF_OpKernelConstruction_GetAttrTensorShape")),
        ("to assign a variable", "no", gone("TF_AssignVariable")),
        ("resources of your own", "no", none("kernels.h", "LookupResource|CreateResource")),
        ("to merge two shapes", "in the layer", f"`Merge`; {none('ops.h', 'Merge')}"),
        ("to read a constant input in a shape function", "no", none("ops.h", "Tensor|Constant")),
        ("`.Doc(…)` of an op", "no", none("ops.h", "Doc")),
        ("an error from a thread or an exception", "in the layer", f"`{thrown}`"),
        ("a check of an output's type", "in the layer",
         f"`TF_AllocateOutput` with another type: {unchecked or 'no error'}"),
        ("a check of an output's number", "in the layer",
         f"`TF_ExpectedOutputDataType` with 7: the process ends with `{out_of_range}`"),
    ]  # fmt: skip
