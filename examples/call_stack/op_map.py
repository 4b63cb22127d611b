"""TensorFlow's ops in families, and the C++ classes of their kernels, from the registries."""

import collections
import inspect
import re
from collections.abc import Callable

import tensorflow as tf
from tensorflow.core.framework.node_def_pb2 import NodeDef
from tensorflow.python.framework import kernels, op_def_registry, ops
from tensorflow.python.util import _pywrap_kernel_registry


def kernel_classes(op: str, device: str = "CPU") -> set[str]:
    """Which C++ classes compute an op.

    Args:
      op: Its name in the registry, such as "MatMul".
      device: The kind of device.

    Returns:
      The names as they were registered, without template arguments: one for most ops, none if this build of TensorFlow
      has no kernel there. A kernel for the device "DEFAULT" serves every device that has none of its own.

    Raises:
      KeyError: There is no such op.
    """
    if op_def_registry.get(op) is None:
        raise KeyError(f"op must be in the registry, got {op!r}")
    found = set()
    for kernel in kernels.get_registered_kernels_for_op(op).kernel:
        if kernel.device_type not in (device, "DEFAULT"):
            continue
        node = NodeDef(op=op, name=op, device=f"/device:{device}:0")
        for attr in op_def_registry.get(op).attr:
            if attr.HasField("default_value"):
                node.attr[attr.name].CopyFrom(attr.default_value)
        for constraint in kernel.constraint:
            for field, values in constraint.allowed_values.list.ListFields():
                setattr(node.attr[constraint.name], field.name, values[0])
        if kernel.label:
            node.attr["_kernel"].s = kernel.label.encode()
        name = _pywrap_kernel_registry.TryFindKernelClass(node.SerializeToString())
        if name:
            found.add(re.search(r"[\w:]+", name.decode())[0])
    return found


def gradient_of(op: str) -> str | None:
    """The file and the name of the Python function that is an op's gradient; None if it has none.

    Raises:
      LookupError: Nothing is registered: differentiating the op is an error.
    """
    function = ops.gradient_registry.lookup(op)
    if function is None:
        return None
    file = inspect.getsourcefile(inspect.unwrap(function))
    return f"{file.rpartition('site-packages/')[2]}: {function.__name__}"


def _of(*modules: str) -> Callable:
    return lambda module, op: module in modules


def _element_by_element(module: str, op) -> bool:
    inputs = [each.name for each in op.input_arg]
    return module in ("math", "special_math", "bitwise") and inputs in (
        ["x"],
        ["x", "y"],
    )


# A family takes the ops for which its function is true, and which none before it took.
FAMILIES = {
    "matrices": lambda module, op: (
        module in ("linalg", "spectral") or "MatMul" in op.name or op.name == "Einsum"
    ),
    "element by element": _element_by_element,
    "sums and other mathematics": _of("math", "special_math", "ragged_math"),
    "arrays": _of("array", "manip", "ragged_array", "ragged_conversion"),
    "neural nets": _of("nn", "rnn", "cudnn_rnn", "ctc", "candidate_sampling"),
    "images and sound": _of("image", "audio"),
    "random numbers": lambda module, op: "random" in module,
    "variables and optimizers": _of("state", "resource_variable", "training"),
    "queues, lists, tables": _of("data_flow", "lookup", "list", "map"),
    "control flow and calls": _of("control_flow", "functional", "script"),
    "input pipelines": _of("dataset", "experimental_dataset", "optional"),
    "files and checkpoints": _of(
        "io", "checkpoint", "parsing", "filesystem", "decode_proto", "encode_proto"
    ),
    "strings, sparse tensors, sets": _of("string", "sparse", "sparse_csr_matrix", "set", "count"),
    "several devices": _of("collective", "nccl", "sendrecv", "tpu", "tpu_partition", "xla"),
    "the rest": lambda module, op: True,
}  # fmt: skip


# Of each family some ops, with the file below core/kernels in which the class of their kernel is defined.
FILES = {
    "matrices": {"MatMul": "matmul_op_impl.h", "Cholesky": "linalg/cholesky_op.cc"},
    "element by element": {"Exp": "cwise_ops_common.h", "AddV2": "cwise_ops_common.h"},
    "sums and other mathematics": {
        "Sum": "reduction_ops_common.h",
        "Cumsum": "scan_ops.cc",
    },
    "arrays": {
        "Reshape": "reshape_op.h",
        "ConcatV2": "concat_op.cc",
        "GatherV2": "gather_op.cc",
    },
    "neural nets": {"Conv2D": "conv_ops_impl.h", "Relu": "relu_op.h"},
    "images and sound": {"CropAndResize": "image/crop_and_resize_op.cc"},
    "random numbers": {"RandomUniform": "random_op.cc"},
    "variables and optimizers": {
        "VarHandleOp": "resource_variable_ops.h",
        "AssignVariableOp": "resource_variable_ops.cc",
        "ResourceApplyAdam": "training_ops.cc",
    },
    "queues, lists, tables": {
        "FIFOQueueV2": "fifo_queue.h",
        "HashTableV2": "lookup_table_op.h",
    },
    "control flow and calls": {
        "Switch": "control_flow_ops.h",
        "While": "functional_ops.cc",
        "PartitionedCall": "partitioned_function_ops.h",
    },
    "input pipelines": {"MapDataset": "data/map_dataset_op.h"},
    "files and checkpoints": {
        "SaveV2": "save_restore_v2_ops.cc",
        "ReadFile": "whole_file_read_ops.cc",
    },
    "strings, sparse tensors, sets": {"StringSplitV2": "string_split_op.cc"},
    "several devices": {"CollectiveReduceV2": "collective_ops.cc"},
    "the rest": {"BatchFunction": "batch_kernels.h"},
}


def module_of(op: str) -> str:
    """The file of an op's interface: "math" for core/ops/math_ops.cc, from gen_math_ops, which is made from it."""
    name = getattr(tf.raw_ops, op).__module__.rpartition(".")[2]
    return name.removeprefix("gen_").split("_ops")[0]


def families() -> dict[str, list[str]]:
    """The ops of `tf.raw_ops`, by family."""
    found = {family: [] for family in FAMILIES}
    for name in dir(tf.raw_ops):
        if op := op_def_registry.get(name):
            module = module_of(name)
            found[next(x for x, takes in FAMILIES.items() if takes(module, op))].append(
                name
            )
    return found


def busiest(many: int) -> list[tuple[str, list[str]]]:
    """The classes that compute the most ops, with these."""
    computed = collections.defaultdict(list)
    for op in [op for each in families().values() for op in each]:
        for name in kernel_classes(op):
            computed[name].append(op)
    return sorted(computed.items(), key=lambda each: -len(each[1]))[:many]
