"""What counts as a worker that hangs, and how it gets about."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import tensorflow as tf
from python_ops import adds_one, fills_memory, normal, result

import opcheck
from opcheck.processes import calls, children, pulse
from opcheck.processes.pulse import Clock, Patience, Pulse, Step, Watch
from opcheck.run import _Run

FREE = Step(waited=0.0, computed=True, filled=0)


class Told:
    """A Watch and a Pulse whose steps are told; `seconds` is how many steps the clock took, of one second each."""

    def __init__(self, *steps: Step, inside: int = 1, changes=lambda second: 1):
        self.steps, self.inside, self.changes = steps, inside, changes
        self.seconds = 0

    def step(self, seconds: float) -> Step:
        self.seconds += 1
        return self.steps[min(self.seconds, len(self.steps)) - 1]

    def read(self) -> tuple[int, int]:
        return self.changes(self.seconds), self.inside

    def hangs(self, patience: Patience, larger: float = 1.0) -> str:
        """What the clock says in the end."""
        clock = Clock(patience, self, self, larger)
        while not (how := clock.step(1.0)):
            assert self.seconds < 1000, "it never says so"
        return how


def test_a_call_that_computes_or_waits_too_long_hangs():
    told = Told(FREE)
    assert told.hangs(Patience(6)) == "no answer within 6 s: it computes"
    assert told.seconds == 7  # the first one sees that the call is under way
    idle = Step(waited=0.0, computed=False, filled=0)
    assert Told(idle).hangs(Patience(6)) == "no answer within 6 s: it waits"
    unknown = Step(waited=0.0, computed=None, filled=0)
    assert Told(unknown).hangs(Patience(6)) == "no answer within 6 s"


def test_the_time_of_other_processes_does_not_count():
    told = Told(Step(waited=0.9, computed=True, filled=0))
    assert told.hangs(Patience(6)).startswith("no answer within 6 s")
    assert told.seconds == pytest.approx(61, abs=1)


def test_a_call_that_fills_memory_has_longer():
    told = Told(*[Step(0.0, True, 1 << 28)] * 9, FREE)
    told.hangs(Patience(6))
    assert told.seconds == pytest.approx(6 + 20 * 2, abs=1)  # 8 times 256 MiB


def test_an_op_whose_calls_are_slow_has_longer():
    patience = Patience(6)
    told = Told(FREE, changes=lambda second: second // 4)
    with pytest.raises(AssertionError, match="never says so"):
        told.hangs(patience)
    assert patience.slowest == 3
    told = Told(FREE)
    told.hangs(patience)
    assert told.seconds == 5 * 3 + 1
    told = Told(FREE)
    told.hangs(patience, larger=4)
    assert told.seconds == 4 * 5 * 3 + 1


def test_where_no_call_is_under_way_there_is_more_time():
    told = Told(FREE, inside=0)
    assert told.hangs(Patience(6)) == "no answer within 48 s"


def test_where_no_call_is_under_way_something_has_to_go_on():
    told = Told(Step(0.0, True, 0, read=0), inside=0)
    assert told.hangs(Patience(6)) == "no answer within 12 s: it computes"
    told = Told(Step(0.0, False, 0, read=0), inside=0)
    assert told.hangs(Patience(6)) == "no answer within 12 s: it waits"
    for goes_on in (Step(0.0, True, 0, read=1), Step(0.0, True, 1, read=0)):
        told = Told(*[goes_on, Step(0.0, True, 0, read=0)] * 100, inside=0)
        assert told.hangs(Patience(6)) == "no answer within 48 s"


@pytest.mark.parametrize(("hung", "seconds"), [(1, 2), (2, 2), (3, 1)])
def test_after_a_call_has_hung_others_have_less_time(hung, seconds):
    told = Told(FREE)
    told.hangs(Patience(6, hung=hung))
    assert told.seconds == seconds + 1


def test_a_worker_shows_what_it_does(tmp_path, monkeypatch):
    with (tmp_path / "shared").open("wb+") as file:
        file.truncate(1 << 16)
        theirs, ours = Pulse(file.fileno()), Pulse(file.fileno())
    monkeypatch.setattr(pulse, "_own", theirs)
    with pulse.one_call(), pulse.one_call():
        assert ours.read() == (2, 2)
    assert ours.read() == (4, 0)
    with pytest.raises(ValueError, match="wrong"), pulse.one_call():
        raise ValueError("wrong")
    assert list(pulse.each([1, 2])) == [1, 2]
    assert ours.read() == (12, 0)

    def some_calls(_):
        for _ in range(1000):
            with pulse.one_call():
                pass

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(some_calls, range(8)))
    assert ours.read() == (12 + 2 * 8 * 1000, 0)


@pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="needs Linux")
def test_what_a_process_does_is_known():
    watch = Watch(os.getpid())
    stop = threading.Event()
    thread = threading.Thread(target=lambda: [None for _ in iter(stop.is_set, True)])
    thread.start()
    time.sleep(0.5)
    did = watch.step(0.5)
    stop.set()
    thread.join()
    assert did.computed and 0 <= did.waited <= 0.5


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs Linux")
def test_the_memory_that_a_process_fills_is_known():
    code = "input(); filled = bytes(range(256)) * (1 << 18); print(flush=True); input()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as child:
        time.sleep(0.5)  # Python has started
        watch = Watch(child.pid)
        child.stdin.write("\n")
        child.stdin.flush()
        child.stdout.readline()
        filled = watch.step(0.1).filled
        child.communicate("\n")
    assert filled > 1 << 25  # of 64 MiB
    assert Watch(-1).step(0.1) == Step(0.0, None, 0)


@pytest.mark.skipif(not os.path.exists("/proc/self/io"), reason="needs Linux")
def test_a_process_that_is_stopped_is_not_blamed():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=-1) as child:
        os.kill(child.pid, signal.SIGSTOP)
        os.waitpid(child.pid, os.WUNTRACED)
        did = Watch(child.pid).step(0.1)
        os.kill(child.pid, signal.SIGCONT)
        child.communicate(b"\n")
    assert (did.waited, did.computed, did.read) == (0.1, True, 0)


def hangs_always(x):
    if tf.executing_eagerly():
        time.sleep(1000)
    return tf.identity(x)


def test_after_an_interrupt_no_worker_is_waited_for(monkeypatch):
    begun, ended = threading.Event(), []

    def jobs(run, chosen):
        def waits():
            try:
                with run.child() as child:
                    begun.set()
                    child.ask(calls.call, inputs=[normal(2)], attrs={}, modes=["eager"])
            except BaseException as error:
                ended.append(type(error))

        def interrupted():
            begun.wait()
            raise KeyboardInterrupt

        return [interrupted, waits]

    monkeypatch.setattr(_Run, "jobs", jobs)
    with pytest.raises(KeyboardInterrupt):
        opcheck.check(hangs_always, normal(2), timeout=5)
    assert ended == [KeyboardInterrupt]


@tf.function
def adds_one_by_autograph(x):
    return x + 1


def test_the_temporary_files_of_a_worker_are_gone_with_it(tmp_path, monkeypatch):
    """Those of TensorFlow's autograph."""
    children.stop_server()
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    found = result("eager_vs_graph", adds_one_by_autograph, normal(2))
    assert found.verdict == "pass", found.explanation()
    children.stop_server()
    end = time.monotonic() + 60
    while any(tmp_path.iterdir()) and time.monotonic() < end:
        time.sleep(0.1)
    assert not [*tmp_path.iterdir()]


