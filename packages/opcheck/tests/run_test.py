"""`opcheck.check` and `op_test`: their arguments, the processes, and checks of one's own."""

import importlib
import os
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from python_ops import (
    adds_one,
    adds_one_as_a_graph,
    dies,
    has_rows,
    normal,
    result,
    strings,
)

import opcheck
from opcheck import plugin, testing
from opcheck.findings.report import AT_ONCE, SHARED, by_signal
from opcheck.findings.source import line
from opcheck.inputs.samples import as_arrays
from opcheck.locations import Location, locate
from opcheck.processes import children
from opcheck.processes.worker import place
from opcheck.run import _Run
from opcheck.strategies import calls, tensors
from opcheck.testing import op_test

PACKAGE = Path(opcheck.__file__).parents[1]


def test_samples_are_generated():
    sample = opcheck.Sample(
        tf.TensorSpec([None, 2]), lambda random, shape: random.uniform(size=shape)
    )
    assert np.asarray(sample).shape == (3, 2)
    assert np.asarray(sample).dtype == np.float32
    assert result("reference", adds_one, sample, reference=adds_one).verdict == "pass"


# Where an op is found by other processes.


def test_a_module_that_no_worker_can_import_is_a_failure(tmp_path, monkeypatch):
    (tmp_path / "only_here.py").write_text(
        "from opcheck.processes import children\n"
        "if children.in_worker: raise RuntimeError('not here')\n"
        "def op(x): return x\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    op = importlib.import_module("only_here").op
    report = opcheck.check(op, normal(2), checks=["eager_vs_graph", "xla", "empty"])
    for found in report.results:
        assert (found.verdict, found.seen) == ("fail", "RuntimeError: not here")
    message = r"cannot import op: RuntimeError: not here \("
    with pytest.raises(ValueError, match=message):
        opcheck.fuzz(op, calls(tensors()))


def test_what_cannot_be_imported_is_checked_in_this_process_only():
    def op(x):
        return x + 1

    assert result("eager_vs_graph", op, normal(2)).verdict == "pass"
    found = result("bad_input", op, normal(2))
    assert found.verdict == "skip"
    assert "a child process cannot import" in found.detail
    message = "cannot import .*write a `def` at the top level"
    with pytest.raises(ValueError, match=message):
        opcheck.fuzz(op, calls(tensors()))


def _that_adds(n):
    def adds(x):
        return x + n

    return adds


adds_three = _that_adds(3)


def test_a_function_that_another_one_made_is_taken_where_its_module_holds_it():
    where = locate(adds_three)
    assert (where.module, where.name) == ("run_test", "adds_three")
    found = result("empty", adds_three, normal(2))
    assert found.verdict == "pass", found.detail
    call = line(where, adds_three, [np.int8(1)], {})
    assert "from run_test import adds_three; print(adds_three(" in call


def test_a_function_that_tensorflow_generated_is_taken_where_a_module_holds_it(
    broken_ops, monkeypatch
):
    generated = broken_ops.cube
    where = locate(generated)
    assert (where.module, where.name) == ("broken_ops", "cube")
    assert where.load() is generated
    assert result("saved_model", generated, normal(2)).verdict == "pass"
    nowhere = types.ModuleType("made")
    nowhere._IS_TENSORFLOW_PLUGIN = True
    exec("def op(x): return x", vars(nowhere))
    monkeypatch.setitem(sys.modules, "made", nowhere)
    with pytest.raises(ValueError, match="op, made by tf.load_op_library"):
        locate(nowhere.op)


def test_what_is_set_after_the_import_is_missed_by_who_imports(tmp_path):
    """As a library that is loaded by a function of the module."""
    file = tmp_path / "loads_later.py"
    file.write_text("library = None\n")
    where = Location("loads_later", str(file), "library.op")
    with pytest.raises(AttributeError, match=r"loads_later.py has no library\.op when"):
        where.load()


def test_a_wrapper_is_not_taken_for_what_it_wraps():
    assert locate(adds_one_as_a_graph).name == "adds_one_as_a_graph"
    with pytest.raises(ValueError, match="cannot import adds_one"):
        locate(tf.function(adds_one))


SCRIPT = """
import opcheck
def op(x):
    return x
{guard}print(opcheck.check(op, [1.0], checks=["empty"]).assert_ok())
"""


@pytest.mark.slow
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
        env={**os.environ, "PYTHONPATH": str(PACKAGE)},
    )
    assert output in " ".join((run.stdout + run.stderr).split())
    assert (run.returncode == 0) == bool(guard)


# Processes.


def test_without_isolation_no_process_is_started():
    children.stop_server()
    report = opcheck.check(
        adds_one, normal(2), checks=["eager_vs_graph", "gradient"], isolate=False
    )
    assert report.ok and not report.workers


@pytest.mark.slow
def test_a_server_that_died_is_started_again():
    children.start_server()
    process, _ = children._server
    process.kill()
    process.wait()
    assert result("empty", adds_one, normal(2)).verdict == "pass"


