"""Tests of opcheck on TensorFlow's own ops, and of every way that a check can end."""

import contextlib
import html
import importlib.metadata
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np  # noqa: E402
import pytest  # noqa: E402
import tensorflow as tf  # noqa: E402
from python_ops import (  # noqa: E402
    adds_noise,
    adds_one,
    adds_one_as_a_graph,
    adds_some,
    adds_threads,
    counts_calls,
    dies,
    dies_of_negatives,
    dies_of_scalars,
    dies_of_scalars_in_graphs,
    dies_of_unknown_dimensions,
    dies_without_tensors,
    filled,
    has_rows,
    is_odd_for_odd_sizes,
    is_odd_for_unknown_ranks,
    is_off_by_one_from_seven_on,
    racy_zero_out,
    raises_something_odd,
    raises_something_odd_in_graphs,
    refuses,
    remembers_the_first_size,
    sleeps_on_high_ranks,
    transposed,
    zero_out,
    zero_out_with_wrong_gradient,
)
from tensorflow.core.framework.op_def_pb2 import OpDef  # noqa: E402
from tensorflow.python.framework import op_def_registry  # noqa: E402

import opcheck  # noqa: E402
from opcheck import calls as calls_module  # noqa: E402
from opcheck import children, compatibility, source  # noqa: E402
from opcheck import report as report_module  # noqa: E402
from opcheck.__main__ import main, parser  # noqa: E402
from opcheck.checks import fresh, robust, transforms  # noqa: E402
from opcheck.compare import difference, mentions  # noqa: E402
from opcheck.fuzzing import fuzz  # noqa: E402
from opcheck.samples import as_arrays, locate  # noqa: E402
from opcheck.strategies import calls, st, tensors  # noqa: E402
from opcheck.subject import Subject  # noqa: E402
from opcheck.testing import op_test  # noqa: E402
from opcheck.variations import variations  # noqa: E402
from opcheck.worker import place  # noqa: E402

ROOT = Path(__file__).parents[3]
ZERO_OUT = f"{ROOT}/examples/zero_out/zero_out.py:zero_out"


def normal(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def strings(*values):
    return np.array(values, object)


# TensorFlow's own ops. What opcheck finds in them is listed with the reason: none is a false alarm,
# but many of their messages do not name the input that is wrong.

UNNAMED = "the message names no argument of the function"
BUILT_IN = {
    "matmul": (
        tf.linalg.matmul,
        [normal(2, 3), normal(3, 4)],
        {"reference": np.matmul},
        {"bad_input": (r"In\[0\] and In\[1\] has different ndims", UNNAMED)},
    ),
    "max_pool2d": (
        tf.nn.max_pool2d,
        [normal(1, 4, 6, 2)],
        {"ksize": 2, "strides": 2, "padding": "VALID"},
        {
            "empty": ("Negative dimension size", "only the shape function refuses it"),
            "bad_input": ("tensor_in_shape must have 2", UNNAMED),
        },
    ),
    "reduce_sum": (
        tf.reduce_sum,
        [normal(3, 5)],
        {"axis": 1, "reference": lambda x, axis: x.sum(axis)},
        {"bad_input": ("Invalid reduction dimension", UNNAMED)},
    ),
    "concat": (
        tf.concat,
        [[normal(2, 3), normal(4, 3)]],
        {"axis": 0, "reference": np.concatenate},
        {"bad_input": ("concatenate scalars", UNNAMED)},
    ),
    "where": (
        tf.where,
        [np.eye(2, dtype=bool), normal(2, 2), normal(2, 2)],
        {"reference": np.where},
        {},
    ),
    "conv2d": (
        tf.nn.conv2d,
        [normal(1, 5, 6, 2), normal(3, 3, 2, 4)],
        {
            "strides": 1,
            "padding": "SAME",
            "skip": {"determinism": "Eigen adds in another order with other threads"},
        },
        {
            "empty": (
                "Number of groups must not be 0",
                "only the shape function refuses",
            )
        },
    ),
    "top_k": (
        tf.math.top_k,
        [normal(3, 6)],
        {"k": 2},
        {
            "gradient": (
                "zeros",
                "its gradient has zeros, not None, for the integer k",
            ),
            "bad_input": (
                "eager: a result; in a graph: ValueError",
                "the kernel cuts the int64 k = 2**62 down to the int32 0",
            ),
        },
    ),
    "string_to_number": (
        tf.strings.to_number,
        [strings(b"1.5", b"-2")],
        {},
        {"bad_input": ("could not correctly convert string", UNNAMED)},
    ),
    "unique": (
        tf.unique,
        [np.int32([3, 1, 3, 2])],
        {},
        {"bad_input": ("unique expects a 1D vector", UNNAMED)},
    ),
    "sort": (
        tf.sort,
        [normal(3, 5)],
        {"op_types": ["TopKV2"], "reference": np.sort},
        {
            "reference": ("nan", "NumPy puts NaN last, TensorFlow first"),
            "gradient": (
                "zeros",
                "its gradient has zeros, not None, for the integer k",
            ),
            "bad_input": ("slice index -1", UNNAMED),
        },
    ),
}


@pytest.mark.parametrize("name", BUILT_IN)
def test_findings_in_built_in_ops(name):
    op, inputs, options, expected = BUILT_IN[name]
    report = opcheck.check(op, *inputs, concurrency_seconds=0.2, repeats=2, **options)
    assert len(report.results) == len(opcheck.NAMES)
    seen = {result.check: result.seen for result in report.failures}
    assert set(seen) == set(expected), report
    for check, (pattern, _) in expected.items():
        assert re.search(pattern, seen[check]), seen[check]


def look_up(keys):
    initializer = tf.lookup.KeyValueTensorInitializer(tf.constant(["a"]), [1.0])
    return tf.lookup.StaticHashTable(initializer, -1.0).lookup(keys)


def look_up_in_a_new_table(keys):
    table = tf.raw_ops.AnonymousMutableHashTable(
        key_dtype=tf.string, value_dtype=tf.int64
    )
    nothing = tf.constant(-1, tf.int64)
    return tf.raw_ops.LookupTableFindV2(
        table_handle=table, keys=keys, default_value=nothing
    )


def as_list(x):
    return tf.raw_ops.TensorListFromTensor(
        tensor=x, element_shape=tf.zeros([0], "int32")
    )


def double_thrice(x):
    return tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, 2 * y), [0, x])[1]


@pytest.mark.parametrize(
    ("op", "sample", "checks"),
    [
        pytest.param(look_up, strings(b"a"), ["eager_vs_graph"], id="a table"),
        pytest.param(
            look_up_in_a_new_table, strings(b"a"), ["vectorize"], id="a new table"
        ),
        pytest.param(
            as_list, normal(3), ["eager_vs_graph", "vectorize", "xla"], id="a variant"
        ),
        pytest.param(double_thrice, normal(3), ["gradient"], id="control flow"),
        pytest.param(tf.io.serialize_tensor, normal(3), ["dtypes"], id="a text"),
        pytest.param(
            lambda x: x + tf.random.normal([3]),
            normal(3),
            ["immutability"],
            id="chance",
        ),
        pytest.param(
            lambda x: tf.debugging.Assert(tf.reduce_all(x < 9), [x]),
            normal(3),
            ["eager_vs_graph", "concurrency", "vectorize"],
            id="no output",
        ),
    ],
)
def test_no_false_alarm_about(op, sample, checks):
    options = {"concurrency_seconds": 0.1, "isolate": False}
    opcheck.check(op, sample, checks=checks, **options).assert_ok()