def test_no_folder_for_temporary_files_is_needed(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    checks = ["eager_vs_graph", "saved_model"]
    report = opcheck.check(adds_one, normal(2), checks=checks)
    assert [one.verdict for one in report.results] == ["pass", "skip"]
    assert report["saved_model"].detail == (
        "a model is to be saved: No such file or directory"
    )


def waits_for_ever_if_large(x):
    if tf.executing_eagerly() and tf.size(x) > 4:
        time.sleep(1000)
    return tf.identity(x)


@pytest.mark.slow
@pytest.mark.parametrize("check", ["concurrency", "determinism"])
def test_a_call_that_hangs_is_named(check):
    found = result(check, waits_for_ever_if_large, normal(2, 1), timeout=2)
    assert found.detail.endswith("a larger sample")
    if check == "concurrency":
        assert "shape=[8, 1]" in found.line


_CALLS = []


def waits_from_the_tenth_call(x):
    _CALLS.append(x)
    if len(_CALLS) > 9:
        time.sleep(1000)
    return tf.identity(x)


def test_where_several_checks_hang_the_others_do_not_wait():
    report = opcheck.check(waits_from_the_tenth_call, normal(2), timeout=1)
    hanging = [one for one in report.failures if "no answer within" in one.seen]
    skipped = [one for one in report.results if "checks hang, such as" in one.detail]
    assert len(hanging) >= 3 and skipped


def computes_forever(x):
    while tf.executing_eagerly():
        pass
    return tf.identity(x)


@pytest.mark.slow
@pytest.mark.parametrize("op", [hangs_always, computes_forever])
def test_a_sample_call_that_hangs_is_waited_for_once(op):
    checks = ["eager_vs_graph", "empty", "determinism", "bad_input"]
    report = opcheck.check(op, normal(2), checks=checks, timeout=2)
    first, *others = report.results
    does = "waits" if op is hangs_always else "computes"
    assert first.detail == "the sample call"
    assert first.seen == f"no answer within 2 s: it {does}"
    assert "timeout=" in first.cause and "print(" in first.line
    assert {one.verdict for one in others} == {"skip"}
    assert {one.detail for one in others} == {
        "the sample call hangs: see eager_vs_graph"
    }


def sleeps_a_second(x):
    if tf.executing_eagerly():
        time.sleep(1)
    return tf.identity(x)


@pytest.mark.slow
def test_a_call_that_is_slow_and_right_does_not_hang():
    """It takes longer than `timeout`, but it fills memory; or all calls do, but none by itself."""
    opcheck.check(fills_memory, normal(2), checks=["bounds"], timeout=1).assert_ok()
    found = opcheck.check(sleeps_a_second, normal(2), checks=["vectorize"], timeout=2)
    found.assert_ok()
    opcheck.check(adds_one, normal(2), checks=["schema"], timeout=1).assert_ok()


@pytest.mark.slow
def test_a_module_of_the_working_directory_does_not_hide_pythons_own(tmp_path):
    (tmp_path / "code.py").write_text("raise RuntimeError('not this one')")
    program = "import opcheck, tensorflow as tf; print(opcheck.check(tf.square, [1.0], checks='empty'))"
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/check.py").write_text(program)
    command = [sys.executable, "folder/check.py"]
    environment = {**os.environ, "PYTHONPATH": str(Path(opcheck.__file__).parents[1])}
    run = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert "1 passed" in run.stdout, run.stdout + run.stderr
