"""Tests of RowMedian, of both headers and of the limits: `pytest examples/stable_abi`."""

import ctypes
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import tensorflow as tf
from limits import error_of, limits, rows
from op_library import load_op_library
from stable_abi import row_median
from stable_abi_reference import (
    row_kth_reference,
    row_median_reference,
    zero_out_reference,
)

from opcheck.testing import op_test

HERE = Path(__file__).parent
DTYPES = ["float16", "bfloat16", "float32", "float64", "int32", "int64"]
SHAPES = [(1,), (7,), (2, 6), (3, 1, 4, 5), (0, 3), (2, 0, 3), (900, 101)]
REFUSED = (tf.errors.InvalidArgumentError, ValueError)
zero_out_by_hand = load_op_library(HERE / "libby_hand.so").zero_out_by_hand
zero_out_by_layer = load_op_library(HERE / "libby_layer.so").zero_out_by_layer
row_kth = load_op_library(HERE / "libsolution_row_kth.so", "row_kth").row_kth

test_row_median_keeps_its_promises = op_test(
    row_median, np.float32([[1, -2, 3], [0, 5, -4]]), reference=row_median_reference
)


def numbers(shape, dtype="float32"):
    """Whole numbers, of which some are equal."""
    values = np.random.default_rng(0).integers(-20, 20, shape)
    return values.astype(tf.as_dtype(dtype).as_numpy_dtype)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_row_median_equals_the_reference(mode, dtype, shape, upper):
    x = numbers(shape, dtype)
    median, index = mode(row_median)(x, upper=upper)
    expected = row_median_reference(x, upper)
    np.testing.assert_array_equal(median.numpy(), expected[0], strict=True)
    np.testing.assert_array_equal(index.numpy(), expected[1], strict=True)


@pytest.mark.parametrize("index_type", [tf.int32, tf.int64])
def test_the_index_has_the_type_that_was_asked_for(index_type):
    found = row_median([[3.0, 1.0, 2.0]], index_type=index_type)
    assert found.index.dtype == index_type and found.index.numpy() == [2]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_not_a_number_infinities_and_zeros(dtype):
    nan, inf = np.nan, np.inf
    x = tf.constant([[1, nan, nan], [inf, -inf, 5], [0.0, -0.0, -0.0]], dtype)
    median, index = row_median(x)
    assert index.numpy().tolist() == [1, 2, 1]
    median = tf.cast(median, tf.float64).numpy()
    np.testing.assert_array_equal(median, [nan, 5, -0.0])
    assert np.signbit(median[2])


def test_a_scalar_and_no_columns_are_refused(mode):
    with pytest.raises(REFUSED, match="'x' must have rank 1"):
        mode(row_median)(tf.constant(1.0))
    with pytest.raises(
        REFUSED, match="'x' must have (columns|1 to .* shape \\[2,0\\])"
    ):
        mode(row_median)(tf.zeros([2, 0]))
    with pytest.raises((*REFUSED, TypeError), match="T.*list of allowed values"):
        mode(row_median)(tf.constant(["text"]))


def test_shapes_are_inferred():
    traced = tf.function(row_median, autograph=False)
    for shape, rows_of in (
        ([None, 3], [None]),
        ([2, None, 4], [2, None]),
        (None, None),
    ):
        found = traced.get_concrete_function(tf.TensorSpec(shape)).output_shapes
        assert [each.rank for each in found] == [tf.TensorShape(rows_of).rank] * 2
        assert str(found.median) == str(found.index) == str(tf.TensorShape(rows_of))


def test_the_gradient_goes_to_the_median_alone():
    x = tf.constant(np.random.default_rng(0).normal(size=(4, 6)))
    analytical, numerical = tf.test.compute_gradient(lambda x: row_median(x)[0], [x])
    np.testing.assert_allclose(analytical[0], numerical[0], atol=1e-7)
    with tf.GradientTape() as tape:
        tape.watch(x)
        median = row_median(x).median * np.inf
    gradient = tape.gradient(median, x).numpy()
    assert np.isinf(gradient).sum() == 4 and (gradient == 0).sum() == 20


