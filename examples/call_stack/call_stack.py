"""By whom a kernel is called: ops that record the call stack, and what they have recorded."""

import ctypes
import re
import sys
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import tensorflow as tf
from op_library import load_op_library

_path = Path(__file__).with_name("libcall_stack.so")
_library = load_op_library(_path, "call_stack", "call_stack_stateful")
_take_stacks = ctypes.CDLL(str(_path)).TakeStacks
_take_stacks.restype = ctypes.c_char_p

# Which layer a function belongs to: the first whose pattern is in "file: function".
LAYERS = {
    "Python": r"^(lib)?python[\d.]*\S*: ",
    "bindings": r"_pywrap\S*: ",
    "C API": r": TFE?_\w+$",
    "optimizer": r"grappler::|mlir::|OptimizeFunctionGraph|GraphOptimizer::",
    "shape inference": r"shape_inference::|ShapeRefiner",
    "XLA": r"Xla|GraphCompiler|DeviceCompiler|TfGraphToHlo",
    "eager runtime": r"Eager|ExecuteNode|KernelAndDevice|CustomDevice",
    "function runtime": r"FunctionLibraryRuntime",
    "kernel factory": r"CreateOpKernel|CreateNonCachedKernel",
    "executor": r"Executor",
    "device": r"Device::Compute$",
    "thread pool": r"Eigen::ThreadPool",
    "your op": rf"^{_path.name}: ",
}


class Frame(NamedTuple):
    """A function that is under way, and the file that it is in; "" is a function without a name."""

    function: str
    file: str


class Stack(NamedTuple):
    """What was under way on a thread.

    Attributes:
      recorded_in: The function of the op that has recorded it.
      thread: The name of the thread.
      thread_id: Another number for each thread.
      frames: The function that was called first comes first.
    """

    recorded_in: str
    thread: str
    thread_id: int
    frames: list[Frame]


def call_stack(x, expensive: bool = False, name: str | None = None) -> tf.Tensor:
    """Returns its input, and records who calls.

    Args:
      x: A tensor, or what converts to one, of any shape and dtype.
      expensive: Whether the kernel takes a millisecond, and says so when it is asked.
      name: Of the op in the graph.

    Returns:
      `x`.
    """
    return _library.call_stack(x=x, expensive=expensive, name=name)


def call_stack_stateful(
    x, expensive: bool = False, name: str | None = None
) -> tf.Tensor:
    """As `call_stack`, but stateful: a graph runs the op as often as it was called.

    Args:
      x: As above, and so are the others.
      expensive: Whether the kernel takes a millisecond, and says so when it is asked.
      name: Of the op in the graph.

    Returns:
      `x`.
    """
    return _library.call_stack_stateful(x=x, expensive=expensive, name=name)


@tf.RegisterGradient("CallStack")
@tf.RegisterGradient("CallStackStateful")
def _call_stack_grad(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
    """Of an op that returns its input."""
    return grad


def stacks(function: Callable, *arguments) -> list[Stack]:
    """Calls a function, and returns the stacks that the ops have recorded meanwhile, the first one first."""
    _take_stacks()
    function(*arguments)
    return [_parsed(text) for text in _take_stacks().decode().split("\n\n")[:-1]]


def way_down(stack: Stack) -> list[str]:
    """The functions of TensorFlow's that have names, from the one called first down to the op's own."""
    files = re.compile(rf"libtensorflow|\w*_pywrap|{_path.name}")
    return [
        frame.function
        for frame in stack.frames
        if files.match(frame.file) and frame.function[:5] not in ("", "std::")
    ]


def layer_of(frame: Frame) -> str:
    """The layer that a function belongs to; "" if its name does not tell."""
    line = f"{frame.file}: {frame.function}"
    return next((layer for layer in LAYERS if re.search(LAYERS[layer], line)), "")


def layers(stack: Stack) -> list[str]:
    """The layers that the calls go through."""
    found = filter(None, map(layer_of, stack.frames))
    return [layer for layer, _ in groupby(found)]


def python_calls(function: Callable, *arguments) -> list[Frame]:
    """Calls a function that calls an op eagerly.

    Returns:
      The functions in Python that are under way when the bindings are called, and these, with their modules.
    """
    found = []

    def look(frame, event, called) -> None:
        if event == "c_call" and called.__name__.startswith("TFE_Py_FastPath"):
            found.append(Frame(called.__name__, called.__module__))
            while frame is not None:
                code = frame.f_code
                found.insert(0, Frame(code.co_name, Path(code.co_filename).name))
                frame = frame.f_back

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        function(*arguments)
    finally:
        sys.setprofile(before)
    return found


def _parsed(text: str) -> Stack:
    """The op's own functions are hidden, so one with the name that it has given stands for them."""
    head, *lines = text.split("\n")
    recorded_in, thread, thread_id = head.split("\t")
    frames = [Frame(_short(name), Path(file).name) for name, file in map(_split, lines)]
    own = [i for i, frame in enumerate(frames) if frame.file == _path.name]
    frames = [Frame(recorded_in, _path.name), *frames[max(own, default=-1) + 1 :]]
    return Stack(recorded_in, thread.partition("/")[0], int(thread_id), frames[::-1])


def _split(line: str) -> list[str]:
    return line.split("\t")


def _short(function: str) -> str:
    """The name of a C++ function alone: `f` of `int tensorflow::f<T>(long)`."""
    name = re.sub(r"\(anonymous namespace\)::|\[abi:\w+\]", "", function.strip("?"))
    while (less := re.sub(r"<[^<>]*>|\([^()]*\)", "", name)) != name:
        name = less
    words = re.sub(r"\b(const|\[clone.*)$", "", name).split()
    return words[-1].removeprefix("tensorflow::") if words else ""