def test_a_forgotten_return_is_noted():
    report = opcheck.check(lambda x: None, normal(2), checks="eager_vs_graph")
    assert "is a `return` missing?" in report["eager_vs_graph"].detail


def test_an_unwritten_output_in_tensorflow_itself():
    """Cholesky fills the lower triangle with NaN where it fails, and forgets the upper one."""
    indefinite = np.float64([[1, 2], [2, 1]])
    report = opcheck.check(tf.linalg.cholesky, indefinite, checks=["determinism"])
    assert "output[0, 1]" in report["determinism"].seen
    assert "not written" in report["determinism"].cause


# Ops of the book.


def zero_out_reference(to_zero):
    zeroed = np.zeros_like(to_zero)
    zeroed.flat[:1] = to_zero.flat[:1]
    return zeroed


def test_a_race_is_found():
    report = opcheck.check(
        racy_zero_out,
        normal(100_000),
        checks=["concurrency", "dtypes"],
        concurrency_seconds=60,  # it ends sooner
    )
    assert report["concurrency"].verdict == "fail"
    assert "instead of" in report["concurrency"].seen
    assert "no kernel on any device for int32" in report["dtypes"].seen


def test_a_race_that_is_found_ends_the_calls():
    """Else the worker would be silent for longer than the timeout."""
    report = opcheck.check(
        racy_zero_out,
        normal(1_000_000),
        checks=["concurrency"],
        concurrency_seconds=3600,
        timeout=100,
    )
    assert "instead of" in report["concurrency"].seen


# Ops made of Python.


def test_a_crash_is_a_finding_and_the_check_goes_on():
    report = opcheck.check(dies_of_scalars, normal(2, 3), checks=["empty", "schema"])
    assert report["schema"].verdict == "pass"
    result = report["empty"]
    assert result.verdict == "fail"
    assert "SIGABRT" in result.seen
    assert "x is a scalar" in result.detail
    assert "dies_of_scalars(tf.constant(" in result.line


def test_an_op_that_always_dies_fails_every_check_that_calls_it():
    report = opcheck.check(dies, normal(9, 9), reference=lambda x: x)
    calling = {"reference", "empty", "determinism", "saved_model", "bad_input", "xla"}
    assert calling <= {result.check for result in report.failures}
    assert "SIGSEGV" in report["reference"].seen
    line = report["reference"].line
    assert len(line) > 1000 and line.endswith(', "float32", shape=[9, 9])))')


def test_a_crash_before_the_first_case_has_the_sample_call():
    report = opcheck.check(dies, normal(2), checks=["bad_input"])
    assert report["bad_input"].line.startswith("import tensorflow")


def test_a_call_that_hangs_is_ended_and_is_the_last():
    report = opcheck.check(
        sleeps_on_high_ranks, normal(2), checks=["bad_input"], timeout=20
    )
    result = report["bad_input"]
    assert "no answer within 20 s" in result.seen
    assert re.fullmatch(
        r"x has rank 5, eager; \d+ other calls not tried", result.detail
    )


def test_an_unclean_error_is_a_finding():
    report = opcheck.check(raises_something_odd, normal(2), checks="bad_input")
    assert report["bad_input"].seen == "RuntimeError: odd"


def test_the_place_of_an_error_is_not_in_opcheck():
    with pytest.raises(ValueError, match="dense tensors") as error:
        as_arrays([object()])
    assert place(error.value).startswith("opcheck_test.py, line ")


def test_what_fails_in_the_same_words_is_explained_once():
    report = opcheck.check(refuses, normal(2), checks=["dtypes", "schema", "empty"])
    assert len(report.failures) == 3
    assert "dtypes, empty, schema: the check could not go on" in str(report)
    assert str(report).count("ValueError: several lines") == 1
    assert "(python_ops.py, line " in str(report)
    assert report._repr_html_().count("several") == 1
    assert "as for dtypes" in report._repr_html_()


@pytest.mark.parametrize(
    ("seen", "cause"),
    [
        (
            "InternalError: Missing 1-th output from {{node X}}",
            "having set that output",
        ),
        ("no answer within 5 s; reproduce: …", "a loop that does not end"),
        ("terminate called after throwing 'std::bad_alloc'", "the option memory"),
        ("NotImplementedError: Cannot convert a symbolic tf.Tensor (x:0)", "a graph"),
        ("InvalidArgumentError: x must be a vector", "a guess"),
    ],
)
def test_an_error_that_gives_its_cause_away(seen, cause):
    found = opcheck.Findings("empty", "zero_out")
    found.fail("a scalar", "a result", seen, "a guess")
    assert cause in found.result().cause


def test_what_chance_breaks_is_put_down_to_it():
    checks = ["eager_vs_graph", "dtypes", "concurrency", "vectorize", "xla"]
    report = opcheck.check(adds_noise, normal(3), checks=checks)
    assert [one.check for one in report.failures] == checks
    assert all("or chance" in one.cause for one in report.failures)


def test_a_crash_is_explained_before_other_failures():
    found = report_module.Findings("bad_input", "attrs")
    for rank in range(6):
        found.fail(f"x has rank {rank}", "a name", "none", "a message")
    found.fail("x has rank 8", "a result", "SIGSEGV", "trust", line="op()")
    found.fail("x has rank 8", "a result", "SIGSEGV", "trust", line="op()")
    result = found.result()
    assert result.detail.startswith("x has rank 8; 7 more: x has rank 0; x has rank 1;")
    assert (result.seen, result.line) == ("SIGSEGV", "op()")


@pytest.mark.parametrize(
    "noise",
    [
        "E: {{function_node __wrapped__X}} WHAT [Op:X]",
        "E: WHAT [Op:Split] name: split",
        "E: {{function_node __inference_f_1}} WHAT\n\t [[{{node X}}]] [Op:__inference_f_1]",
    ],
)
def test_an_error_is_shown_without_noise(noise):
    assert report_module.essence(noise) == "E: WHAT"


def test_a_kernel_for_all_dtypes_is_run_in_all():
    op = tf.raw_ops.ToBool
    report = opcheck.check(lambda x: op(input=x), normal(2), checks="dtypes")
    for name in ("bfloat16", "complex128", "int8", "string", "uint64"):
        assert name in report["dtypes"].detail.split("; ")[0].split(" ", 1)[1]


def test_a_list_of_dtypes_is_reported():
    report = opcheck.check(
        lambda x: tf.raw_ops.IdentityN(input=[x, x]),
        normal(2),
        checks="dtypes",
        op_types=["IdentityN"],
    )
    assert "attr T of IdentityN is a list of dtypes" in report["dtypes"].detail


def test_what_follows_on_an_error_is_shown():
    seen = "eager: E: WHAT [Op:Split] name: split; in a graph: a result"
    assert report_module.essence(seen) == "eager: E: WHAT; in a graph: a result"


def test_values_that_change_from_call_to_call():
    checks = ["eager_vs_graph", "determinism"]
    report = opcheck.check(counts_calls, normal(2), checks=checks)
    assert [result.verdict for result in report.results] == ["fail", "fail"]


