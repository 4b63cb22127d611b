"""Tests of ZeroOut: `pytest examples/zero_out`."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from op_library import load_op_library
from zero_out import zero_out
from zero_out_reference import keep_last_reference, zero_out_reference

from opcheck.testing import op_test

HERE = Path(__file__).parent
DTYPES = [np.float32, np.float64, np.int32]


test_zero_out_keeps_its_promises = op_test(
    zero_out, np.float32([[3, 4], [5, 6]]), reference=zero_out_reference
)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "shape",
    [(), (1,), (7,), (2, 3), (3, 1, 4, 1, 5), (0,), (2, 0, 3), (2**40, 0), (100_000,)],
)
def test_equals_the_reference(mode, dtype, shape):
    to_zero = np.random.default_rng(0).integers(1, 100, shape).astype(dtype)
    zeroed = mode(zero_out)(to_zero)
    assert zeroed.dtype == dtype
    np.testing.assert_array_equal(
        zeroed, zero_out_reference(np.asarray(to_zero)), strict=True
    )


@pytest.mark.parametrize("value", [np.nan, np.inf, -0.0])
def test_keeps_the_bits_of_special_values(value):
    zeroed = zero_out([value, np.nan, np.inf]).numpy()
    assert zeroed.tobytes() == np.float32([value, 0, 0]).tobytes()


def test_an_integer_input_has_no_gradient():
    to_zero = tf.constant([1, 2, 3])
    with tf.GradientTape() as tape:
        tape.watch(to_zero)
        zeroed = zero_out(to_zero)
    assert tape.gradient(zeroed, to_zero) is None


class ZeroOutGradientTest(tf.test.TestCase):
    def test_second_order(self):
        to_zero = tf.constant([3.0, 4.0])
        with tf.GradientTape() as outer:
            outer.watch(to_zero)
            with tf.GradientTape() as inner:
                inner.watch(to_zero)
                square = zero_out(to_zero) ** 2
            gradient = inner.gradient(square, to_zero)
        self.assertAllEqual(gradient, [6.0, 0.0])
        self.assertAllEqual(outer.gradient(gradient, to_zero), [2.0, 0.0])


def test_xla_has_no_kernel_for_the_op():
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match="No registered 'ZeroOut' OpKernel for XLA_CPU_JIT devices",
    ):
        tf.function(zero_out, jit_compile=True)(tf.constant([1.0, 2.0]))


def test_the_solution_of_the_exercise(mode):
    keep_last = load_op_library(
        HERE / "libsolution_keep_last.so", "keep_last"
    ).keep_last
    for shape in [(), (4,), (2, 3), (0, 2)]:
        to_zero = np.random.default_rng(0).normal(size=shape).astype(np.float32)
        zeroed = keep_last_reference(to_zero)
        np.testing.assert_array_equal(mode(keep_last)(to_zero), zeroed, strict=True)


def test_eval_of_the_official_guide_is_gone():
    with pytest.raises(
        NotImplementedError, match=r"is \.numpy\(\) what you're looking"
    ):
        zero_out([5, 4, 3]).eval()


def test_a_library_without_a_folder_is_looked_for_in_the_systems_alone(monkeypatch):
    monkeypatch.chdir(HERE)
    with pytest.raises(tf.errors.NotFoundError, match=r"libzero_out\.so"):
        tf.load_op_library("libzero_out.so")


def test_keras_turns_xla_on_where_there_is_a_gpu(monkeypatch):
    gpu = tf.config.PhysicalDevice("/physical_device:GPU:0", "GPU")
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda *_: [gpu])
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile(loss="mse")
    assert model.jit_compile
    model.compile(loss="mse", jit_compile=False)
    assert not model.jit_compile


def test_a_library_that_is_not_there_is_named():
    with pytest.raises(
        ImportError, match=r"libnone\.so is not there: build it with `make zero_out`"
    ):
        load_op_library(HERE / "libnone.so")


def test_a_library_for_another_tensorflow_is_refused(tmp_path):
    library = tmp_path / "zero_out" / "libzero_out.so"
    library.parent.mkdir()
    built = b"built for TensorFlow " + tf.__version__.encode()
    content = (HERE / "libzero_out.so").read_bytes()
    assert built in content
    library.write_bytes(
        content.replace(built, built.replace(tf.__version__.encode(), b"1.15.0"))
    )
    with pytest.raises(
        ImportError,
        match=r"was built for TensorFlow 1\.15, this is .*: build it with `make zero_out`",
    ):
        load_op_library(library)


def test_a_missing_symbol_is_explained(tmp_path):
    source = tmp_path / "gone.cc"
    source.write_text(
        "namespace tensorflow { void Gone(); }\nvoid Call() { tensorflow::Gone(); }\n"
    )
    subprocess.run(
        ["c++", "-shared", "-fPIC", source, "-o", tmp_path / "libgone.so"], check=True
    )
    with pytest.raises(
        ImportError, match=r"libgone\.so does not fit TensorFlow"
    ) as raised:
        load_op_library(tmp_path / "libgone.so")
    assert "undefined symbol: _ZN10tensorflow4GoneEv" in str(raised.value.__cause__)


def test_an_op_that_another_library_has_registered_is_reported(tmp_path):
    shutil.copy(HERE / "libzero_out.so", tmp_path / "libcopy.so")
    assert not hasattr(tf.load_op_library(str(tmp_path / "libcopy.so")), "zero_out")
    with pytest.raises(
        ImportError, match="another library in this process has registered the same op"
    ):
        load_op_library(tmp_path / "libcopy.so", "zero_out")
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match="Multiple OpKernel registrations match NodeDef",
    ):
        tf.function(zero_out)(tf.constant([5.0, 4.0]))
