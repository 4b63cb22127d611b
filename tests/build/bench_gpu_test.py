"""The bench of the GPU on the host: its kernels built by the C++ compiler, NumPy in the place of PyTorch."""

import os
import subprocess
import sys
import weakref
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
# The op's module before bench/roi_pool.py, which has its name.
sys.path += [
    str(ROOT / folder)
    for folder in (
        "docs",
        "docs/support",
        "examples/common",
        "examples/roi_pool",
        "bench",
    )
]

import gpu_tests  # noqa: E402
import measure  # noqa: E402
import measured  # noqa: E402
import roi_pool_gpu  # noqa: E402
from cuda_on_host import build_for_host  # noqa: E402
from roi_pool_ctypes import HERE, Launchers  # noqa: E402
from roi_pool_workloads import Workload  # noqa: E402

# They share a library.
pytestmark = pytest.mark.xdist_group("bench of the GPU")


class Tensor:
    """What the bench asks of a PyTorch tensor."""

    asked = weakref.WeakSet()  # those whose address is known

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.shape, self.nbytes = array.shape, array.nbytes

    def cuda(self) -> "Tensor":
        return self

    contiguous = cuda

    def int(self) -> "Tensor":
        return Tensor(self.array.astype(np.int32))

    def clone(self) -> "Tensor":
        return Tensor(self.array.copy())

    def copy_(self, other: "Tensor") -> None:
        self.array[...] = other.array

    def permute(self, *axes: int) -> "Tensor":
        return Tensor(np.ascontiguousarray(self.array.transpose(axes)))

    def data_ptr(self) -> int:
        Tensor.asked.add(self)
        return self.array.ctypes.data


class Event:
    """Two milliseconds are between two of them: one for each of the two calls."""

    def __init__(self, enable_timing: bool) -> None:
        assert enable_timing

    def record(self) -> None: ...

    synchronize = record

    def elapsed_time(self, end: "Event") -> float:
        return 2.0


def their_forward(features, rois, scale, height, width):
    features = features.array.transpose(0, 2, 3, 1)
    from roi_pool import roi_pool

    outputs = roi_pool(features, rois.array, height, width, scale)
    return [Tensor(x.numpy()).permute(0, 3, 1, 2) for x in outputs]


def their_backward(gradient, rois, argmax, scale, _height, _width, n, c, h, w):
    gradient, argmax = (x.array.transpose(0, 2, 3, 1) for x in (gradient, argmax))
    from roi_pool import roi_pool_grad

    back = roi_pool_grad(gradient, argmax, rois.array, feature_shape=[n, h, w, c])
    return Tensor(back.numpy()).permute(0, 3, 1, 2)


@pytest.fixture
def torch() -> SimpleNamespace:
    gpu = SimpleNamespace(name="Stand-in")
    return SimpleNamespace(
        int8=np.int8,
        from_numpy=Tensor,
        empty=lambda size, dtype: Tensor(np.full(size, 77, dtype)),
        empty_like=lambda x: Tensor(np.full_like(x.array, 77)),
        equal=lambda x, y: np.array_equal(x.array, y.array),
        allclose=lambda x, y, rtol, atol: np.allclose(x.array, y.array, rtol, atol),
        version=SimpleNamespace(cuda="0.0"),
        cuda=SimpleNamespace(
            Event=Event,
            empty_cache=lambda: None,
            get_device_properties=lambda _: gpu,
            current_stream=lambda: SimpleNamespace(cuda_stream=0),
        ),
        ops=SimpleNamespace(
            torchvision=SimpleNamespace(
                roi_pool=their_forward, _roi_pool_backward=their_backward
            )
        ),
    )


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Launchers:
    path = tmp_path_factory.mktemp("bench") / "libroi_pool_host.so"
    build_for_host(HERE / "roi_pool.cu.cc", path)
    return Launchers(path)


SMALL = Workload(2, 9, 12, 8, 6, 3, 0.5)