@pytest.mark.parametrize("setting", [None, "1"])
def test_workers_do_without_the_allocator_of_onednn(monkeypatch, setting):
    # It waits for 10 s where memory ends, and hides what a kernel has not written.
    monkeypatch.delenv("TF_ENABLE_ONEDNN_OPTS")
    if setting:
        monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", setting)
    assert children.environment()["TF_ENABLE_ONEDNN_OPTS"] == (setting or "0")


def test_the_limit_counts_memory_and_not_addresses():
    """With many cores, threads reserve more than the limit in addresses alone."""
    code = """
import mmap
from opcheck.processes.worker import limit_memory
limit_memory({"memory": 1 << 30})
mmap.mmap(-1, 4 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=0)
try:
    bytearray(2 << 30)
except MemoryError:
    print("limited")
"""
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=PACKAGE, capture_output=True, text=True
    )
    assert run.stdout == "limited\n", run.stderr


@pytest.mark.parametrize(
    ("doing", "cause"),
    [(f"{AT_ONCE}: eager calls", SHARED), ("eager", "past the end of an output")],
)
def test_calls_at_once_that_break_memory_share_it(doing, cause):
    crash = children.Crash("it died", doing, "double free or corruption (out)", False)
    assert cause in _Run._crashed(None, crash)[-1]


def test_the_place_of_an_error_is_not_in_opcheck():
    with pytest.raises(ValueError, match="dense tensors") as error:
        as_arrays([object()])
    assert place(error.value).startswith("run_test.py, line ")


# Checks of one's own.


def test_a_check_of_one_s_own_runs_in_the_worker_or_here():
    checks = ["empty", "has_rows"]
    report = opcheck.check(adds_one, normal(2, 3), checks=checks, extra=[has_rows])
    assert [found.check for found in report.results] == checks
    here = f"2 rows, in process {os.getpid()}"
    assert report["has_rows"].verdict == "pass"
    assert report["has_rows"].detail != here
    options = {"extra": [has_rows], "isolate": False}
    assert result("has_rows", adds_one, normal(2), **options).detail == here


def test_a_check_of_one_s_own_fails_crashes_and_is_skipped():
    own = {"extra": [has_rows]}
    failure = result("has_rows", adds_one, normal(0, 3), **own)
    assert failure.verdict == "fail"
    assert "read" not in failure.explanation()
    page = opcheck.Report("adds_one", [failure])._repr_html_()
    assert '<th scope="row">has_rows</th><td>fail</td>' in page
    assert result("has_rows", adds_one, 1.0, **own).detail == "a scalar has no rows"
    assert "SIGSEGV" in result("has_rows", dies, normal(2), **own).seen
    found = result("has_rows", adds_one, 1.0, skip={"has_rows": "no"}, **own)
    assert (found.verdict, found.detail) == ("skip", "no")


test_has_rows = op_test(adds_one, normal(2), checks=["has_rows"], extra=[has_rows])


def test_a_test_without_a_reference_fails_unless_it_says_why():
    message = r"^adds_one has no reference: give op_test reference=…, or skip="
    with pytest.raises(pytest.fail.Exception, match=message):
        op_test(adds_one, normal(2))("reference")
    why = {"reference": "too hard"}
    test = op_test(adds_one, normal(2), checks=["reference"], skip=why)
    with pytest.raises(pytest.skip.Exception, match="^too hard$"):
        test("reference")


def test_a_misspelt_option_of_op_test_is_one_line_for_each_check():
    test = op_test(adds_one, normal(2), reference=np.asarray, repeat=3)
    for name in ("schema", "reference"):
        with pytest.raises(pytest.fail.Exception, match="'repeat': did you mean") as it:
            test(name)
        assert not it.value.pytrace


@pytest.mark.parametrize(("given", "fast"), [({}, True), ({"fast": False}, False)])
def test_op_test_is_fast_where_pytest_is_told_so(monkeypatch, given, fast):
    seen = {}

    def check(*_, **options):
        seen.update(options)
        return {"schema": types.SimpleNamespace(verdict="pass")}

    monkeypatch.setattr(testing, "check", check)
    monkeypatch.setitem(plugin.DEFAULTS, "fast", True)
    op_test(adds_one, normal(2), reference=np.asarray, **given)("schema")
    assert seen["fast"] == fast


def test_an_exception_is_a_cause_only_where_there_are_texts():
    died = "the process died of SIGSEGV"
    assert "std::stoi" not in by_signal(died, "eager", [normal(2)])
    assert "std::stoi" in by_signal(died, "eager", [strings(b"1")])


@pytest.mark.parametrize(
    ("signal", "told"),
    [("SIGSEGV", "a read past the end of an input"), ("SIGFPE", "divided by 0")],
)
def test_a_crash_beside_an_unreadable_page_is_told_as_such(signal, told):
    crash = children.Crash(f"the process died of {signal}", "guarded", "", hung=False)
    tried, _, _, cause = _Run._crashed(None, crash)
    assert tried == "with inputs that end at an unreadable page"
    assert told in cause
