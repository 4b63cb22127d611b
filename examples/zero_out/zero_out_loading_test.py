"""How the library of ZeroOut is loaded, what refuses it, and the exercise: `pytest examples/zero_out`."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from op_library import load_op_library
from zero_out import zero_out
from zero_out_reference import keep_last_reference

HERE = Path(__file__).parent


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


TWICE = """
import shutil, sys
from pathlib import Path
import tensorflow as tf
from op_library import load_op_library
from zero_out import zero_out

copy = Path(sys.argv[1])
shutil.copy(sys.argv[2], copy)
print(hasattr(tf.load_op_library(str(copy)), "zero_out"))
for call in (lambda: load_op_library(copy, "zero_out"), lambda: tf.function(zero_out)(tf.constant([5.0, 4.0]))):
    try:
        call()
    except (ImportError, tf.errors.InvalidArgumentError) as error:
        print(type(error).__name__, error)
"""


def test_an_op_that_another_library_has_registered_is_reported(in_process, tmp_path):
    printed = in_process(TWICE, tmp_path / "libcopy.so", HERE / "libzero_out.so")
    assert printed.startswith("False\nImportError")
    assert "another library in this process has registered the same op" in printed
    assert "Multiple OpKernel registrations match NodeDef" in printed


def test_a_library_with_the_name_of_its_module_hides_it(in_process, tmp_path):
    shutil.copy(HERE / "libzero_out.so", tmp_path / "shrink.so")
    (tmp_path / "shrink.py").touch()
    printed = in_process(
        """
import sys
sys.path.insert(0, sys.argv[1])
try:
    import shrink
except ImportError as error:
    print(error)
""",
        tmp_path,
    )
    assert "does not define module export function (PyInit_shrink)" in printed
