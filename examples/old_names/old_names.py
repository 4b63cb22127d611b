"""Old names of TensorFlow in Python: a line as it was, and the line that takes its place today.

`wrong_old_names.cc` and `old_names.cc` have the same for C++.
"""

# ruff: noqa: E501

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import precompiled
import tensorflow as tf

HERE = Path(__file__).parent
FIRST = "# before the first op"
PYTHON = [
    ("x = tf.placeholder(tf.float32, [None])", "tf.function(f, input_signature=[tf.TensorSpec([None], tf.float32)])"),
    ("tf.Session().run(y)", "tf.function(f)(x).numpy()"),
    ("y.eval()", "y.numpy()"),
    ("tf.get_default_graph()", "tf.function(f).get_concrete_function(x).graph  # each function has its own"),
    ("tf.global_variables_initializer()", "# nothing: tf.Variable(0.0) is initialized when it is made"),
    ("tf.get_variable('v', [2])", "tf.Variable(tf.zeros([2]))"),
    ("tf.assign(v, 1.0)", "v.assign(1.0)"),
    ("tf.gradients(y, x)", "with tf.GradientTape() as tape: tape.watch(x); y = f(x)\ntape.gradient(y, x)"),
    ("tf.py_func(np.sin, [x], tf.float32)", "tf.numpy_function(np.sin, [x], tf.float32)"),
    ("tf.sparse_to_dense([1], [3], 5)", "tf.scatter_nd([[1]], [5], [3])"),
    ("tf.test.compute_gradient_error(x, [2], y, [2])", "np.max(np.abs(np.subtract(*tf.test.compute_gradient(f, [x]))))"),
    ("tf.NotDifferentiable('MyOp')", "tf.no_gradient('MyOp')"),
    ("tf.NoGradient('MyOtherOp')", "tf.no_gradient('MyOtherOp')"),
    ("tf.RegisterShape('MyOp')", "# .SetShapeFn(…) in C++, behind REGISTER_OP"),
    ("tf.user_ops.my_fact()", "tf.raw_ops.Fact()"),
    ("tf.random_normal([2])", "tf.random.normal([2])"),
    ("tf.set_random_seed(1)", "tf.random.set_seed(1)"),
    ("tf.to_float(x)", "tf.cast(x, tf.float32)"),
    ("tf.log(x)", "tf.math.log(x)"),
    ("tf.is_nan(x)", "tf.math.is_nan(x)"),
    ("tf.mul(x, x)", "x * x"),
    ("tf.pack([x, x])", "tf.stack([x, x])"),
    ("tf.concat(0, [x, x])", "tf.concat([x, x], axis=0)"),
    ("tf.batch_matmul(a, a)", "tf.matmul(a, a)"),
    ("tf.matrix_inverse(a)", "tf.linalg.inv(a)"),
    ("tf.reduce_sum(a, 1, keep_dims=True)", "tf.reduce_sum(a, 1, keepdims=True)"),
    ("tf.extract_image_patches(images, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], 'VALID')", "tf.image.extract_patches(images, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], 'VALID')"),
    ("tf.space_to_depth(images, 2)", "tf.nn.space_to_depth(images, 2)"),
    ("tf.read_file(path)", "tf.io.read_file(path)"),
    ("tf.decode_raw(b'abcd', tf.uint8)", "tf.io.decode_raw(b'abcd', tf.uint8)"),
    ("tf.FixedLenFeature([], tf.int64)", "tf.io.FixedLenFeature([], tf.int64)"),
    ("tf.parse_single_example(record, {})", "tf.io.parse_single_example(record, {'n': tf.io.FixedLenFeature([], tf.int64, 0)})"),
    ("tf.python_io.TFRecordWriter(path)", "tf.io.TFRecordWriter(path)"),
    ("tf.TFRecordReader()", "tf.data.TFRecordDataset([path])"),
    ("tf.train.string_input_producer([path])", "tf.data.Dataset.from_tensor_slices([path])"),
    ("tf.train.start_queue_runners()", "# nothing: a loop over a tf.data.Dataset starts its threads"),
    ("tf.Print(x, [x])", "tf.print(x)"),
    ("tf.logging.info('x')", "tf.get_logger().info('x')"),
    ("tf.image_summary('x', images)", "tf.summary.image('x', images, step=0)"),
    ("tf.summary.FileWriter(folder)", "with tf.summary.create_file_writer(folder).as_default(): tf.summary.scalar('loss', 0.5, step=0)"),
    ("tf.train.Saver()", "tf.train.Checkpoint(v=v)"),
    ("tf.train.GradientDescentOptimizer(0.1)", "tf.keras.optimizers.SGD(0.1)"),
    ("tf.layers.dense(a, 3)", "tf.keras.layers.Dense(3)(a)"),
    ("tf.ConfigProto(inter_op_parallelism_threads=2)", f"tf.config.threading.set_inter_op_parallelism_threads(2)  {FIRST}"),
    ("tf.GPUOptions(allow_growth=True)", f"for gpu in tf.config.list_physical_devices('GPU'): tf.config.experimental.set_memory_growth(gpu, True)  {FIRST}"),
    ("tf.app.flags.DEFINE_integer('steps', 5, 'how many')", "from absl import flags\nflags.DEFINE_integer('steps', 5, 'how many')"),
    ("tf.TensorShape([2])[0].value", "tf.TensorShape([2])[0]"),
    ("tf.contrib", "tf.math, tf.image, tf.nn  # or a package of its own"),
    ("import _pywrap_tensorflow  # SWIG", "from tensorflow.python import _pywrap_tfe  # pybind11"),
    ("open(tf.sysconfig.get_include() + '/tensorflow/core/ops/ops.pbtxt')", "from tensorflow.python.framework import op_def_registry\nop_def_registry.get('MatMul')"),
    ("tf.distribute.Server({'worker': ['localhost:0']}, protocol='grpc+verbs')  # RDMA", "tf.distribute.Server({'worker': ['localhost:0']}, protocol='grpc', start=False)  # and NCCL between GPUs"),
]  # fmt: skip