def test_in_a_saved_model(tmp_path):
    module = tf.Module()
    spec = tf.TensorSpec([None, None])
    module.median = tf.function(lambda x: row_median(x).index, input_signature=[spec])
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    assert loaded.median([[3.0, 1.0, 2.0]]).numpy() == [2]


WITHOUT_ROWS = """
import resource
import tensorflow as tf
from stable_abi import row_median

row_median(tf.zeros([0, 3]))
lines = open("/proc/self/status").read().splitlines()
(used,) = (int(line.split()[1]) for line in lines if line.startswith("VmSize"))
resource.setrlimit(resource.RLIMIT_AS, [used * 1024 + 2**30] * 2)
print(row_median(tf.zeros([0, 2**31 - 1])).median.shape)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and limits of memory")
def test_no_rows_take_no_memory(in_process):
    """A gigabyte is left; the order of one row's columns takes eight."""
    assert in_process(WITHOUT_ROWS) == "(0,)\n"


@pytest.mark.parametrize("zero_out", [zero_out_by_hand, zero_out_by_layer])
def test_zero_out_by_hand_and_by_the_layer(mode, zero_out):
    for shape in ((), (3,), (2, 3), (0, 2), (2**40, 0)):
        x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
        zeroed = mode(zero_out)(to_zero=x)
        np.testing.assert_array_equal(zeroed, zero_out_reference(np.asarray(x)))
        assert zeroed.shape == shape


def test_the_solution_of_the_exercise(mode):
    for k in (1, 4, 7):
        x = numbers((3, 2, 7))
        kth = mode(row_kth)(x=x, k=k)
        np.testing.assert_array_equal(kth, row_kth_reference(x, k), strict=True)
    assert mode(row_kth)(x=tf.zeros([0, 2**60])).shape == 0
    with pytest.raises(REFUSED, match=r"'x' must have 8 columns or more.*\[3,7\]"):
        mode(row_kth)(x=numbers((3, 7)), k=8)
    with pytest.raises(ValueError, match="'x' must have columns"):
        tf.function(row_kth).get_concrete_function(x=tf.TensorSpec([2, 0]))
    with pytest.raises(REFUSED, match="must be at least minimum 1|less than minimum 1"):
        mode(row_kth)(x=numbers((3, 7)), k=0)


@pytest.mark.parametrize(
    "how, message",
    [
        (0, "InvalidArgumentError: the last thread refuses"),
        (1, "InternalError: thrown by a library"),
        (2, "ResourceExhaustedError: out of memory"),
        (3, r"InvalidArgumentError: no tensor has the shape \[1099511627776,"),
        (4, "InvalidArgumentError: there is no output 1"),
        (5, "OutOfRangeError: input index out of range"),
        (6, "InvalidArgumentError: input 0 has data type 1, and its kernel takes 2"),
        (
            7,
            "InvalidArgumentError: Operation 'LimitFailure' has no attr named 'nowhere'",
        ),
        (8, "InternalError: unknown exception"),
        (9, "InvalidArgumentError: output 0 has data type 1, and its kernel takes 2"),
    ],
)
def test_what_goes_wrong_in_a_kernel_is_a_status(how, message):
    found = error_of(lambda: limits.limit_failure(x=1.0, how=how))
    assert re.match(message, found), found


@pytest.mark.parametrize("size, found", [(None, -3), (0, -2)])
def test_a_shape_function_cannot_give_a_negative_size(size, found):
    traced = tf.function(lambda x: limits.limit_shape(x=x), autograph=False)
    with pytest.raises(
        ValueError, match=rf"output 0 cannot have the shape \[{found}\].*LimitShape"
    ):
        traced.get_concrete_function(tf.TensorSpec([size]))


