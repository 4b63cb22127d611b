"""What bench/roi_pool.py measures: max RoI pooling in each library, in a process of its own.

A library is a class: made with a number of threads, it gives for a workload its ways to compute a task, as `Way`s by
name. Inputs are converted to the library's own layout beforehand.
"""

import contextlib
import io
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from compiler import streaming
from roi_pool_workloads import Workload

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "roi_pool"
SLOW = 0.2  # seconds


@dataclass
class Way:
    """What is timed, and what it computed, as arrays in RoiPool's layout by name: pooled, argmax, gradient.

    `counted` gives the seconds of the last run that count, where that is not the whole run.
    """

    run: Callable[[], object]
    results: Callable[[], dict[str, np.ndarray]]
    counted: Callable[[], float] | None = None


def channels_first(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.moveaxis(array, -1, 1))


def ways_of(names: tuple[str, ...], run: Callable) -> Way:
    """What a TensorFlow function computes, whose outputs have these names."""

    def results() -> dict[str, np.ndarray]:
        outputs = run()
        tensors = outputs if isinstance(outputs, tuple) else [outputs]
        return {name: tensor.numpy() for name, tensor in zip(names, tensors)}

    return Way(run, results)


POOLED, BOTH, BACK = ("pooled",), ("pooled", "argmax"), ("gradient",)


class TensorFlow:
    """RoiPool and TensorFlow's own ops, as one gets them without asking for another setting."""

    def __init__(self, threads: int) -> None:
        sys.path.append(str(EXAMPLE))
        import stock_ops
        import stock_windows
        import tensorflow as tf

        tf.get_logger().setLevel("ERROR")
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        self.tf = tf
        # Not the module `roi_pool` of the example: the bench has that name, too.
        self.op = tf.load_op_library(str(EXAMPLE / "libroi_pool.so"))
        variants = tf.load_op_library(str(EXAMPLE / "libroi_pool_variants.so"))
        self.variant = variants.roi_pool_variant
        self.listed, self.windows = stock_ops.roi_pool, stock_windows.roi_pool

    def ways(self, workload: Workload) -> dict[str, Way]:
        """All of them."""
        tf, op = self.tf, self.op
        features, rois = tf.constant(workload.features()), tf.constant(workload.rois())
        gradient = tf.constant(workload.gradient())
        shape = tf.constant(features.shape)
        sizes = workload.pooled, workload.pooled, workload.scale
        _, argmax = op.roi_pool(features, rois, *sizes)
        functions = {
            "RoiPool": (BOTH, lambda: op.roi_pool(features, rois, *sizes)),
            "RoiPoolInference": (
                POOLED,
                lambda: op.roi_pool_inference(features, rois, *sizes),
            ),
            "RoiPoolGrad": (
                BACK,
                lambda: op.roi_pool_grad(gradient, argmax, rois, shape),
            ),
            **self.others(workload, features, rois, gradient, argmax),
        }
        return {name: ways_of(*function) for name, function in functions.items()}

    def others(
        self, workload: Workload, features, rois, gradient, argmax
    ) -> dict[str, tuple]:
        """What else is measured: names of the outputs, and a function."""
        tf = self.tf
        if workload.calls:
            few, k = tf.ones([2, 4]), tf.constant(2)
            return {
                "TopKV2": ((), lambda: tf.raw_ops.TopKV2(input=few, k=k)),
                "Maximum": ((), lambda: tf.raw_ops.Maximum(x=few, y=few)),
            }
        image = tf.cast(rois[:, 0], tf.int32)[:, None, None, None]
        pixels = workload.height * workload.width
        sizes = workload.pooled, workload.pooled, workload.scale

        def scatter() -> tf.Tensor:
            at = (image * pixels + argmax) * workload.channels
            at = tf.where(argmax < 0, -1, at + tf.range(workload.channels))
            flat = tf.math.unsorted_segment_sum(
                gradient, at, features.shape.num_elements()
            )
            return tf.reshape(flat, features.shape)

        def windows(with_argmax: bool) -> Callable:
            return lambda: self.windows(features, rois, *sizes, with_argmax)

        return {
            "stock: list of pixels": (
                POOLED,
                lambda: self.listed(features, rois, *sizes),
            ),
            "stock: windows": (POOLED, windows(False)),
            "stock: windows and argmax": (BOTH, windows(True)),
            "stock: unsorted_segment_sum": (BACK, scatter),
        }

    def in_a_function(self, workload: Workload, folding: bool) -> np.ndarray:
        """What the list of pixels gives inside of a tf.function, with and without constant folding."""
        tf = self.tf
        tf.config.optimizer.set_experimental_options({"constant_folding": folding})
        sizes = workload.pooled, workload.pooled, workload.scale
        run = tf.function(lambda f, r: self.listed(f, r, *sizes), autograph=False)
        pooled = run(tf.constant(workload.features()), tf.constant(workload.rois()))
        tf.config.optimizer.set_experimental_options({"constant_folding": True})
        return pooled.numpy()


