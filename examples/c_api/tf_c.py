"""TensorFlow's C API, called from Python by ctypes: graphs, eager calls, and what is registered."""

import ctypes
import functools
from collections.abc import Callable, Sequence
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_size_t, c_void_p
from pathlib import Path

import numpy as np
import tensorflow as tf
from numpy.typing import ArrayLike
from tensorflow.core.framework.kernel_def_pb2 import KernelDef, KernelList
from tensorflow.core.framework.op_def_pb2 import OpDef, OpList

(_path,) = Path(tf.__file__).parent.glob("libtensorflow_cc.*")
library = ctypes.CDLL(str(_path))


class Output(ctypes.Structure):
    """TF_Output: which output of which operation."""

    _fields_ = [("operation", c_void_p), ("index", c_int)]


class Buffer(ctypes.Structure):
    """TF_Buffer: bytes, here those of a protocol buffer."""

    _fields_ = [("data", c_void_p), ("length", c_size_t), ("free", c_void_p)]


# From each function to the types of its arguments and, last, of its result.
SIGNATURES = {
    "TF_NewStatus": [c_void_p],
    "TF_DeleteStatus": [c_void_p, None],
    "TF_GetCode": [c_void_p, c_int],
    "TF_Message": [c_void_p, c_char_p],
    "TF_AllocateTensor": [c_int, POINTER(c_int64), c_int, c_size_t, c_void_p],
    "TF_DeleteTensor": [c_void_p, None],
    "TF_TensorData": [c_void_p, c_void_p],
    "TF_TensorType": [c_void_p, c_int],
    "TF_NumDims": [c_void_p, c_int],
    "TF_Dim": [c_void_p, c_int, c_int64],
    "TF_NewGraph": [c_void_p],
    "TF_DeleteGraph": [c_void_p, None],
    "TF_NewOperation": [c_void_p, c_char_p, c_char_p, c_void_p],
    "TF_AddInput": [c_void_p, Output, None],
    "TF_AddInputList": [c_void_p, POINTER(Output), c_int, None],
    "TF_SetAttrString": [c_void_p, c_char_p, c_char_p, c_size_t, None],
    "TF_SetAttrType": [c_void_p, c_char_p, c_int, None],
    "TF_SetAttrTensor": [c_void_p, c_char_p, c_void_p, c_void_p, None],
    "TF_FinishOperation": [c_void_p, c_void_p, c_void_p],
    "TF_DeleteBuffer": [POINTER(Buffer), None],
    "TF_NewSessionOptions": [c_void_p],
    "TF_DeleteSessionOptions": [c_void_p, None],
    "TF_NewSession": [c_void_p, c_void_p, c_void_p, c_void_p],
    "TF_DeleteSession": [c_void_p, c_void_p, None],
    "TF_SessionRun": [
        *[c_void_p, c_void_p, c_void_p, c_void_p, c_int],
        *[POINTER(Output), POINTER(c_void_p), c_int],
        *[c_void_p, c_int, c_void_p, c_void_p, None],
    ],
    "TF_GetAllOpList": [POINTER(Buffer)],
    "TF_GetRegisteredKernelsForOp": [c_char_p, c_void_p, POINTER(Buffer)],
    "TFE_NewContextOptions": [c_void_p],
    "TFE_NewContext": [c_void_p, c_void_p, c_void_p],
    "TFE_DeleteContextOptions": [c_void_p, None],
    "TFE_NewTensorHandle": [c_void_p, c_void_p, c_void_p],
    "TFE_TensorHandleResolve": [c_void_p, c_void_p, c_void_p],
    "TFE_DeleteTensorHandle": [c_void_p, None],
    "TFE_NewOp": [c_void_p, c_char_p, c_void_p, c_void_p],
    "TFE_OpAddInput": [c_void_p, c_void_p, c_void_p, None],
    "TFE_OpAddInputList": [c_void_p, POINTER(c_void_p), c_int, c_void_p, None],
    "TFE_Execute": [c_void_p, POINTER(c_void_p), POINTER(c_int), c_void_p, None],
    "TFE_DeleteOp": [c_void_p, None],
}
for _name, (*_arguments, _result) in SIGNATURES.items():
    getattr(library, _name).argtypes = _arguments
    getattr(library, _name).restype = _result


def checked(function: Callable, *arguments):
    """Calls a function whose last argument is a status, and raises what it holds."""
    status = library.TF_NewStatus()
    try:
        result = function(*arguments, status)
        if code := library.TF_GetCode(status):
            message = library.TF_Message(status).decode()
            error = tf.compat.v1.errors.exception_type_from_error_code(code)
            raise error(None, None, message)
    finally:
        library.TF_DeleteStatus(status)
    return result


def _copied(dtype: tf.DType) -> tf.DType:
    """The type, if the bytes of its values can be copied; TypeError for those that point elsewhere."""
    if dtype in (tf.string, tf.resource, tf.variant):
        raise TypeError(f"expected numbers or booleans, got {dtype.name}")
    return dtype


def new_tensor(value: ArrayLike) -> int:
    """A TF_Tensor with a copy of a value, of a type without strings; the caller deletes it."""
    array = np.asarray(value, order="C")
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    shape = (c_int64 * array.ndim)(*array.shape)
    dtype = _copied(tf.as_dtype(array.dtype)).as_datatype_enum
    tensor = library.TF_AllocateTensor(dtype, shape, array.ndim, array.nbytes)
    ctypes.memmove(library.TF_TensorData(tensor), array.ctypes.data, array.nbytes)
    return tensor


