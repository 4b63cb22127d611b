"""What a report says of findings, in a terminal and in a notebook."""

import re

import forked
import pytest
import tensorflow as tf
from python_ops import adds_one, adds_threads, counts_calls, dies_of_scalars, normal

import opcheck
from opcheck import errors
from opcheck.findings import report
from opcheck.subject import UNREPEATED


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
    for label in ("expected", "seen", f"read      {errors.SITE}zero_out.html"):
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


@pytest.mark.parametrize(
    ("checks", "told"),
    [("devices", r"no check ran: devices \(no GPU\)"), ([], "none was chosen")],
)
def test_nothing_that_ran_is_not_ok(monkeypatch, checks, told):
    monkeypatch.setattr(tf.config, "get_visible_devices", lambda kind: [])
    options = {"checks": checks, "isolate": False}
    idle = opcheck.check(adds_one, normal(2), **options)
    assert not idle.ok and not idle.failures
    assert re.search(f"^{told}|: {told}", str(idle), re.M)
    with pytest.raises(opcheck.OpCheckError, match=told):
        idle.assert_ok()
    with pytest.raises(opcheck.OpCheckError, match=told):
        opcheck.check(adds_one, normal(2), raise_on_failure=True, **options)


def test_the_html_says_in_words_what_it_shows(failing):
    page = failing._repr_html_()
    assert page.count("<tr") == 1 + len(failing.results)
    assert '<th scope="row">empty</th><td>fail</td>' in page
    assert "&lt;" not in failing.summary()
    assert "currentColor" in page
    address = f"{errors.SITE}zero_out.html#refuse-bad-input"
    assert f'<a href="{address}">{address}</a>' in page
    assert not re.search(r"#[0-9a-f]{3,6}\b", page)


def test_wrong_values_are_told_before_a_message_without_a_name():
    found = report.Findings("bad_input", "")
    found.fail("k = 0", "an error that names k", "odd", report.UNNAMED, line="1")
    found.fail("k = 1", "what the reference computes", "2", "a mistake")
    assert found.result().detail == "k = 1; 1 more: k = 0"


def refuses(x):
    raise ValueError("several\nlines")


def test_what_fails_in_the_same_words_is_explained_once():
    found = opcheck.check(refuses, normal(2), checks=["dtypes", "schema", "empty"])
    assert len(found.failures) == 3
    assert "dtypes, empty, schema: the check could not go on" in str(found)
    assert str(found).count("ValueError: several lines") == 1
    assert "it is raised in report_test.py, line " in str(found)
    assert found._repr_html_().count("several") == 1
    assert "as for dtypes" in found._repr_html_()


@pytest.mark.parametrize(
    ("seen", "cause"),
    [
        (
            "the process died of SIGABRT: tensor.cc:899] Check failed: IsAligned()",
            "unaligned_flat() takes it",
        ),
        (
            "InternalError: Missing 1-th output from {{node X}}",
            "having set that output",
        ),
        ("no answer within 5 s; reproduce: …", "a loop that does not end"),
        ("terminate called after throwing 'std::bad_alloc'", "the option memory"),
        ("NotImplementedError: Cannot convert a symbolic tf.Tensor (x:0)", "a graph"),
        ("the process died of SIGABRT: free(): invalid pointer", "past the end of an"),
        ("the process died of SIGABRT: corrupted size vs. prev_size", "not its own"),
        ("DataLossError: corrupted record at 0", "a guess"),
        ("InvalidArgumentError: x must be a vector", "a guess"),
    ],
)
def test_an_error_that_gives_its_cause_away(seen, cause):
    found = opcheck.Findings("empty", "zero_out")
    found.fail("a scalar", "a result", seen, "a guess")
    assert cause in found.result().cause


def test_the_root_is_told_once():
    found = opcheck.check(counts_calls, normal(2), checks=["vectorize", "determinism"])
    assert len(found.failures) == 2
    assert str(found).count("  cause ") == 1
    assert "follows   vectorize: most likely for the same reason" in str(found)


def test_an_input_that_changes_is_the_root(broken_ops):
    """Of other values in other calls."""
    checks = ["eager_vs_graph", "determinism", "immutability"]
    op, (inputs, _) = (
        broken_ops.broken_add_to_variable_in_place,
        broken_ops.SAMPLES["add_to_variable"],
    )
    found = opcheck.check(op, *inputs, checks=checks)
    others = [one.check for one in found.failures if one.check != "immutability"]
    assert others
    [follows] = re.findall("  follows   (.*): most likely", str(found))
    assert sorted(follows.split(", ")) == sorted(others)
    assert str(found).count("  cause ") == 1
    assert "as for immutability" in found._repr_html_()