def test_the_layers_threads_are_its_own(in_process):
    """As many as there are cores, though TensorFlow may use one."""
    script = """
import os
import tensorflow as tf
tf.config.threading.set_intra_op_parallelism_threads(1)
from limits import limits
print(limits.limit_parallel(x=0.0, parts=1000).numpy() + 1 == len(os.sched_getaffinity(0)))
print(limits.limit_parallel(x=0.0, parts=1).numpy())
"""
    assert in_process(script) == "True\n0.0\n"


@pytest.mark.slow
def test_the_table_of_limits():
    table = {wanted: (verdict, shown) for wanted, verdict, shown in rows()}
    later = "an op that calls `done` later, as an `AsyncOpKernel` does"
    minor = int(tf.__version__.split(".")[1])
    assert ("SIGSEGV" in table[later][1]) == (minor < 22)
    assert "`SIGABRT`" in table["a check of an output's number"][1]
    assert "no error" in table["a check of an output's type"][1]
    lacking = [shown for _, shown in table.values() if "functions in" in shown]
    assert len(lacking) == 5 and all(", none with" in shown for shown in lacking)
    assert "`(7, None)`" in table["an attr of type shape"][1]
    for wanted in ("an attr of type shape", "to assign a variable"):
        assert ("in no library" in table[wanted][1]) == (19 <= minor < 22)


def symbols(library: Path) -> list[str]:
    """What a library takes from others."""
    if not shutil.which("nm"):
        pytest.skip("no nm: sudo apt-get install binutils")
    command = ["nm", "-D", "--undefined-only", library]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split()[-1].partition("@")[0] for line in run.stdout.splitlines()]


@pytest.mark.parametrize("name", ["stable_abi", "by_hand", "by_layer", "limits"])
def test_the_libraries_take_nothing_of_tensorflow_but_its_c_api(name):
    taken = symbols(HERE / f"lib{name}.so")
    include = Path(tf.sysconfig.get_include(), "tensorflow", "c")
    headers = [*include.glob("tf_*.h"), include / "kernels.h", include / "ops.h"]
    text = "".join(path.read_text() for path in headers)
    of_tensorflow = [name for name in taken if name.startswith("TF_")]
    assert of_tensorflow
    assert [x for x in of_tensorflow if not re.search(rf"\b{x}\(", text)] == []
    assert [x for x in taken if "tensorflow" in x or "absl" in x] == []


def build(source: Path, library: Path) -> subprocess.CompletedProcess:
    """As a reader would: with the headers beside this test, and nothing of the book's CMake."""
    tensorflow = Path(tf.__file__).parent
    [framework] = tensorflow.glob("libtensorflow_framework*.2*")
    return subprocess.run(
        [
            *shlex.split(os.environ.get("CXX", "c++")),
            *("-std=c++17", "-O2", "-fPIC", "-shared", "-fvisibility=hidden"),
            *("-Wall", "-Wextra", "-Werror", "-I", HERE),
            *("-isystem", tf.sysconfig.get_include(), source, "-o", library),
            *(framework, "-pthread"),
        ],
        capture_output=True,
        text=True,
    )


CONVERSIONS = """
#include "stable_float16.h"
#define OP_BY_OP_EXPORT extern "C" __attribute__((visibility("default")))
template <class T>
void Both(const uint16_t* bits, float* floats, const float* from, uint16_t* to, int n) {
  for (int i = 0; i < n; ++i) {
    T x;
    x.bits = bits[i];
    floats[i] = x;
    to[i] = T(from[i]).bits;
  }
}
OP_BY_OP_EXPORT void float16(const uint16_t* b, float* f, const float* g, uint16_t* t, int n) {
  Both<stable::half>(b, f, g, t, n);
}
OP_BY_OP_EXPORT void bfloat16(const uint16_t* b, float* f, const float* g, uint16_t* t, int n) {
  Both<stable::bfloat16>(b, f, g, t, n);
}
"""