def test_the_whole_bench(torch, library, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(roi_pool_gpu, "import_torch", lambda: torch)
    monkeypatch.setattr(roi_pool_gpu, "launchers", lambda: library)
    monkeypatch.setattr(roi_pool_gpu, "copy_bandwidth", lambda *_: 1e9)
    monkeypatch.setattr(roi_pool_gpu, "WORKLOADS", dict.fromkeys("abc", SMALL))
    output = str(tmp_path / "roi_pool_gpu.csv")
    few = ["--rounds", "3", "--calls", "2"]
    monkeypatch.setattr(sys, "argv", ["bench", *few, "--output", output])
    roi_pool_gpu.main()

    monkeypatch.setattr(measured, "BENCH", tmp_path)
    table = measured.read("roi_pool_gpu")
    assert table.value("machine").endswith("Stand-in, CUDA 0.0 of PyTorch")
    assert len(table.rows) == 3 * 3 * 2
    assert {row["ratio"] for row in table.rows} == {"1.00"}
    assert len(measure.missed(table.rows)) == 6
    (row,) = table.where(workload="a", task="with argmax", way="RoiPool")
    big = roi_pool_gpu.scaled(SMALL)
    moved = big.read_bytes()[0] + 2 * big.pooled_bytes()
    assert row["share of copy"] == f"{moved / 1e-3 / 1e9:.2f}"

    for what, axis in (("ratio", "as torchvision"), ("share of copy", "of a copy")):
        picture = measured.on_gpu(what).data
        assert axis in picture
        assert all(task in picture for task in ("with argmax", "gradient"))


def test_tensors_live_as_long_as_the_functions_that_know_their_addresses(
    torch, library
):
    ways = roi_pool_gpu.ways(torch, library, SMALL)
    assert len(Tensor.asked) == 7
    del ways
    assert not Tensor.asked


@pytest.mark.parametrize(
    ("which", "named"), [(0, "pooled"), (1, "argmax"), (2, "gradient")]
)
def test_another_result_is_one_line(torch, library, which, named):
    peer = torch.ops.torchvision
    if which < 2:

        def forward(*arguments):
            outputs = their_forward(*arguments)
            outputs[which].array[0, 0, 0, 0] += 1
            return outputs

        peer.roi_pool = forward
    else:
        peer._roi_pool_backward = lambda *a: Tensor(their_backward(*a).array + 1)
    with pytest.raises(SystemExit, match=f"what it should be:.* {named}"):
        roi_pool_gpu.ways(torch, library, SMALL)


def test_copy_bandwidth_counts_what_is_read_and_written(torch, monkeypatch):
    monkeypatch.setattr(torch, "empty", lambda size, dtype: Tensor(np.ones(4, dtype)))
    assert roi_pool_gpu.copy_bandwidth(torch, 3, 2) == 2 * 4 / 1e-3


SMI = "#!/bin/sh\necho 'A GPU, 1.2'\n"


def test_without_pytorch_one_line_says_what_to_do(tmp_path):
    (tmp_path / "nvidia-smi").write_text(SMI)
    (tmp_path / "nvidia-smi").chmod(0o755)
    (tmp_path / "torch.py").write_text("raise ImportError('No torch here')\n")
    run = subprocess.run(
        [sys.executable, ROOT / "bench" / "roi_pool_gpu.py"],
        capture_output=True,
        text=True,
        env={"PATH": str(tmp_path), "PYTHONPATH": str(tmp_path)},
    )
    assert run.returncode == 1
    (line,) = run.stderr.splitlines()
    assert line.startswith("make bench-gpu: No torch here: ")
    assert line.endswith("make bench-gpu PYTHON=python")


SANITIZER = """#!/bin/sh
# --tool TOOL --log-file FILE COMMAND...
echo "========= ERROR SUMMARY: $ERRORS errors" > "$4"
shift 4
exec "$@"
"""


@pytest.mark.parametrize(("passes", "errors"), [(True, "0"), (True, "2"), (False, "0")])
def test_the_table_of_the_tests_on_a_gpu(tmp_path, monkeypatch, errors, passes):
    for name, text in {"compute-sanitizer": SANITIZER, "nvidia-smi": SMI}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    tests = tmp_path / "some_test.py"
    tests.write_text(
        "import os\n"
        f"def test_one(): assert {passes}\n"
        "def test_two(): assert os.environ['GPUS_OF_TESTS'] == '0'\n"
    )
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("ERRORS", errors)
    monkeypatch.setattr(gpu_tests, "ALONE", [str(tests)])
    monkeypatch.setattr(gpu_tests, "LAUNCHERS", [str(tests), "-k", "one"])
    monkeypatch.setattr(measured, "BENCH", tmp_path)
    output = tmp_path / "gpu_tests.csv"
    monkeypatch.setattr(sys, "argv", ["gpu_tests.py", "--output", str(output)])
    if passes and errors == "0":
        gpu_tests.main()
    else:
        with pytest.raises(SystemExit, match="^make test-gpu: tests failed or errors"):
            gpu_tests.main()
    table = measured.read("gpu_tests")
    assert table.value("machine").endswith("A GPU, driver 1.2")
    alone, *under = table.rows
    assert (alone["passed"], alone["failed"]) == (("2", "0") if passes else ("1", "1"))
    assert alone["errors"] == "" and {row["errors"] for row in under} == {errors}
    assert [row["under"] for row in under] == gpu_tests.TOOLS
    assert {row["passed"] for row in under} == {str(int(passes))}