@pytest.mark.parametrize(
    ("causes", "follows"),
    [
        ({"determinism": report.BY_RACE, "concurrency": report.SHARED}, "concurrency"),
        ({"determinism": report.BY_RACE, "concurrency": UNREPEATED}, "concurrency"),
        ({"eager_vs_graph": report.FORWARDED, "gradient": report.FORWARDED}, "gradient"),
        ({"vectorize": "a guess", "eager_vs_graph": report.FORWARDED}, "vectorize"),
        ({"reference": report.KEPT, "eager_vs_graph": "a guess"}, "eager_vs_graph"),
    ],
    ids=["race", "chance", "forwarded", "second", "kept"],
)  # fmt: skip
def test_what_an_op_does_alone_is_the_root(causes, follows):
    different = "the output[0] is 1 instead of 2 (1 of 1 elements differ)"
    some = [
        report.Result(check, "fail", f"in {check}", "x", different, cause)
        for check, cause in causes.items()
    ]
    told = str(opcheck.Report("f", some))
    assert f"follows   {follows}" in told and told.count("  cause ") == 1


DATASET = tf.data.Dataset.range(3)


def test_an_error_that_shows_its_tensor_is_one_in_graphs_too():
    """As that of a number in int32, where int64 is wanted."""
    checks = ["static_shape", "empty", "schema"]
    found = opcheck.check(DATASET.batch, 2, checks=checks)
    assert [one.check for one in found.failures] == checks
    assert len({one.seen for one in found.failures}) > 1
    assert str(found).count("  seen ") == 1, str(found)


def test_equal_crashes_are_one():
    found = opcheck.check(dies_of_scalars, normal(2), checks=["empty", "bad_input"])
    assert [one.check for one in found.failures] == ["empty", "bad_input"]
    assert "follows   bad_input" in str(found)
    assert str(found).count("  seen ") == 1


def test_several_lines_share_their_imports():
    some = [
        opcheck.findings.report.Result(
            name, "fail", what, "x", name, "y", line=f'{imports}; print(f("a; b"))'
        )
        for name, what, imports in [
            ("empty", "size 0; 2 more: rank 0; rank 3", "import sys; import f"),
            ("gradient", "first order", "import f; import opcheck"),
        ]
    ]
    text = str(opcheck.Report("f", some))
    assert "\nempty     fail     size 0; 2 more\n" in text
    assert "\nempty: size 0\n" in text
    assert "\n  and       2 more: rank 0; rank 3\n" in text
    assert text.count('\n  reproduce print(f("a; b"))\n') == 2
    assert text.endswith(
        "\n\nBefore you reproduce one of them: import sys; import f; import opcheck"
    )
    one = str(opcheck.Report("f", some[:1]))
    assert one.endswith('  reproduce import sys; import f; print(f("a; b"))')


@pytest.mark.slow
def test_a_finding_of_no_single_call_is_reproduced_by_the_check():
    found = opcheck.check(adds_threads, normal(2), checks=["determinism"], repeats=2)
    line = found["determinism"].line
    assert 'checks="determinism", repeats=2))' in line
    run = forked.run(line)
    assert "determinism  fail" in run.stdout, run.stderr


def test_a_line_of_many_values_is_not_printed_whole():
    """A notebook takes minutes for a line of megabytes."""
    found = opcheck.check(counts_calls, normal(3000), checks=["determinism"], repeats=2)
    result = found["determinism"]
    assert len(result.line) > 20_000
    assert len(result.explanation()) < 2000
    assert 'report["determinism"].line' in str(found)
    assert len(found.page()) < 50_000


def test_a_garbled_message_is_explained_after_other_failures():
    garbled, other = "UnicodeDecodeError: 'utf-8' codec", "1 more after each call"
    reports = []
    for seen in ([garbled], [garbled, other]):
        found = report.Findings("bad_input", "")
        for words in seen:
            found.fail("a call", "a result", words, "", line="print()")
        reports.append(report.Report("op", [found.result()]))
    assert reports[1]["bad_input"].seen == other
    whole = report.Report.worst_of(reports)["bad_input"]
    assert [one.seen for one in (whole, *whole.others)] == [other, garbled, garbled]


def test_a_crash_is_explained_before_other_failures():
    found = opcheck.Findings("bad_input", "attrs")
    for rank in range(6):
        found.fail(f"x has rank {rank}", "a name", "none", "a message")
    found.fail("x has rank 8", "a result", "SIGSEGV", "trust", line="op()")
    found.fail("x has rank 8", "a result", "SIGSEGV", "trust", line="op()")
    result = found.result()
    assert result.detail.startswith("x has rank 8; 7 more: x has rank 0; x has rank 1;")
    assert (result.seen, result.line) == ("SIGSEGV", "op()")


@pytest.mark.parametrize(
    ("seen", "shown"),
    [
        ("E: {{function_node __wrapped__X}} WHAT [Op:X]", "E: WHAT"),
        ("E: WHAT [Op:Split] name: split", "E: WHAT"),
        (
            "E: {{function_node __inference_f_1}} WHAT\n\t [[{{node X}}]] [Op:__inference_f_1]",
            "E: WHAT",
        ),
        (
            "eager: E: WHAT [Op:Split] name: split; in a graph: a result",
            "eager: E: WHAT; in a graph: a result",
        ),
        (
            'E: in user code:\n\n    File "f.py", line 1, in f  *\n        g()\n'
            '    File "g.py", line 2, in g  **\n        h()\n\n    E: WHAT',
            "E: WHAT",
        ),
    ],
)
def test_an_error_is_shown_without_noise(seen, shown):
    assert report.essence(seen) == shown