def test_other_sizes_than_the_sample_s_are_tried():
    checks = ["reference", "determinism"]
    report = opcheck.check(
        is_odd_for_odd_sizes, normal(2, 4), reference=lambda x: x, checks=checks
    )
    for check in checks:
        assert "one row less in every dimension" in report[check].detail
    report = opcheck.check(
        is_odd_for_odd_sizes, normal(16), reference=lambda x: x, checks="reference"
    )
    assert report["reference"].detail == "with 15 instead of 16 rows"


def test_a_wrong_gradient_says_where():
    report = opcheck.check(adds_one, normal(2), checks=["gradient"])
    assert report["gradient"].verdict == "pass"
    report = opcheck.check(zero_out_with_wrong_gradient, normal(2), checks=["gradient"])
    result = report["gradient"]
    assert result.verdict == "fail"
    assert "1 for to_zero[0], by finite differences" in result.expected
    assert result.seen.startswith("3 ")


@pytest.mark.parametrize(
    ("factors", "ok", "detail"),
    [
        ((6, 3), True, "float64, with respect to x; second order too"),
        ((6, 2), False, "second order, with respect to the gradient of output 0"),
        ((5, 3), False, "second order, with respect to x"),
    ],
)
def test_second_order_is_that_of_inputs_and_of_the_gradient_coming_in(
    factors, ok, detail
):
    @tf.custom_gradient
    def cube_grad(x, dy):
        of_x, of_dy = factors
        return 3 * x**2 * dy, lambda g: (of_x * x * dy * g, of_dy * x**2 * g)

    @tf.custom_gradient
    def cube(x):
        return x**3, lambda dy: cube_grad(x, dy)

    report = opcheck.check(
        lambda x: cube(x), normal(2), checks="gradient", op_types=["IdentityN"]
    )
    assert report.ok == ok
    assert report["gradient"].detail.startswith(detail)


def test_float64_is_for_the_inputs_that_can_be_it():
    def op(x, scale):
        tf.debugging.assert_type(scale, tf.float32)
        return tf.square(x) * tf.cast(scale, x.dtype)

    report = opcheck.check(
        op, normal(2), np.float32(3), checks="gradient", op_types=["Square"]
    )
    assert report["gradient"].detail.startswith("float64, with respect to x, scale")
    assert report.ok


def test_no_gradient_is_a_skip_unless_demanded():
    indices = tf.argmax
    report = opcheck.check(indices, normal(3), checks=["gradient"])
    assert report["gradient"].verdict == "skip"
    report = opcheck.check(racy_zero_out, normal(3), checks=["gradient"])
    assert "no gradient is registered" in report["gradient"].detail
    report = opcheck.check(racy_zero_out, normal(3), checks="gradient", gradient=True)
    assert report["gradient"].verdict == "fail"


def test_the_reference_is_asked_in_the_process_of_the_caller():
    asked = []

    def reference(x):
        asked.append(os.getpid())
        return x + 2

    report = opcheck.check(adds_one, normal(3), reference=reference, checks="reference")
    assert set(asked) == {os.getpid()}
    assert report["reference"].verdict == "fail"


def test_tolerances_are_the_caller_s():
    def reference(x):
        return x + np.float32(1.001)

    for tolerances, verdict in [({}, "fail"), ({"float32": 1e-2}, "pass")]:
        report = opcheck.check(
            adds_one,
            normal(3),
            reference=reference,
            checks="reference",
            tolerances=tolerances,
        )
        assert report["reference"].verdict == verdict


def test_a_module_that_no_worker_can_import_is_a_failure(tmp_path, monkeypatch):
    (tmp_path / "only_here.py").write_text(
        "from opcheck import children\n"
        "if children.in_worker: raise RuntimeError('not here')\n"
        "def op(x): return x\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    op = importlib.import_module("only_here").op
    report = opcheck.check(op, normal(2), checks=["eager_vs_graph", "xla", "empty"])
    for result in report.results:
        assert (result.verdict, result.seen) == ("fail", "RuntimeError: not here")
    with pytest.raises(
        ValueError, match=r"cannot import op: RuntimeError: not here \("
    ):
        fuzz(op, calls(tensors()))


def test_what_cannot_be_imported_is_checked_in_this_process_only():
    report = opcheck.check(
        lambda x: x + 1, normal(2), checks=["eager_vs_graph", "bad_input"]
    )
    assert report["eager_vs_graph"].verdict == "pass"
    assert report["bad_input"].verdict == "skip"
    assert "a child process cannot import" in report["bad_input"].detail
    with pytest.raises(
        ValueError, match="cannot import .*write a `def` at the top level"
    ):
        opcheck.fuzz(lambda x: x, calls(tensors()))


def test_a_function_that_tensorflow_generated_is_refused():
    library = tf.load_op_library(f"{ROOT}/examples/zero_out/libsolution_keep_last.so")
    report = opcheck.check(library.keep_last, normal(2), checks=["saved_model"])
    assert "made by tf.load_op_library" in report["saved_model"].detail


def test_a_generated_function_that_a_module_holds_is_taken():
    import zero_out as module

    place = locate(module._library.zero_out)
    assert (place.module, place.name) == ("zero_out", "_library.zero_out")
    assert place.load() is module._library.zero_out
    report = opcheck.check(module._library.zero_out, normal(2), checks=["saved_model"])
    assert report["saved_model"].verdict == "pass"


def test_a_wrapper_is_not_taken_for_what_it_wraps():
    assert locate(adds_one_as_a_graph).name == "adds_one_as_a_graph"
    with pytest.raises(ValueError, match="cannot import adds_one"):
        locate(tf.function(adds_one))


def test_without_isolation_no_process_is_started():
    children.stop_server()
    report = opcheck.check(
        adds_one, normal(2), checks=["eager_vs_graph", "gradient"], isolate=False
    )
    assert report.ok


def test_a_server_that_died_is_started_again():
    children.start_server()
    process, _ = children._server
    process.kill()
    process.wait()
    assert opcheck.check(adds_one, normal(2), checks=["empty"]).ok


@pytest.mark.parametrize("setting", [None, "1"])
def test_workers_do_without_the_allocator_of_onednn(monkeypatch, setting):
    # It waits for 10 s where memory ends, and hides what a kernel has not written.
    monkeypatch.delenv("TF_ENABLE_ONEDNN_OPTS")
    if setting:
        monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", setting)
    assert children.environment()["TF_ENABLE_ONEDNN_OPTS"] == (setting or "0")


def test_samples_are_generated():
    sample = opcheck.Sample(
        tf.TensorSpec([None, 2]), lambda random, shape: random.uniform(size=shape)
    )
    assert np.asarray(sample).shape == (3, 2)
    assert np.asarray(sample).dtype == np.float32
    assert opcheck.check(adds_one, sample, checks=["reference"], reference=adds_one).ok


def test_an_empty_list_is_a_list_of_no_tensors():
    report = opcheck.check(
        adds_some, normal(3), [], reference=lambda x, others: x + sum(others)
    )
    assert report.assert_ok()["reference"].verdict == "pass"
    lists = st.lists(tensors(shape=st.just((2,))), max_size=2)
    pairs = calls(tensors(shape=st.just((2,))), lists)
    fuzz(adds_some, pairs, examples=100, skip=["bad_input"]).assert_ok()


def test_a_list_without_tensors_is_tried():
    some = [normal(3), normal(3)]
    report = opcheck.check(dies_without_tensors, normal(3), some, checks="empty")
    assert report["empty"].detail == "others is a list without tensors, eager"
    assert "SIGABRT" in report["empty"].seen
    assert report["empty"].line.endswith("[]))")


def test_a_str_in_an_array_is_bytes_as_in_a_tensor():
    report = opcheck.check(dies_of_scalars, strings("é", "b"), checks="empty")
    assert "SIGABRT" in report["empty"].seen
    assert 'tf.constant(b"\\xc3\\xa9", "string")' in report["empty"].line


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ([normal(2)], {"checks": ["refrence"]}, "no check 'refrence': there are refe"),
        ([normal(2)], {"skip": ["xl"]}, "no check 'xl'"),
        ([tf.TensorSpec([2])], {}, "input 0 is TensorSpec.*give it a generator"),
        ([normal(2)], {"extra": [has_rows] * 2}, "two checks have the name 'has_rows'"),
        ([normal(2)], {"extra": [lambda *_: ""]}, "a child process cannot import"),
        ([object()], {}, "input 0 is a object: opcheck takes dense tensors"),
        ([tf.ragged.constant([[1], []])], {}, "a RaggedTensor: opcheck takes dense"),
        ([normal(2)], {"tolerances": 0.1}, "tolerances is a dictionary"),
        ([], {}, r"adds_one\(x\) cannot be called with 0 inputs and no attrs: missing"),
        ([opcheck.Sample(tf.TensorSpec(None))], {}, "shape of known rank"),
        ([opcheck.Sample(tf.TensorSpec([2], tf.string))], {}, "needs a generator"),
    ],
)
def test_bad_arguments_are_named(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        opcheck.check(adds_one, *arguments, **options)


SCRIPT = """
import opcheck
def op(x):
    return x
{guard}print(opcheck.check(op, [1.0], checks=["empty"]).assert_ok())
"""


@pytest.mark.parametrize(
    ("guard", "output"),
    [
        ('if __name__ == "__main__": ', "op: 1 passed"),
        ("", 'put that below `if __name__ == "__main__":`'),
    ],
)
def test_an_op_of_the_script_itself(tmp_path, guard, output):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(guard=guard))
    run = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "packages" / "opcheck")},
    )
    assert output in " ".join((run.stdout + run.stderr).split())
    assert (run.returncode == 0) == bool(guard)