class KeptMemory(TensorFlow):
    """RoiPool and its variants, in a process whose allocators keep memory that is freed."""

    variants = [
        ("plain", "best"),
        ("channels", "best"),
        *((k, p) for k in ("direct", "packed") for p in ("baseline", "avx2", "avx512")),
    ]

    def ways(self, workload: Workload) -> dict[str, Way]:
        """RoiPool's."""
        ways = super().ways(workload)
        return {
            name if name.startswith("kernel") else f"{name}, kept memory": way
            for name, way in ways.items()
        }

    def others(
        self, workload: Workload, features, rois, gradient, argmax
    ) -> dict[str, tuple]:
        """The variants that this processor has."""
        tf, variant, found = self.tf, self.variant, {}
        sizes = workload.pooled, workload.pooled, workload.scale
        for kernel, path in [] if workload.calls else self.variants:

            def run(kernel: str = kernel, path: str = path) -> tuple:
                return variant(features, rois, *sizes, kernel, path)

            try:
                run()
            except tf.errors.UnimplementedError:
                continue
            name = kernel if path == "best" else f"{kernel}, {path}"
            found[f"kernel {name}"] = BOTH, run
        return found


class OneDnnOff(TensorFlow):
    """RoiPool where TensorFlow's allocator gives memory back to the C library at once."""

    def ways(self, workload: Workload) -> dict[str, Way]:
        """RoiPool's."""
        return {
            f"{name}, oneDNN off": way for name, way in super().ways(workload).items()
        }

    def others(
        self, workload: Workload, features, rois, gradient, argmax
    ) -> dict[str, tuple]:
        """RoiPool that does not ask for huge pages."""
        sizes = workload.pooled, workload.pooled, workload.scale

        def small() -> tuple:
            return self.variant(features, rois, *sizes, "best", large_pages=False)

        return {"RoiPool, small pages": (BOTH, small)}


class OnnxRuntime:
    """MaxRoiPool, into memory that is given."""

    def __init__(self, threads: int) -> None:
        import onnx
        import onnxruntime

        self.onnx, self.runtime, self.threads = onnx, onnxruntime, threads

    def ways(self, workload: Workload) -> dict[str, Way]:
        onnx, runtime = self.onnx, self.runtime
        features, rois = channels_first(workload.features()), workload.rois()
        shape = [len(rois), workload.channels, workload.pooled, workload.pooled]
        tensor = onnx.helper.make_tensor_value_info
        node = onnx.helper.make_node(
            "MaxRoiPool",
            ["features", "rois"],
            ["pooled"],
            pooled_shape=shape[2:],
            spatial_scale=workload.scale,
        )
        graph = onnx.helper.make_graph(
            [node],
            "bench",
            [
                tensor("features", onnx.TensorProto.FLOAT, features.shape),
                tensor("rois", onnx.TensorProto.FLOAT, rois.shape),
            ],
            [tensor("pooled", onnx.TensorProto.FLOAT, shape)],
        )
        model = onnx.helper.make_model(
            graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8
        )
        options = runtime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        session = runtime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        pooled = runtime.OrtValue.ortvalue_from_shape_and_type(shape, np.float32)
        binding = session.io_binding()
        binding.bind_cpu_input("features", features)
        binding.bind_cpu_input("rois", rois)
        binding.bind_ortvalue_output("pooled", pooled)

        def results() -> dict[str, np.ndarray]:
            session.run_with_iobinding(binding)
            return {"pooled": np.moveaxis(pooled.numpy(), 1, -1)}

        run = lambda: session.run_with_iobinding(binding)  # noqa: E731
        return {"onnxruntime": Way(run, results)}