# Of C, and of headers that only nvcc can read: a name, its successor, and the header in which the first is looked for.
UTIL, C_API = "tensorflow/core/util", "tensorflow/c/c_api.h"
HEADERS = [
    ("GetCudaLaunchConfig(n, device)", "GetGpuLaunchConfig(n, device)", f"{UTIL}/gpu_launch_config.h"),
    ("CUDA_1D_KERNEL_LOOP(i, n)", "for (int i : GpuGridRangeX(n))", f"{UTIL}/gpu_kernel_helper.h"),
    ("GPU_1D_KERNEL_LOOP(i, n)", "for (int i : GpuGridRangeX(n))", f"{UTIL}/gpu_kernel_helper.h"),
    ("CudaLaunchKernel(kernel, blocks, threads, 0, stream, x)", "GpuLaunchKernel(kernel, blocks, threads, 0, stream, x)", f"{UTIL}/gpu_kernel_helper.h"),
    ("context->eigen_gpu_device()", "context->eigen_device<Eigen::GpuDevice>()", "tensorflow/core/framework/op_kernel.h"),
    ("perftools::gputools::Stream* stream", "stream_executor::Stream* stream", "xla/stream_executor/stream.h"),
    ("CudaAtomicAdd(sum, x)", "GpuAtomicAdd(sum, x)", f"{UTIL}/gpu_device_functions.h"),
    ("TF_NewNode(graph, op, name)", "TF_NewOperation(graph, op, name)", C_API),
    ("TF_FinishNode(description, status)", "TF_FinishOperation(description, status)", C_API),
    ("TF_NodeDescription*", "TF_OperationDescription*", C_API),
    ("TF_Node*", "TF_Operation*", C_API),
    ("TF_Port", "TF_Output", C_API),
    ("TF_GraphNodeByName(graph, name)", "TF_GraphOperationByName(graph, name)", C_API),
    ("TF_NewSessionWithGraph(graph, options, status)", "TF_NewSession(graph, options, status)", C_API),
]  # fmt: skip
INCLUDES = [
    ("tensorflow/core/public/tensor_c_api.h", "tensorflow/c/c_api.h"),
    ("tensorflow/core/util/cuda_kernel_helper.h", "tensorflow/core/util/gpu_kernel_helper.h"),
    ("external/cub_archive/cub/device/device_reduce.cuh", "tensorflow/core/kernels/gpu_prim.h"),
    ("third_party/eigen3/unsupported/Eigen/CXX11/Tensor", "unsupported/Eigen/CXX11/Tensor"),
]  # fmt: skip
SEARCHED = r"[TG][FP]U?_\w+|C[Uu]\w+|Gpu\w+|gputools|stream_executor|eigen\w+"
# The line that compiled an op, and where it is shown today.
BUILD = (
    "g++ -std=c++11 -shared -fPIC -I $TF_INC -D_GLIBCXX_USE_CXX11_ABI=0 zero_out.cc -o zero_out.so",
    "g++ -shared -fPIC -O2 $CFLAGS zero_out.cc -o zero_out.so $LFLAGS  # see below",
)


@contextlib.contextmanager
def without_stderr():
    """Drops what C++ prints, as `tf.print` does."""
    kept = os.dup(2)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def says(code: str) -> str:
    """Runs lines of Python, such as those above; returns the error, or "" if there is none."""
    if code.endswith(FIRST):  # TensorFlow has run ops here
        ran = subprocess.run(
            [sys.executable, "-c", f"import tensorflow as tf\n{code}\ntf.zeros([])"],
            capture_output=True,
            text=True,
        )
        return ran.stderr if ran.returncode else ""
    folder = tempfile.TemporaryDirectory()
    names = {
        "np": np,
        "tf": tf,
        "f": tf.square,
        "x": tf.constant([1.0, 2.0]),
        "y": tf.constant([1.0, 4.0]),
        "v": tf.Variable(0.0),
        "a": tf.eye(2),
        "images": tf.zeros([1, 4, 4, 1]),
        "path": "/dev/null",
        "folder": folder.name,
        "record": tf.train.Example().SerializeToString(),
    }
    try:
        with folder, warnings.catch_warnings(), without_stderr():
            warnings.simplefilter("error", DeprecationWarning)
            exec(code, names)
    except Exception as error:
        message = str(error).splitlines()[0].replace(tf.sysconfig.get_include(), "…")
        message = re.sub(r"goo\.gle/debug\w*\s*$", "…", message)
        return f"{type(error).__name__}: {message}"
    return ""