# Checks of one's own.


def test_a_check_of_one_s_own_runs_in_the_worker():
    report = opcheck.check(
        adds_one, normal(2, 3), checks=["empty", "has_rows"], extra=[has_rows]
    )
    assert [result.check for result in report.results] == ["empty", "has_rows"]
    assert report["has_rows"].verdict == "pass"
    assert report["has_rows"].detail != f"2 rows, in process {os.getpid()}"


def test_a_check_of_one_s_own_fails_crashes_and_is_skipped():
    def verdicts(op, *inputs, **options):
        report = opcheck.check(op, *inputs, extra=[has_rows], **options)
        return report["has_rows"]

    failure = verdicts(adds_one, normal(0, 3), checks=["has_rows"])
    assert failure.verdict == "fail"
    assert "read" not in failure.explanation()
    assert '<th scope="row">has_rows</th><td>fail</td>' in (
        opcheck.Report("adds_one", [failure])._repr_html_()
    )
    assert verdicts(adds_one, 1.0, checks="has_rows").detail == "a scalar has no rows"
    assert "SIGSEGV" in verdicts(dies, normal(2), checks=["has_rows"]).seen
    skipped = verdicts(adds_one, 1.0, checks=["has_rows"], skip={"has_rows": "no"})
    assert (skipped.verdict, skipped.detail) == ("skip", "no")


def test_a_check_of_one_s_own_in_this_process():
    report = opcheck.check(
        adds_one, normal(2), checks="has_rows", extra=[has_rows], isolate=False
    )
    assert report["has_rows"].detail == f"2 rows, in process {os.getpid()}"


test_has_rows = op_test(adds_one, normal(2), checks=["has_rows"], extra=[has_rows])


def test_a_test_without_a_reference_fails_unless_it_says_why():
    message = r"^adds_one has no reference: give op_test reference=…, or skip="
    with pytest.raises(pytest.fail.Exception, match=message):
        op_test(adds_one, normal(2))("reference")
    with pytest.raises(pytest.skip.Exception, match="^too hard$"):
        op_test(
            adds_one, normal(2), checks=["reference"], skip={"reference": "too hard"}
        )("reference")


# What each check promises to try.


def in_a_dataset():
    return "Dataset" in getattr(tf.compat.v1.get_default_graph(), "name", "")


def in_version_1():
    return not tf.compat.v1.executing_eagerly_outside_functions()


@pytest.mark.parametrize(
    ("mode", "is_odd"),
    [
        ("tf.function", lambda x: not tf.executing_eagerly()),
        (
            "tf.function with unknown dimensions",
            lambda x: x.shape.rank and not x.shape.is_fully_defined(),
        ),
        ("tf.function with unknown rank", lambda x: x.shape.rank is None),
        ("tf.data.Dataset.map", lambda x: in_a_dataset()),
        ("a v1 graph", lambda x: in_version_1()),
    ],
)
def test_eager_execution_is_compared_with(mode, is_odd):
    report = opcheck.check(
        lambda x: x + 1 if is_odd(x) else tf.identity(x),
        normal(2),
        checks="eager_vs_graph",
    )
    assert report["eager_vs_graph"].detail.split(";")[0] == f"in {mode}"


@pytest.mark.parametrize(
    ("label", "known"),
    [
        ("known shapes", ([2, 3], [4])),
        ("dimension 0 of x unknown", ([None, 3], [4])),
        ("dimension 1 of x unknown", ([2, None], [4])),
        ("rank of x unknown", (None, [4])),
        ("dimension 0 of y unknown", ([2, 3], [None])),
        ("rank of y unknown", ([2, 3], None)),
        ("all dimensions unknown", ([None, None], [None])),
        ("all ranks unknown", (None, None)),
    ],
)
def test_shapes_are_inferred_from(label, known):
    def op(x, y):
        z = tf.numpy_function(lambda x, y: x, [x, y], x.dtype)
        shapes = [x.shape, y.shape]
        if not tf.executing_eagerly() and shapes == list(map(tf.TensorShape, known)):
            equal = [repr(s) == repr(tf.TensorShape(k)) for s, k in zip(shapes, known)]
            z.set_shape([9] if all(equal) else None)
        return z

    report = opcheck.check(op, normal(2, 3), normal(4), checks="static_shape")
    assert report["static_shape"].detail.split(";")[0] == label


def test_a_shape_that_is_needlessly_unknown_is_noted():
    def op(x):
        return tf.numpy_function(lambda x: x, [x], x.dtype)

    report = opcheck.check(op, normal(2), checks="static_shape")
    assert report["static_shape"].verdict == "note"
    assert "output 0: <unknown>: needless unless" in report["static_shape"].detail