class OpenVINO:
    """ROIPooling in float32: by default the CPU may take fewer bits.

    Its kernel takes blocked layouts only, so OpenVINO puts a node that reorders before it and another behind it.
    The time of the pooling node alone is measured too.
    """

    def __init__(self, threads: int) -> None:
        import openvino
        from openvino import opset13

        self.openvino, self.opset, self.threads = openvino, opset13, threads

    def ways(self, workload: Workload) -> dict[str, Way]:
        openvino, opset = self.openvino, self.opset
        features, rois = channels_first(workload.features()), workload.rois()
        inputs = [opset.parameter(x.shape, np.float32) for x in (features, rois)]
        size = [workload.pooled] * 2
        pooled = opset.roi_pooling(*inputs, size, workload.scale, "max")
        model = openvino.Model([pooled], inputs)

        def request(**options: object) -> object:
            settings = {
                "INFERENCE_PRECISION_HINT": "f32",
                "INFERENCE_NUM_THREADS": self.threads,
                "NUM_STREAMS": 1,
            }
            compiled = openvino.Core().compile_model(model, "CPU", settings | options)
            made = compiled.create_infer_request()
            for i, array in enumerate((features, rois)):
                made.set_input_tensor(i, openvino.Tensor(array, shared_memory=True))
            return made

        def results_of(request: object) -> Callable:
            def results() -> dict[str, np.ndarray]:
                request.infer()
                return {"pooled": np.moveaxis(request.get_output_tensor(0).data, 1, -1)}

            results.inputs = features, rois  # whose memory the request shares
            return results

        whole, counting = request(), request(PERF_COUNT=True)

        def node() -> float:
            (took,) = (
                info.real_time.total_seconds()
                for info in counting.get_profiling_info()
                if info.node_type == "ROIPooling"
            )
            return took

        return {
            "OpenVINO": Way(whole.infer, results_of(whole)),
            "OpenVINO, node": Way(counting.infer, results_of(counting), node),
        }


class Paddle:
    """paddle.vision.ops.roi_pool, which finds the maxima's places too, and its gradient."""

    def __init__(self, threads: int) -> None:
        with contextlib.redirect_stderr(io.StringIO()):  # advice on OMP_NUM_THREADS
            import paddle

        paddle.device.set_device("cpu")
        self.paddle = paddle

    def ways(self, workload: Workload) -> dict[str, Way]:
        paddle = self.paddle
        features = paddle.to_tensor(
            channels_first(workload.features()), stop_gradient=False
        )
        rois = workload.rois()
        counts = np.bincount(rois[:, 0].astype(int), minlength=workload.batch)
        counts = paddle.to_tensor(counts.astype(np.int32))
        boxes = paddle.to_tensor(rois[:, 1:])
        gradient = paddle.to_tensor(channels_first(workload.gradient()))

        def forward() -> object:
            return paddle.vision.ops.roi_pool(
                features, boxes, counts, workload.pooled, workload.scale
            )

        pooled = forward()

        def backward() -> object:
            (result,) = paddle.grad(
                pooled, features, grad_outputs=gradient, retain_graph=True
            )
            return result

        def results(run: Callable, name: str) -> Callable:
            return lambda: {name: np.moveaxis(run().numpy(), 1, -1)}

        return {
            "Paddle": Way(forward, results(forward, "pooled")),
            "Paddle, gradient": Way(backward, results(backward, "gradient")),
        }


class Torchvision:
    """torchvision.ops.roi_pool, which finds the maxima's places too, and its gradient."""

    def __init__(self, threads: int) -> None:
        import torch
        import torchvision

        torch.set_num_threads(threads)
        self.torch, self.ops = torch, torchvision and torch.ops.torchvision

    def ways(self, workload: Workload) -> dict[str, Way]:
        torch, size = self.torch, [workload.pooled] * 2
        features = torch.from_numpy(channels_first(workload.features()))
        gradient = torch.from_numpy(channels_first(workload.gradient()))
        rois = torch.from_numpy(workload.rois())

        def forward() -> object:
            return self.ops.roi_pool(features, rois, workload.scale, *size)

        _, argmax = forward()

        def backward() -> object:
            return self.ops._roi_pool_backward(
                gradient, rois, argmax, workload.scale, *size, *features.shape
            )

        def results(run: Callable, *names: str) -> Callable:
            def call() -> dict[str, np.ndarray]:
                outputs = run() if len(names) > 1 else [run()]
                arrays = (np.moveaxis(output.numpy(), 1, -1) for output in outputs)
                return dict(zip(names, arrays))

            return call

        return {
            "torchvision": Way(forward, results(forward, "pooled", "argmax")),
            "torchvision, gradient": Way(backward, results(backward, "gradient")),
        }


