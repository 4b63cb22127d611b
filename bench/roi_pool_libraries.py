"""What bench/roi_pool.py measures: max RoI pooling in each library, in a process of its own.

A library is a class: made with a number of threads, it gives for a workload its ways to compute a task, as `Way`s by
task and name. Inputs are converted to the library's own layout beforehand.
"""

import contextlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from measure import mean_time
from roi_pool_workloads import Workload

LIBRARY = Path(__file__).parents[1] / "examples" / "roi_pool" / "libroi_pool.so"
WITH, WITHOUT, GRADIENT = "with argmax", "without argmax", "gradient"
RESULTS = {WITH: ("pooled", "argmax"), WITHOUT: ("pooled",), GRADIENT: ("gradient",)}
Key = tuple[str, str]  # task and name of a way


@dataclass
class Way:
    """What is timed, and what makes an array in RoiPool's layout of each of its outputs.

    `counted` gives the seconds of the last run that count, where that is not the whole run.
    """

    run: Callable[[], object]
    array: Callable[[object], np.ndarray]
    counted: Callable[[], float] | None = None

    def results(self, task: str) -> dict[str, np.ndarray]:
        """What it computes, by name; not all libraries tell the places of the maxima."""
        outputs = self.run()
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        return dict(zip(RESULTS[task], map(self.array, outputs)))


def channels_first(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.moveaxis(array, -1, 1))


def channels_last(tensor) -> np.ndarray:
    return np.moveaxis(tensor.numpy(), 1, -1)


class TensorFlow:
    """Our ops, the first of each task, and compositions of TensorFlow's."""

    modules = ("tensorflow",)

    def __init__(self, threads: int) -> None:
        import tensorflow as tf

        tf.get_logger().setLevel("ERROR")
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        self.tf, self.op = tf, tf.load_op_library(str(LIBRARY))

    def ways(self, workload: Workload) -> dict[Key, Way]:
        import stock_ops
        import stock_windows

        tf, op, windows = self.tf, self.op, stock_windows.roi_pool
        features, rois = tf.constant(workload.features()), tf.constant(workload.rois())
        gradient = tf.constant(workload.gradient())
        shape = tf.constant(features.shape)
        given = features, rois, workload.pooled, workload.pooled, workload.scale
        _, argmax = op.roi_pool(*given)
        functions = {
            (WITH, "RoiPool"): lambda: op.roi_pool(*given),
            (WITH, "TensorFlow, windows"): lambda: windows(*given, True),
            (WITHOUT, "RoiPoolInference"): lambda: op.roi_pool_inference(*given),
            (WITHOUT, "TensorFlow, list of pixels"): lambda: stock_ops.roi_pool(*given),
            (WITHOUT, "TensorFlow, windows"): lambda: windows(*given, False)[0],
            (GRADIENT, "RoiPoolGrad"): lambda: op.roi_pool_grad(
                gradient, argmax, rois, shape
            ),
        }
        return {key: Way(run, np.asarray) for key, run in functions.items()}


class OnnxRuntime:
    """MaxRoiPool, into memory that is given."""

    modules = ("onnx", "onnxruntime")

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def ways(self, workload: Workload) -> dict[Key, Way]:
        import onnx
        import onnxruntime

        features, rois = channels_first(workload.features()), workload.rois()
        size = [workload.pooled] * 2
        shape = [len(rois), workload.channels, *size]
        model = onnx.parser.parse_model(f"""
            <ir_version: 8, opset_import: ["": 13]>
            bench (float{[*features.shape]} x, float{[*rois.shape]} rois) => (float{shape} y)
            {{ y = MaxRoiPool <pooled_shape = {size}, spatial_scale = {workload.scale}> (x, rois) }}
        """)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        y = onnxruntime.OrtValue.ortvalue_from_shape_and_type(shape, np.float32)
        binding = session.io_binding()
        binding.bind_cpu_input("x", features)
        binding.bind_cpu_input("rois", rois)
        binding.bind_ortvalue_output("y", y)

        def run() -> object:
            session.run_with_iobinding(binding)
            return y

        return {(WITHOUT, "onnxruntime"): Way(run, channels_last)}