@pytest.mark.parametrize(
    ("where", "is_odd"),
    [
        ("inside tf.function", lambda x: x.shape.is_fully_defined()),
        (
            "inside tf.function with unknown dimensions",
            lambda x: x.shape.rank and not x.shape.is_fully_defined(),
        ),
        ("inside tf.function with unknown rank", lambda x: x.shape.rank is None),
    ],
)
def test_the_gradient_is_taken(where, is_odd):
    @tf.custom_gradient
    def op(x):
        odd = not tf.executing_eagerly() and is_odd(x)
        return tf.identity(x), lambda grad: 2 * grad if odd else grad

    report = opcheck.check(
        op, normal(2), checks="gradient", op_types=["IdentityN", "Identity"]
    )
    assert f"the gradient {where}" in report["gradient"].detail


def test_threads_are_1_2_and_more():
    counts = f"1, 2, {max(4, os.cpu_count())}"
    report = opcheck.check(adds_one, normal(2), checks="determinism")
    assert f"with {counts} threads" in report["determinism"].detail
    report = opcheck.check(adds_threads, normal(2), checks="determinism")
    assert report["determinism"].detail.startswith("run 1 with 2 intra-op threads;")


@pytest.mark.parametrize(
    ("op", "said"),
    [
        (
            zero_out,
            {
                "gradient": "float64, with respect to to_zero; second order too",
                "saved_model": "the same values; a clean error without the library",
                "vectorize": "served by the fallback, a while loop: no pfor rule",
                "xla": "not supported, said cleanly: no XLA kernel",
            },
        ),
        (
            tf.math.log,
            {
                "gradient": "float64, with respect to x; second order too",
                "saved_model": "loaded in a fresh process: the same values",
                "vectorize": "served by a pfor rule",
                "xla": "compiled by XLA",
            },
        ),
        (
            lambda x: tf.map_fn(tf.square, x),
            {"vectorize": "served by a pfor rule"},
        ),
        (
            lambda x: tf.data.Dataset.from_tensors(x).get_single_element(),
            {"vectorize": "makes a variant, which needs a pfor rule"},
        ),
    ],
)
def test_what_a_check_says(op, said):
    report = opcheck.check(op, 1 + np.abs(normal(2)), checks=said).assert_ok()
    for check, words in said.items():
        assert words in report[check].detail


def saved_model(loaded, bare) -> opcheck.Result:
    """What the check finds where a model, loaded with and without the library, comes to this."""

    class Child:
        def __init__(self, bare_):
            self.answers = {
                calls_module.save_model: [normal(2)],
                Subject.describe: SimpleNamespace(op_types=["ZeroOut"]),
                calls_module.load_saved_model: bare if bare_ else loaded,
            }

        def ask(self, request, **unused):
            return self.answers[request]

    def make(bare=False):
        return contextlib.nullcontext(Child(bare))

    found = opcheck.Findings("saved_model", "")
    fresh.saved_model(make, SimpleNamespace(inputs=[], options={}), found)
    return found.result()


@pytest.mark.parametrize("error", ["NotFoundError: another", ""])
def test_another_error_without_the_library_is_a_finding(error):
    right = calls_module.Outcome([normal(2)])
    bare = calls_module.Outcome(None, error) if error else right
    result = saved_model(right, bare)
    assert result.expected == "Op type not registered 'ZeroOut'"
    assert result.seen == (error or "it ran")


def test_another_result_of_a_saved_model_is_a_finding():
    bare = calls_module.Outcome(None, "Op type not registered 'ZeroOut'")
    assert saved_model(calls_module.Outcome([normal(2)]), bare).verdict == "pass"
    result = saved_model(calls_module.Outcome([normal(2) + 1]), bare)
    assert result.detail == "loaded in a fresh process"


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_a_special_value_that_is_passed_over_is_a_finding(special):
    def op(x):
        same = tf.math.is_nan(x) if np.isnan(special) else x == special
        return tf.where(same, tf.zeros_like(x), x)

    options = {"reference": lambda x: x, "checks": "reference"}
    report = opcheck.check(op, normal(4), **options)
    assert f"with {special}".lower() in report["reference"].detail.lower()
    opcheck.check(op, normal(4), special_values=False, **options).assert_ok()


def test_another_result_on_the_gpu_is_a_finding(monkeypatch):
    """A device that is not there is the CPU again, where this op gives another result at each call."""
    monkeypatch.setattr(tf.config, "get_visible_devices", lambda kind: [kind])
    for op, verdict in [(counts_calls, "fail"), (adds_one, "pass")]:
        found = opcheck.Findings("devices", "")
        subject = Subject(op, [normal(2)], {}, {"op_types": ["Identity"]})
        transforms.devices(subject, found)
        assert found.result().verdict == verdict


def test_empty_tries_each_dimension_and_scalars():
    sample = SimpleNamespace(attrs={}, inputs=[normal(2, 3), normal(4)])
    sample.flat, sample.pack = sample.inputs, list
    names = SimpleNamespace(names=[["x"], ["y"]])
    shapes = {
        case.label: [list(x.shape) for x in case.inputs]
        for case in robust._empty_cases(sample, names)
    }
    assert shapes["dimension 0 of x is 0"] == [[0, 3], [4]]
    assert shapes["dimension 1 of x is 0"] == [[2, 0], [4]]
    assert shapes["dimension 0 of y is 0"] == [[2, 3], [0]]
    assert shapes["dimension 0 of all inputs is 0"] == [[0, 3], [0]]
    assert shapes["x is a scalar"] == [[], [4]]
    assert shapes["all inputs are scalars"] == [[], []]


def test_tensors_of_a_list_have_numbers():
    description = SimpleNamespace(names=[["x"], ["rows"], ["rows"], []])
    assert robust._names(description) == ["x", "rows[0]", "rows[1]", "input 3"]


def test_bad_input_tries_what_can_be_wrong():
    floats = {what for what, _, _ in robust._wrong(normal(2, 3))}
    assert {f"has rank {rank}" for rank in (0, 1, 3, 5, 8)} < floats
    assert {"has dtype int8", "has dtype string", "has 3 rows", "has 1 rows"} < floats
    assert {"is all NaN", "starts with NaN", "starts with Inf", "is all -Inf"} < floats
    indices = {what for what, _, _ in robust._wrong(np.int32([1, 2]))}
    values = (-1, -(1 << 31), (1 << 31) - 1, 1 << 30)
    assert {f"starts with {value}" for value in values} < indices
    texts = {what: wrong for what, wrong, _ in robust._wrong(strings(b"a", b"b"))}
    assert len(texts["starts with a string of 16 MB"][0]) == 1 << 24


# The report.


@pytest.fixture(scope="module")
def failing():
    return opcheck.check(
        dies_of_scalars,
        normal(2, 3),
        checks=["reference", "empty", "xla", "schema"],
        skip={"schema": "tested elsewhere"},
    )


def test_the_table_fits_a_terminal(failing):
    text = str(failing)
    [to_copy] = [x for x in text.splitlines() if x.startswith("  reproduce ")]
    assert max(len(x) for x in text.splitlines() if x != to_copy) <= 88
    compile(to_copy.removeprefix("  reproduce "), "line", "exec")
    assert "\x1b" not in text
    assert "schema     skip     tested elsewhere" in text
    assert "reference  skip     no reference function was given" in text
    for label in ("expected", "seen", "cause", "read      docs/zero_out.md"):
        assert f"  {label}" in text
    assert "\x1b[31mfail" in failing.table(colour=True)


