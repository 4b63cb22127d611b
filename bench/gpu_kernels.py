"""Which ops have kernels for the GPU in TensorFlow's wheel: `python bench/gpu_kernels.py`.

Needs the wheel `tensorflow` for Linux, which has the GPU's kernels, and no GPU: each kernel is registered when
TensorFlow is imported. The wheel `tensorflow-cpu`, on which the book is built, has none of them. Writes
bench/gpu_kernels.csv.
"""

import collections
import sys
from pathlib import Path

import tensorflow as tf
from measure import heading, write
from tensorflow.python.framework import kernels

RESULT = Path(__file__).with_name("gpu_kernels.csv")


def types(kernel) -> set[str]:
    """Those of the attr T, or "any"."""
    found = {
        tf.as_dtype(value).name
        for constraint in kernel.constraint
        if constraint.name == "T"
        for value in constraint.allowed_values.list.type
    }
    return found or {"any"}


def main() -> None:
    if not tf.test.is_built_with_cuda():
        sys.exit("bench/gpu_kernels.py: needs the wheel tensorflow, which has CUDA")
    found = collections.defaultdict(lambda: collections.defaultdict(set))
    for kernel in kernels.get_all_registered_kernels().kernel:
        for device in {"DEFAULT": ("CPU", "GPU")}.get(
            kernel.device_type, (kernel.device_type,)
        ):
            if not kernel.label:
                found[kernel.op][device] |= types(kernel)
        on_gpu = kernel.device_type in ("GPU", "DEFAULT") and not kernel.label
        if on_gpu and kernel.host_memory_arg:
            found[kernel.op]["host"] |= {*kernel.host_memory_arg}
            found[kernel.op]["of"] |= types(kernel)
    rows = [
        {
            "op": op,
            "cpu": " ".join(sorted(of["CPU"])),
            "gpu": " ".join(sorted(of["GPU"])),
            "host_memory": " ".join(sorted(of["host"])),
            "of_types": " ".join(sorted(of["of"])),
        }
        for op, of in sorted(found.items())
        if of["GPU"]
    ]
    build = tf.sysconfig.get_build_info()
    notes = [
        f"build: CUDA {build['cuda_version']}, cuDNN {build['cudnn_version']}",
        "cpu, gpu: the types of the attr T for which there is a kernel; any: without a constraint on T",
        "host_memory: arguments that kernels of the GPU want in host memory; of_types: the types of those kernels",
    ]
    lines = heading("python bench/gpu_kernels.py", ["tensorflow"], notes)
    write(RESULT, lines, rows)


if __name__ == "__main__":
    main()