@pytest.fixture(scope="module")
def conversions(tmp_path_factory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("conversions")
    (folder / "conversions.cc").write_text(CONVERSIONS)
    run = build(folder / "conversions.cc", folder / "libconversions.so")
    assert run.returncode == 0, run.stderr
    return ctypes.CDLL(str(folder / "libconversions.so"))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_the_floats_of_16_bits_convert_as_numpys_do(conversions, dtype):
    bits = np.arange(2**16, dtype=np.uint16)
    exact = bits.view(dtype).astype(np.float32)
    random = np.random.default_rng(0).integers(0, 2**32, 2**16, dtype=np.uint32)
    tried = [exact, random.view(np.float32)]
    with np.errstate(all="ignore"):
        tried.append(np.nextafter(exact, np.float32(np.inf)))
        between = (exact + np.roll(exact, -1)) / 2  # ties
        tried += [between, np.nextafter(between, np.float32(0)), exact * np.float32(3)]
    for source in tried:
        source = np.ascontiguousarray(source, np.float32)
        floats, back = np.empty_like(source), np.empty_like(bits)
        pointers = [
            x.ctypes.data_as(ctypes.c_void_p) for x in (bits, floats, source, back)
        ]
        getattr(conversions, dtype.__name__)(*pointers, len(bits))
        np.testing.assert_array_equal(floats, exact)
        np.testing.assert_array_equal(np.signbit(floats), np.signbit(exact))
        with np.errstate(all="ignore"):
            expected = source.astype(dtype)
        number = ~np.isnan(source)
        np.testing.assert_array_equal(back[number], expected.view(np.uint16)[number])
        assert np.isnan(back.view(dtype)[~number].astype(np.float32)).all()


WRONG = {
    'stable::RegisterOp<Shape>("WrongSpec", {"x: flaot"}, {"y: float"});': "flaot",
    'stable::RegisterOp<Shape>("wrong_name", {}, {"y: float"});': "wrong_name",
    'stable::RegisterOp<Shape>("WrongType", {}, {"y: float"});'
    'stable::RegisterKernel<Kernel>("WrongType", {{"T", TF_DataType(99)}});': "WrongType: Unexpected type 99",
}


@pytest.mark.parametrize("registration, message", WRONG.items())
def test_a_wrong_registration_fails_when_the_library_is_loaded(
    in_process, tmp_path, registration, message
):
    """And the next library loads: dlopen holds no lock."""
    source = tmp_path / "wrong.cc"
    source.write_text(
        '#include "stable_op.h"\n'
        "static void Shape(stable::Shapes) {}\n"
        "struct Kernel {\n"
        "  explicit Kernel(const stable::Attrs&) {}\n"
        "  void Compute(const stable::Context&) {}\n"
        "};\n"
        f"__attribute__((constructor)) static void Register() {{ {registration} }}\n"
    )
    run = build(source, tmp_path / "libwrong.so")
    assert run.returncode == 0, run.stderr
    script = f"""
import tensorflow as tf
try:
    tf.load_op_library({str(tmp_path / "libwrong.so")!r})
except tf.errors.OpError as error:
    print(error.message)
print(tf.load_op_library({str(HERE / "libby_layer.so")!r}).zero_out_by_layer([3.0]).numpy())
"""
    printed = in_process(script)
    assert message in printed and printed.endswith("\n[3.]\n"), printed


def test_a_type_that_is_none_of_tensorflows_does_not_compile(tmp_path):
    source = tmp_path / "wrong.cc"
    source.write_text(
        '#include "stable_op.h"\nstruct Mine {};\n'
        "const TF_DataType type = stable::kType<Mine>;\n"
    )
    run = build(source, tmp_path / "libwrong.so")
    assert re.search(r"no matching function for call to .TypeOf", run.stderr)