def test_assert_ok_explains(failing):
    with pytest.raises(opcheck.OpCheckError, match="1 failed") as raised:
        failing.assert_ok()
    assert "x is a scalar" in str(raised.value)
    assert "expected" in str(raised.value)
    assert isinstance(raised.value, AssertionError)
    with pytest.raises(KeyError):
        failing["gradient"]


def test_the_html_says_in_words_what_it_shows(failing):
    page = failing._repr_html_()
    assert page.count("<tr") == 1 + len(failing.results)
    assert '<th scope="row">empty</th><td>fail</td>' in page
    assert "&lt;" not in failing.summary()
    assert "currentColor" in page
    urls = importlib.metadata.metadata("op-by-op").get_all("Project-URL")
    site = dict(url.split(", ") for url in urls)["Documentation"]
    assert f'<a href="{site}zero_out.html">docs/zero_out.md</a>' in page
    assert not re.search(r"#[0-9a-f]{3,6}\b", page)


# Comparing.


@pytest.mark.parametrize(
    ("expected", "seen", "pattern"),
    [
        (np.float32([np.nan, 1]), np.float32([np.nan, 1]), "^$"),
        (
            np.float32([np.inf]),
            np.float32([-np.inf]),
            r"output\[0\] is -inf instead of inf",
        ),
        (np.float32([1]), np.float32([1 + 1e-6]), "^$"),
        (np.float32([1]), np.float32([1 + 1e-4]), "1 of 1 elements differ"),
        (
            np.int64([1 << 60]),
            np.int64([(1 << 60) + 1]),
            "instead of 1152921504606846976",
        ),
        (np.float32([1]), np.float64([1]), "dtype float64 instead of float32"),
        (np.zeros([2, 0]), np.zeros([0, 2]), r"shape \[0, 2\] instead of \[2, 0\]"),
        (strings(b"a"), strings(b"b"), "b'b' instead of b'a'"),
        (np.complex64([1j]), np.complex64([2j]), "2j instead of"),
    ],
)
def test_difference(expected, seen, pattern):
    assert re.search(pattern, difference([expected], [seen]))


def test_difference_of_bits():
    zeros = np.float32([0.0]), np.float32([-0.0])
    assert not difference(zeros[:1], zeros[1:])
    assert difference(zeros[:1], zeros[1:], exact=True)
    assert difference([], zeros[:1]) == "1 outputs instead of 0"
    bfloat16 = tf.bfloat16.as_numpy_dtype
    assert not difference([np.ones(2, bfloat16)], [np.array([1, 1.01], bfloat16)])
    assert difference([np.ones(2, bfloat16)], [np.array([1, 1.5], bfloat16)])


def test_a_difference_shows_what_differs():
    times = np.float64([1795269600.123]), np.float64([1795269600.456])
    seen = difference(times[:1], times[1:])
    assert "is 1795269600.456 instead of 1795269600.123 " in seen
    nans = np.uint32([0x7FC00000]), np.uint32([0x7FC00001])
    seen = difference(*([x.view(np.float32)] for x in nans), exact=True)
    assert "is nan (0x7fc00001) instead of nan (0x7fc00000) " in seen


def test_a_name_counts_as_a_word():
    message = (
        "InvalidArgumentError: {{function_node x}} a value of rows is wrong [Op:X]"
    )
    assert mentions(message, ["rows"])
    assert mentions(message, ["b", "a"])
    assert not mentions(message, ["x"])
    assert not mentions(message, ["ro"])


# Older definitions.


def op_def(name="Cumsum", **changes):
    copy = OpDef()
    copy.CopyFrom(op_def_registry.get(name))
    return copy


def test_an_older_definition_that_fits():
    assert compatibility.problems(op_def(), op_def()) == []
    old = op_def()
    del old.attr[next(i for i, a in enumerate(old.attr) if a.name == "reverse") :][:1]
    fewer = OpDef()
    fewer.CopyFrom(old)
    fewer.ClearField("attr")
    fewer.attr.extend(attr for attr in old.attr if attr.name != "reverse")
    assert compatibility.problems(fewer, op_def()) == []  # reverse has a default


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda old: old.attr.add(name="speed", type="int"), "attr speed is gone"),
        (lambda old: old.input_arg.pop(), "inputs"),
        (lambda old: old.output_arg.add(name="sum", type=1), "outputs were"),
        (
            lambda old: setattr(old.attr[0].default_value, "b", True),
            "the default of attr exclusive was b: true and is b: false",
        ),
        (
            lambda old: next(
                attr for attr in old.attr if attr.name == "T"
            ).allowed_values.list.type.append(7),
            "string",
        ),
    ],
)
def test_an_older_definition_that_does_not_fit(change, problem):
    old = op_def()
    change(old)
    assert problem in "\n".join(compatibility.problems(old, op_def()))


def test_every_op_fits_itself():
    """But for ops that TensorFlow 2 does not run: with references, or removed."""
    tried = 0
    for definition in map(op_def_registry.get, dir(tf.raw_ops)):
        if definition is None or definition.HasField("deprecation"):
            continue
        if any(x.is_ref for x in (*definition.input_arg, *definition.output_arg)):
            continue
        assert compatibility.problems(definition, definition) == [], definition.name
        tried += 1
    assert tried > 1000


def test_a_raised_minimum_is_found():
    now = op_def("AudioSummaryV2")
    old = op_def("AudioSummaryV2")
    [attr] = [attr for attr in old.attr if attr.name == "max_outputs"]
    assert (attr.minimum, attr.default_value.i) == (1, 3)
    assert compatibility.problems(old, now) == []
    attr.minimum = 0
    assert "at least minimum 1" in "\n".join(compatibility.problems(old, now))


def test_outputs_that_a_saved_model_does_not_find_are_problems():
    now = op_def("Cumsum")
    old = op_def("Cumsum")
    old.output_arg[0].name = "sums"
    assert compatibility.problems(old, now) == [
        "output sums is gone, or has another name"
    ]
    now, old = op_def("Split"), op_def("Split")
    old.output_arg[0].number_attr = ""
    [length] = [attr for attr in old.attr if attr.name == "num_split"]
    old.attr.remove(length)
    assert "output output became a list, which SavedModels do not find" in (
        compatibility.problems(old, now)
    )


def test_schema_reads_text():
    old = op_def()
    old.attr.add(name="speed", type="int")
    for text in (str(old), f"op {{ {old} }}", [old]):
        report = opcheck.check(
            tf.cumsum, normal(3), checks="schema", old_op_def=text, op_types=["Cumsum"]
        )
        assert report["schema"].seen == "attr speed is gone"
        assert report["schema"].chapter == "backward_compatibility"


# A call as a line of Python.


@pytest.mark.parametrize(
    "array",
    [
        np.float32(3),
        np.float32([0.1, 1e-38, np.pi, -0.0]),
        np.float16([0.0, -0.0]),
        np.float64([np.nan, -np.inf, 1e-300]),
        np.zeros([2, 0], np.int8),
        np.full([300, 2], 7),
        np.arange(6, dtype=np.uint8).reshape(2, 3),
        np.uint64([[2**63 + 9]]),
        strings(b"\xff\0", b"a"),
        np.bool_([[True], [False]]),
        np.complex64([1 + 2j, complex(np.nan, 0.1)]),
        np.zeros([0], object),
        np.asarray([0.1, np.inf], tf.bfloat16.as_numpy_dtype),
        tf.constant([3, -2], "qint8").numpy(),
    ],
)
def test_a_line_holds_the_very_values(array):
    line = source.line(None, adds_one, [array, [array]], {})
    name, shown = re.fullmatch(
        r"import tensorflow as tf; print\((\w+)\((.*)\)\)", line
    ).groups()
    values = eval(f"(lambda *values: values)({shown})", {"tf": tf})
    assert name == "adds_one"
    for value in (values[0], values[1][0]):
        assert value.dtype == tf.as_dtype(array.dtype)
        held = value.numpy()
        assert held.shape == array.shape
        assert held.tolist() == array.tolist() or held.tobytes() == array.tobytes()