def taken(tensor: int) -> np.ndarray:
    """The value of a TF_Tensor, which is deleted."""
    try:
        shape = [library.TF_Dim(tensor, i) for i in range(library.TF_NumDims(tensor))]
        dtype = _copied(tf.as_dtype(library.TF_TensorType(tensor)))
        value = np.empty(shape, dtype.as_numpy_dtype)
        ctypes.memmove(value.ctypes.data, library.TF_TensorData(tensor), value.nbytes)
    finally:
        library.TF_DeleteTensor(tensor)
    return value


class Graph:
    """A graph that is built and run by nothing but the C API."""

    def __init__(self) -> None:
        self._graph = library.TF_NewGraph()

    def __enter__(self) -> "Graph":
        return self

    def __exit__(self, *_: object) -> None:
        library.TF_DeleteGraph(self._graph)

    def constant(self, name: str, value: ArrayLike) -> Output:
        """Adds a node that holds a value."""
        tensor = new_tensor(value)
        node = library.TF_NewOperation(self._graph, b"Const", name.encode())
        library.TF_SetAttrType(node, b"dtype", library.TF_TensorType(tensor))
        checked(library.TF_SetAttrTensor, node, b"value", tensor)
        library.TF_DeleteTensor(tensor)
        return Output(checked(library.TF_FinishOperation, node), 0)

    def add(
        self, op: str, name: str, *inputs: Output | Sequence[Output], label: str = ""
    ) -> Output:
        """Adds a node.

        Args:
          op: Its op, with no attrs but those that follow from the inputs.
          name: Its name.
          *inputs: An output of another node, or a sequence of them, for each input of the op.
          label: Of the kernel that is to run it.

        Returns:
          The node's first output.

        Raises:
          tf.errors.OpError: The op, or its shape function, refuses.
        """
        node = library.TF_NewOperation(self._graph, op.encode(), name.encode())
        for each in inputs:
            if isinstance(each, Output):
                library.TF_AddInput(node, each)
            else:
                library.TF_AddInputList(node, (Output * len(each))(*each), len(each))
        if label:
            value = label.encode()
            library.TF_SetAttrString(node, b"_kernel", value, len(value))
        return Output(checked(library.TF_FinishOperation, node), 0)

    def run(self, output: Output) -> np.ndarray:
        """Runs what an output needs, in a session of its own, and returns its value."""
        options = library.TF_NewSessionOptions()
        session = checked(library.TF_NewSession, self._graph, options)
        library.TF_DeleteSessionOptions(options)
        tensor = c_void_p()
        feeds, fetches = (None, None, 0), (byref(output), byref(tensor), 1)
        run = library.TF_SessionRun
        try:
            checked(run, session, None, *feeds, *fetches, None, 0, None)
        finally:
            checked(library.TF_DeleteSession, session)
        return taken(tensor.value)


@functools.cache
def _context() -> int:
    """The eager runtime, of which this process has one more, Python's own."""
    options = library.TFE_NewContextOptions()
    context = checked(library.TFE_NewContext, options)
    library.TFE_DeleteContextOptions(options)
    return context


def execute(op: str, *inputs: ArrayLike | list[ArrayLike]) -> np.ndarray:
    """Runs an op of one output eagerly.

    Args:
      op: Its name.
      *inputs: An array, or a list of them, for each input of the op.

    Returns:
      The output.

    Raises:
      tf.errors.OpError: The op refuses.
    """
    node = checked(library.TFE_NewOp, _context(), op.encode())
    handles, output = [], c_void_p()
    try:
        for each in inputs:
            added = []
            for value in each if isinstance(each, list) else [each]:
                tensor = new_tensor(value)
                added.append(checked(library.TFE_NewTensorHandle, tensor))
                library.TF_DeleteTensor(tensor)
            handles += added
            if isinstance(each, list):
                array = (c_void_p * len(added))(*added)
                checked(library.TFE_OpAddInputList, node, array, len(added))
            else:
                checked(library.TFE_OpAddInput, node, *added)
        checked(library.TFE_Execute, node, byref(output), byref(c_int(1)))
        handles.append(output.value)
        return taken(checked(library.TFE_TensorHandleResolve, output))
    finally:
        for handle in handles:
            library.TFE_DeleteTensorHandle(handle)
        library.TFE_DeleteOp(node)


def _bytes_of(buffer) -> bytes:
    found = ctypes.string_at(buffer[0].data, buffer[0].length)
    library.TF_DeleteBuffer(buffer)
    return found


def op_defs() -> dict[str, OpDef]:
    """The interfaces of all registered ops, by their names."""
    ops = OpList.FromString(_bytes_of(library.TF_GetAllOpList())).op
    return {op.name: op for op in ops}


def kernels(op: str) -> list[KernelDef]:
    """What is said of each registered kernel of an op; an empty list of an op that nobody knows."""
    buffer = checked(library.TF_GetRegisteredKernelsForOp, op.encode())
    return list(KernelList.FromString(_bytes_of(buffer)).kernel)