class Streaming:
    """No pooling: a program that reads the pixels and writes each output once."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.library = streaming()

    def ways(self, workload: Workload) -> dict[str, Way]:
        """For each task the limits: each pixel is read once, or, but for the gradient, once for each region."""
        pooled, (once, for_each) = workload.pooled_bytes(), workload.read_bytes()
        pixels = 4 * workload.batch * workload.height * workload.width
        times = round(for_each / once)
        sizes = {
            "limit, with argmax": (once, 1, 2 * pooled),
            "limit, without argmax": (once, 1, pooled),
            "traffic, with argmax": (once, times, 2 * pooled),
            "traffic, without argmax": (once, times, pooled),
            "limit, gradient": (2 * pooled, 1, pixels * workload.channels),
        }
        # The buffers are shared: their first bytes are taken.
        source = _aligned(max(size for size, _, _ in sizes.values()))
        target = _aligned(max(size for _, _, size in sizes.values()))

        def way(read: int, times: int, written: int, streaming: bool) -> Way:
            def run() -> None:
                whence, whither = source.ctypes.data, target.ctypes.data
                self.library.ReadAndWrite(
                    whence, read, times, whither, written, self.threads, streaming
                )

            return Way(run, dict)

        return {
            f"{task}, {stores} stores": way(*size, stores == "streaming")
            for task, size in sizes.items()
            for stores in ("ordinary", "streaming")
        }


def _aligned(size: int) -> np.ndarray:
    """Bytes that begin at a multiple of 64 and have been written, so that they are in memory."""
    buffer = np.ones(size + 64, np.uint8)
    first = -buffer.ctypes.data % 64
    return buffer[first : first + size]


def page_faults() -> int:
    """How many pages this process has been given."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


LIBRARIES = {
    library.__name__: library
    for library in (
        TensorFlow,
        KeptMemory,
        OneDnnOff,
        OnnxRuntime,
        OpenVINO,
        Paddle,
        Torchvision,
        Streaming,
    )
}


class Worker:
    """What goes on in a library's process, at the request of the bench."""

    def __init__(self, library: str, threads: int) -> None:
        self.library = LIBRARIES[library](threads)
        self.known: dict[tuple[str, str], tuple[Way, float]] = {}

    def prepare(
        self, name: str, workload: Workload, references: str
    ) -> dict[str, tuple]:
        """Gets ready. For each way and each of its results: the share of elements that differ from the reference,
        and the largest difference. What has no reference yet becomes it.
        """
        summary = {}
        for way_name, way in self.library.ways(workload).items():
            start = time.perf_counter()
            results = way.results()
            seconds = time.perf_counter() - start
            differences = {
                result: self.compare(array, Path(references, f"{name}-{result}.npy"))
                for result, array in results.items()
            }
            if seconds < 2 * SLOW:  # or less: the first call is not like the others
                start = time.perf_counter()
                way.run()
                seconds = time.perf_counter() - start
            self.known[name, way_name] = way, seconds
            summary[way_name] = differences
        return summary

    @staticmethod
    def compare(array: np.ndarray, path: Path) -> tuple[float, float]:
        if not path.exists():
            np.save(path, array)
            return 0.0, 0.0
        reference = np.load(path, mmap_mode="r")
        if array.shape != reference.shape:
            raise ValueError(f"{path.stem}: {array.shape}, not {reference.shape}")
        different = array != reference
        if not different.any():
            return 0.0, 0.0
        furthest = np.abs(array[different] - reference[different]).max()
        return float(different.mean()), float(furthest)

    def in_a_function(
        self, name: str, workload: Workload, references: str
    ) -> dict[str, float]:
        """The shares of differing values of TensorFlow's own ops in a tf.function."""
        path = Path(references, f"{name}-pooled.npy")
        return {
            "with" if folding else "without": self.compare(
                self.library.in_a_function(workload, folding), path
            )[0]
            for folding in (True, False)
        }

    def measure(
        self, workload: str, name: str, span: float
    ) -> tuple[float, float, float]:
        """The mean time of a call, over so many seconds and at least one call, how many cores were busy, and how many
        pages the system handed out in a call.
        """
        way, seconds = self.known[workload, name]
        run = way.run
        if seconds < SLOW:
            run()  # after the other libraries' turns the caches are theirs
        calls, counted, faults = 0, 0.0, page_faults()
        start, busy = time.perf_counter(), time.process_time()
        while True:
            run()
            calls += 1
            counted += way.counted() if way.counted else 0
            elapsed = time.perf_counter() - start
            if elapsed >= span:
                break
        cores = (time.process_time() - busy) / elapsed
        faults = (page_faults() - faults) / calls
        return (counted if way.counted else elapsed) / calls, cores, faults