def test_a_line_shows_the_shortest_numbers():
    line = source.line(None, adds_one, [np.float32([[0.1], [2]])], {})
    assert line.endswith('(tf.constant([0.1, 2.0], "float32", shape=[2, 1])))')


def test_a_line_holds_attrs_of_all_kinds():
    attrs = {
        "x": float("inf"),
        "some": [float("nan"), np.float32(0.1)],
        "pair": (1,),
        "types": [tf.float32, np.dtype("int8"), np.float16],
        "text": "a" * (1 << 24),
        "shape": tf.TensorShape([None, 2]),
        "table": np.float32([1, np.inf]),
    }
    line = source.line(None, adds_one, [], attrs)
    imports = "import numpy as np; import tensorflow as tf; "
    assert line == (
        f'{imports}print(adds_one(x=float("inf"), some=[float("nan"), 0.1], pair=(1,), '
        'types=[tf.as_dtype("float32"), np.dtype("int8"), np.dtype("float16").type], '
        'text="a" * 16777216, shape=tf.TensorShape([None, 2]), '
        'table=np.array([1.0, float("inf")], "float32")))'
    )
    call = line.removeprefix(imports).removeprefix("print(adds_one(")[:-2]
    held = eval(f"dict({call})", {"tf": tf, "np": np})
    assert held.keys() == attrs.keys()
    assert (held["types"], held["text"]) == (attrs["types"], attrs["text"])


def test_a_line_fits_between_the_single_quotes_of_a_shell():
    texts = ["a'b", "\\'", '"', "\"'\\\n", "é", ""]
    attrs = {"texts": [*texts, *(text.encode() for text in texts), np.str_("a")]}
    line = source.line(locate(adds_one), adds_one, [strings(b"'", b"a")], attrs)
    assert "'" not in line
    held = re.search(r"texts=(.*)\)\)$", line)[1]
    assert eval(held) == attrs["texts"]
    shown = line.rpartition("; ")[2]
    assert shown.startswith(r'print(adds_one(tf.constant([b"\x27", b"a"], "string"), t')


def test_a_line_calls_the_op_as_it_failed():
    line = source.line(None, adds_one, [np.int8(1)], {"k": 2}, ["eager", "graph"])
    assert line == (
        'import tensorflow as tf; print(*(call(tf.constant(1, "int8"), k=2) '
        "for call in (adds_one, tf.function(adds_one, autograph=False))))"
    )


def test_a_line_imports_from_a_package(tmp_path, monkeypatch):
    package = tmp_path / "a_package"
    package.mkdir()
    (package / "__init__.py").write_text("from .inner import op")
    (package / "inner.py").write_text("from . import other\ndef op(x): return x")
    (package / "other.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    op = importlib.import_module("a_package").op
    line = source.line(locate(op), op, [np.int8(1)], {})
    assert "; from a_package.inner import op; print(op(" in line
    run = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True)
    assert run.stdout == "tf.Tensor(1, shape=(), dtype=int8)\n"


def test_a_crash_in_a_graph_is_reproduced_in_a_graph():
    report = opcheck.check(dies_of_scalars_in_graphs, normal(2), checks="empty")
    assert (
        "print(tf.function(dies_of_scalars_in_graphs, autograph=False)("
        in report["empty"].line
    )


# Fuzzing.


def test_fuzz_passes_a_correct_op():
    report = fuzz(
        zero_out,
        calls(tensors(st.sampled_from(["float32", "int32"]))),
        examples=500,
        reference=zero_out_reference,
    )
    assert report.assert_ok().calls >= 500
    assert report.errors == 0
    assert "500 generated calls" in str(report)


def test_fuzz_shrinks_a_wrong_value():
    report = fuzz(
        is_off_by_one_from_seven_on,
        calls(tensors("int32", elements=st.integers(-100, 100))),
        examples=2000,
        reference=lambda x: x,
    )
    assert not report.ok
    assert "is_off_by_one_from_seven_on(tf.constant(7, " in report.line
    with pytest.raises(opcheck.OpCheckError, match="instead of 7"):
        report.assert_ok()
    assert report.line in html.unescape(report._repr_html_())


def test_fuzz_shrinks_a_crash_to_a_line_that_reproduces_it():
    report = fuzz(
        dies_of_negatives,
        calls(tensors(elements=st.integers(-9, 9).map(float)), index=st.integers(0, 9)),
        examples=2000,
    )
    assert report.results[0].detail.startswith("crash")
    assert re.search(
        r"dies_of_negatives\(tf.constant\(-1.0, .float32.\), index=4\)", report.line
    )
    run = subprocess.run([sys.executable, "-c", report.line], capture_output=True)
    assert run.returncode == -signal.SIGABRT, run.stderr.decode()


def test_fuzz_finds_what_differs_in_a_graph():
    report = fuzz(counts_calls, calls(tensors(elements=st.just(1.0), min_rank=1)))
    assert report.results[0].detail.startswith("eager_vs_graph")


def run_line(report):
    command = [sys.executable, "-c", report.line]
    return subprocess.run(command, capture_output=True, text=True)


def test_fuzz_infers_shapes_from_some_of_the_dimensions():
    report = fuzz(transposed, calls(tensors(min_rank=2, max_rank=2)))
    assert report.results[0].detail.startswith("static_shape")
    assert "None" in report["fuzz"].seen
    assert re.search(r"^\(\d, \d\) tf.Tensor\(", run_line(report).stdout)


def test_fuzz_reproduces_what_is_wrong_for_unknown_ranks():
    pairs = calls(tensors(elements=st.just(1.0)), [np.float32(1)], k=st.integers(1, 9))
    report = fuzz(is_odd_for_unknown_ranks, pairs, examples=100)
    assert "keeps something from one call" not in report["fuzz"].cause
    eager, graph = run_line(report).stdout.split(" tf.Tensor")
    assert eager.startswith("tf.Tensor(1.0, shape=()")
    assert graph.startswith("(2.0, shape=()")


def test_fuzz_reproduces_an_odd_error_in_a_graph():
    report = fuzz(raises_something_odd_in_graphs, calls(tensors()), variations=0)
    assert report["fuzz"].seen == "RuntimeError: odd"
    assert "RuntimeError: odd" in run_line(report).stderr


def test_fuzz_reproduces_a_crash_while_shapes_are_inferred():
    report = fuzz(dies_of_unknown_dimensions, calls(tensors(min_rank=1)))
    assert report.results[0].detail.startswith("crash")
    assert "tf.TensorSpec([None]" in report.line
    assert run_line(report).returncode == -signal.SIGABRT