def functions(path: Path) -> dict[str, tuple[int, int, list[str]]]:
    """From the name of each function or class of a C++ file to its first and last line and its code."""
    text, found = path.read_text(), {}
    text = text[text.index("namespace op_by_op {") :]
    skipped = path.read_text().count("\n") - text.count("\n")
    for match in re.finditer(
        r"^(?!namespace|using)\w[^;]*?\{\n(.*?)^\};?$", text, re.M | re.S
    ):
        head, body = match[0].split("{\n", 1)
        name = re.search(r"(?:struct (\w+)|(\w+)\()", head)
        first = skipped + text[: match.start()].count("\n") + 1
        lines = [line[2:] for line in body.splitlines()[:-1]]
        found[name[1] or name[2]] = first, first + match[0].count("\n"), lines
    return found


def headers_say() -> list[tuple[str, str, str]]:
    """For each of HEADERS: the old line, what becomes of it, and the new line."""
    include = Path(tf.sysconfig.get_include())
    texts = {file: (include / file).read_text() for *_, file in HEADERS}
    rows = []
    for old, new, file in HEADERS:
        name, successor = (re.search(SEARCHED, line)[0] for line in (old, new))
        assert any(re.search(rf"\b{successor}\b", text) for text in texts.values())
        there = re.search(rf"\b{name}\b", texts[file])
        short = file.rpartition("/")[2]
        rows.append((old, f"{'still' if there else 'no longer'} in {short}", new))
    return rows


def compiled_rows() -> list[tuple[str, str, str]]:
    """For each of INCLUDES, and BUILD: the old line, what g++ says, and the new line."""
    include = Path(tf.sysconfig.get_include())
    rows = []
    for old, new in INCLUDES:
        assert (include / new).exists(), new
        said = error_of(f"#include <{old}>")
        rows.append((f"#include <{old}>", said, f"#include <{new}>"))
    options = "-std=c++11", "-D_GLIBCXX_USE_CXX11_ABI=0"
    said = error_of('#include "tensorflow/core/framework/op.h"', *options)
    return [*rows, (BUILD[0], said, BUILD[1])]


def error_of(code: str, *options: str) -> str:
    """The first error of the compiler."""
    command = ["c++", *options, "-isystem", tf.sysconfig.get_include()]
    command += ["-fsyntax-only", "-x", "c++", "-"]
    run = subprocess.run(command, input=code, capture_output=True, text=True)
    found = re.search(r"(?:fatal )?error: .*", run.stderr)
    return found[0] if found else ""


def cpp_rows() -> list[tuple[str, str, str]]:
    """The same for C++: the lines that differ between wrong_old_names.cc and old_names.cc."""
    old, new = (
        functions(HERE / name) for name in ("wrong_old_names.cc", "old_names.cc")
    )
    said, rows = compiler_says(), []
    for name, (*_, before) in old.items():
        after = new[name][2]
        pair = [
            "\n".join(line for line in one if line not in other)
            for one, other in ((before, after), (after, before))
        ]
        rows.append((pair[0].strip(), shortened(said[name]), pair[1].strip()))
    return rows


def shortened(said: str) -> str:
    """What the compiler says, without the types that it spells out."""
    said = re.sub(r" \{aka .*?\}| \[with .*\](?=’)", "", said)
    said = re.sub(r"\babsl::lts_\d+::", "absl::", said)
    said = re.sub(r"‘using (\w+) = .*’ is", r"‘\1’ is", said)
    return re.sub(r"‘[\w:]+ (?:tsl::)?([\w:]+)\(.*\)’ is", r"‘\1’ is", said)


def compiler_says() -> dict[str, str]:
    """What g++ says of each function of wrong_old_names.cc; "" is nothing."""
    path = HERE / "wrong_old_names.cc"
    command = ["c++", *precompiled.flags(), "-fsyntax-only", path]
    run = subprocess.run(command, capture_output=True, text=True)
    found = dict.fromkeys(functions(path), "")
    pattern = rf"{path.name}:(\d+):\d+: (error|warning): (.*)"
    for line, kind, what in re.findall(pattern, run.stderr):
        for name, (first, last, _) in functions(path).items():
            if first <= int(line) <= last and not found[name]:
                found[name] = f"{kind}: {what.partition(' [-W')[0]}"
    return found