class OpenVINO:
    """ROIPooling in float32: by default the CPU may take fewer bits.

    Its kernel takes blocked layouts only, so OpenVINO puts a node that reorders before it and another behind it.
    The time of the pooling node alone is measured too.
    """

    modules = ("openvino",)

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def ways(self, workload: Workload) -> dict[Key, Way]:
        import openvino
        from openvino import opset13 as opset

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

        def array(made: object) -> np.ndarray:
            return np.moveaxis(made.get_output_tensor(0).data, 1, -1)

        def run(made: object, inputs: object = (features, rois)) -> object:
            made.infer()  # of inputs whose memory it shares
            return made

        whole, counting = request(), request(PERF_COUNT=True)

        def node() -> float:
            (took,) = (
                info.real_time.total_seconds()
                for info in counting.get_profiling_info()
                if info.node_type == "ROIPooling"
            )
            return took

        return {
            (WITHOUT, "OpenVINO"): Way(lambda: run(whole), array),
            (WITHOUT, "OpenVINO, node"): Way(lambda: run(counting), array, node),
        }


class Paddle:
    """paddle.vision.ops.roi_pool, which finds the maxima's places too, and its gradient."""

    modules = ("paddle",)

    def __init__(self, threads: int) -> None:
        with contextlib.redirect_stderr(io.StringIO()):  # advice on OMP_NUM_THREADS
            import paddle

        paddle.device.set_device("cpu")
        self.paddle = paddle

    def ways(self, workload: Workload) -> dict[Key, Way]:
        paddle = self.paddle
        x = channels_first(workload.features())
        features = paddle.to_tensor(x, stop_gradient=False)
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

        return {
            (WITH, "Paddle"): Way(forward, channels_last),
            (GRADIENT, "Paddle"): Way(backward, channels_last),
        }


class Torchvision:
    """torchvision.ops.roi_pool, which finds the maxima's places too, and its gradient."""

    modules = ("torch", "torchvision")

    def __init__(self, threads: int) -> None:
        import torch
        import torchvision

        torch.set_num_threads(threads)
        self.torch, self.ops = torch, torchvision and torch.ops.torchvision

    def ways(self, workload: Workload) -> dict[Key, Way]:
        torch, ops, size = self.torch, self.ops, [workload.pooled] * 2
        features = torch.from_numpy(channels_first(workload.features()))
        gradient = torch.from_numpy(channels_first(workload.gradient()))
        rois = torch.from_numpy(workload.rois())

        def forward() -> object:
            return ops.roi_pool(features, rois, workload.scale, *size)

        _, argmax = forward()

        def backward() -> object:
            return ops._roi_pool_backward(
                gradient, rois, argmax, workload.scale, *size, *features.shape
            )

        return {
            (WITH, "torchvision"): Way(forward, channels_last),
            (GRADIENT, "torchvision"): Way(backward, channels_last),
        }


LIBRARIES = {
    library.__name__: library
    for library in (TensorFlow, OnnxRuntime, OpenVINO, Paddle, Torchvision)
}


class Worker:
    """What goes on in a library's process, at the request of the bench."""

    def __init__(self, library: str, threads: int) -> None:
        self.peer = LIBRARIES[library](threads)

    def prepare(self, workload: Workload, references: str) -> dict[Key, dict]:
        """Gets ready. For each way and each of its results: the share of elements that differ from the reference,
        and the largest difference. What has no reference yet becomes it.
        """
        self.known = self.peer.ways(workload)
        return {
            key: {
                result: difference(array, Path(references, f"{result}.npy"))
                for result, array in way.results(key[0]).items()
            }
            for key, way in self.known.items()
        }

    def seconds(self, task: str, name: str, span: float) -> float:
        """The mean of what counts of a call, of as many as take about so many seconds."""
        way, counted = self.known[task, name], []
        if not way.counted:
            return mean_time(way.run, span)

        def call() -> None:
            way.run()
            counted.append(way.counted())

        mean_time(call, span)
        return float(np.mean(counted[1:]))


def difference(array: np.ndarray, path: Path) -> tuple[float, float]:
    if not path.exists():
        np.save(path, array)
    reference = np.load(path, mmap_mode="r")
    if array.shape != reference.shape:
        raise ValueError(f"{path.stem}: {array.shape}, not {reference.shape}")
    different = array != reference
    if not different.any():
        return 0.0, 0.0
    furthest = np.abs(array[different] - reference[different]).max()
    return float(different.mean()), float(furthest)