def test_fuzz_says_when_a_call_does_not_fail_by_itself():
    lists = calls(tensors(min_rank=1, max_rank=1, elements=st.just(1.0)))
    report = fuzz(
        remembers_the_first_size,
        lists,
        reference=lambda x: x,
    )
    assert "not this call alone" in report["fuzz"].cause


def test_the_limit_counts_memory_and_not_addresses():
    """With many cores, threads reserve more than the limit in addresses alone."""
    code = """
import mmap
from opcheck.worker import _limit_memory
_limit_memory({"memory": 1 << 30})
mmap.mmap(-1, 4 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=0)
try:
    bytearray(2 << 30)
except MemoryError:
    print("limited")
"""
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert run.stdout == "limited\n", run.stderr


def test_fuzz_does_not_take_little_memory_for_a_finding():
    big = calls(np.float32(1), size=150_000_000)
    fuzz(filled, big, examples=1, variations=0, memory=1 << 30).assert_ok()


def test_fuzz_counts_clean_errors_only():
    report = fuzz(raises_something_odd, calls(np.zeros([1] * 8, np.float32)))
    assert (report["fuzz"].seen, report.errors) == ("RuntimeError: odd", 0)


def test_fuzz_ends_when_time_is_up():
    report = fuzz(adds_one, calls(tensors()), examples=10_000_000, seconds=1)
    assert report.ok
    assert 0 < report.calls < 10_000_000


@pytest.mark.parametrize(
    ("progress", "drawn"), [(True, rf"\r\[{'#' * 30}\] \d+ calls *\n$"), (False, "^$")]
)
def test_fuzz_draws_a_progress_bar(capsys, progress, drawn):
    fuzz(adds_one, calls(tensors()), examples=20, progress=progress)
    assert re.search(drawn, capsys.readouterr().err)


def test_without_hypothesis_fuzz_says_what_is_missing():
    script = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "import opcheck\n"
        "try: opcheck.fuzz(print, None)\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT
    )
    assert "opcheck.fuzz needs Hypothesis: pip install" in run.stdout, run.stderr


def test_fuzz_names_what_it_cannot_skip():
    for skip in ("gradient", ["gradient"]):
        with pytest.raises(ValueError, match="no check gradient: fuzz has eager_vs"):
            fuzz(adds_one, calls(tensors()), skip=skip)


def test_fuzz_skips_what_it_is_told_to():
    odd = calls(np.zeros([1] * 8, np.float32))
    fuzz(raises_something_odd, odd, skip="bad_input").assert_ok()


def test_variations_follow_from_the_inputs_alone():
    inputs = [normal(3, 2), [np.int32([1, 2]), strings(b"x")]]
    once, twice = (list(variations(inputs, 20)) for _ in range(2))
    assert len(once) == 21
    for (first, _), (second, _) in zip(once, twice):
        flat = [[x[0], *x[1]] for x in (first, second)]
        assert not difference(*flat, exact=True)
        assert set(flat[0][0].reshape(-1)) <= set(inputs[0].reshape(-1))
    assert any(x[0].shape != (3, 2) for x, same in once if not same)
    assert all(x[0].shape == (3, 2) for x, same in once if same)


# The command line.

SAMPLES = """
import numpy as np
good = (np.float32([3, 4]),)
full = {"inputs": good, "reference": lambda x: np.where(np.arange(x.size), np.float32(0), x), "checks": ["reference"]}
wrong = {"inputs": good, "reference": lambda x: x}
nothing = 7
misspelt = {"inputs": good, "checks": ["refrence"]}
unknown = {"inputs": good, "repeat": 3}
three = good * 3
def made():
    return full
def failing():
    return {}["x"]
"""


@pytest.fixture
def samples(tmp_path):
    (tmp_path / "cli_samples.py").write_text(SAMPLES)
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit(0)\n")
    (tmp_path / "unclear.py").write_text("def x(:\n")
    return tmp_path / "cli_samples.py"


def test_the_command(samples):
    page = samples.with_name("report.html")
    run = subprocess.run(
        [
            *(
                sys.executable,
                "-m",
                "opcheck",
                ZERO_OUT,
                "--samples",
                f"{samples}:good",
            ),
            *("--checks", "eager_vs_graph, empty", "--html", page),
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert run.returncode == 0, run.stderr
    assert "zero_out: 2 passed, 0 failed" in run.stdout
    assert page.read_text().startswith("<!doctype html>")
    assert "<td>pass</td>" in page.read_text()


def test_the_command_fails_where_a_check_fails(samples, capsys):
    assert main([ZERO_OUT, "--samples", f"{samples}:made"]) == 0
    arguments = [ZERO_OUT, "--samples", f"{samples}:wrong", "--checks", "reference"]
    assert main(arguments) == 1
    assert "1 failed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("op", "sample", "more", "message"),
    [
        ("nowhere.py:op", ":good", [], "there is no file nowhere.py"),
        ("zero_out", ":good", [], "'zero_out' is not FILE.py:name"),
        (f"{ZERO_OUT}s", ":good", [], "has no zero_outs"),
        (ZERO_OUT, ":bad", [], "has no bad"),
        (ZERO_OUT, ":nothing", [], "is neither a tuple of inputs nor a dict"),
        (ZERO_OUT, ":misspelt", [], "no check 'refrence'"),
        (ZERO_OUT, ":unknown", [], "an unexpected keyword argument 'repeat'"),
        (
            ZERO_OUT,
            ":three",
            [],
            "cannot be called with 3 inputs and no attrs: too many",
        ),
        (
            ZERO_OUT,
            ":failing",
            [],
            "failing raised KeyError: 'x' (cli_samples.py, line ",
        ),
        (ZERO_OUT, ":good", ["--checks", ""], "no check ''"),
        ("leaves.py:x", ":good", [], "cannot be imported: SystemExit: 0 (leaves.py, "),
        ("unclear.py:x", ":good", [], "cannot be imported: SyntaxError: "),
        (ZERO_OUT, ":good", ["--skip", "x"], "no check 'x'"),
        (ZERO_OUT, ":good", ["--colour"], "unrecognized arguments: --colour"),
        (
            "broken.py:x",
            ":good",
            [],
            "broken.py cannot be imported: ZeroDivisionError: division by zero (broken.py, line 1)",
        ),
        (
            ZERO_OUT,
            ":full",
            ["--html", "/nowhere/x.html"],
            "cannot write /nowhere/x.html: No such file or directory",
        ),
    ],
)
def test_bad_use_is_one_line_and_exit_1(
    samples, capsys, monkeypatch, op, sample, more, message
):
    monkeypatch.chdir(samples.parent)
    assert main([op, "--samples", f"{samples}{sample}", *more]) == 1
    error = capsys.readouterr().err
    assert re.search(re.escape(message), error)
    assert len(error.splitlines()) == 1
    assert error.startswith("opcheck: ")


def test_samples_are_required(capsys):
    assert main([ZERO_OUT]) == 1
    required = "opcheck: the following arguments are required: --samples\n"
    assert capsys.readouterr().err == required


def test_help_has_every_option_and_every_check(capsys):
    with pytest.raises(SystemExit) as exit:
        main(["--help"])
    assert exit.value.code == 0
    text = capsys.readouterr().out
    options = {x for action in parser()._actions for x in action.option_strings}
    assert options - {"-h", "--help"} == set(re.findall(r"--\w+", text))
    assert set(opcheck.NAMES) <= set(re.findall(r"\w+", text))
