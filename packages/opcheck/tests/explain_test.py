"""opcheck explain: finds the messages of the dictionary, whatever terminals and tools have made of them, and no others.

The cases of cases.toml are for both interpreters of the rules, explain.py and explain.js.
"""

import importlib.metadata
import importlib.util
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "mistakes")]

from provoke import outcomes  # noqa: E402

import headers  # noqa: E402
from opcheck import explain  # noqa: E402
from opcheck.errors import REPORT, entries, table, tomllib  # noqa: E402
from opcheck.findings.report import Findings, Report  # noqa: E402
from releases import LIBRARY, described  # noqa: E402

CASES = tomllib.loads((HERE / "cases.toml").read_text())
LOGS = {log["name"]: log for log in CASES["log"]}
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def in_python(text: str) -> dict:
    """What JavaScript has to give."""
    explanation = explain.explain(text)
    found = [
        {**asdict(one), "entry": one.entry.id, "follows": list(one.follows)}
        for one in explanation.found
    ]
    for one in found:
        one["id"] = one.pop("entry")
    read = [asdict(one) for one in explanation.read]
    said = {
        "found": found,
        "read": read,
        "died": explanation.died,
        "stranger": explanation.stranger,
        "first": explanation.first,
        "unsure": explanation.unsure,
    }
    return json.loads(json.dumps(said))


@pytest.fixture(scope="module")
def in_javascript() -> Iterator[Callable[[str], dict]]:
    """Explains a text as the page of the book does, in a browser."""
    api = pytest.importorskip("playwright.sync_api")
    executable = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if executable is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no Chromium")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=arguments)
        page = browser.new_page()
        page.set_default_timeout(300_000)
        page.add_script_tag(path=Path(explain.__file__).with_suffix(".js"))
        page.evaluate("rules => { window.rules = rules }", explain.for_javascript())
        yield lambda text: page.evaluate("text => explain(rules, text)", text)


@pytest.fixture(params=["Python", "JavaScript"])
def explained(request: pytest.FixtureRequest) -> Callable[[str], dict]:
    if request.param == "Python":
        return in_python
    return request.getfixturevalue("in_javascript")


def ids(explanation: dict) -> list[str]:
    return [one["id"] for one in explanation["found"]]


def wrapped(text: str, width: int) -> str:
    """As a terminal breaks lines, in the middle of words."""
    lines = [
        line[at : at + width]
        for line in text.split("\n")
        for at in range(0, max(len(line), 1), width)
    ]
    return "\n".join(lines)


def at_words(text: str) -> str:
    parts = (
        textwrap.wrap(line, 70, break_long_words=False) for line in text.split("\n")
    )
    return "\n".join("\n".join(part) for part in parts)


def in_many_hands(text: str) -> dict[str, str]:
    """What terminals, notebooks, test runners and forums make of a text."""
    made = {
        "narrow terminal": wrapped(text, 61),
        "terminal": wrapped(text, 80),
        "wrapped at words": at_words(text),
        "repr": repr(text),
        "JSON": json.dumps(text, ensure_ascii=False),
    }
    for hand in CASES["hands"]:
        spoilt = text
        for pattern, replacement in hand["make"]:
            spoilt = re.sub(pattern, replacement, spoilt)
        made[hand["name"]] = spoilt
    return made


@pytest.mark.parametrize("name", LOGS)
def test_a_log_gives_its_entries_and_names(explained, name):
    log = LOGS[name]
    explanation = explained(log["text"])
    found = [[one["id"], one["line"]] for one in explanation["found"]]
    assert found == log["found"]
    assert [one["symbol"] for one in explanation["read"]] == log.get("read", [])
    assert not explanation["died"]


@pytest.mark.parametrize("name", LOGS)
def test_a_log_gives_its_entries_after_many_hands(explained, name):
    expected = [entry for entry, _ in LOGS[name]["found"]]
    for hand, text in in_many_hands(LOGS[name]["text"]).items():
        assert ids(explained(text)) == expected, hand
    narrow = explained(wrapped(LOGS[name]["text"], 61))
    assert [one["symbol"] for one in narrow["read"]] == LOGS[name].get("read", [])


@pytest.mark.parametrize("case", CASES["compiled"], ids=lambda case: case["name"])
def test_a_small_mistake_gives_its_cause_or_the_first_error(explained, case):
    explanation = explained(case["text"])
    assert ids(explanation) == case["found"]
    assert (explanation["first"] or [None])[0] == case.get("first")


def test_a_compilers_first_error_comes_before_what_is_known(explained):
    first = "op.cc:29:5: error: something new"
    later = LOGS["compiler"]["text"].split("\n")[3]
    explanation = explained(f"make\n{first}\n{later}")
    assert ids(explanation) == ["status-ok-is-gone"]
    assert explanation["first"] == [2, first]
    told = explain.told(explain.explain(f"make\n{first}\n{later}"))
    assert told.index(first) < told.index("Fix it first") < told.index("errors/status")
    assert explained(f"{later}\n{first}")["first"] is None


def test_other_wordings_give_their_entry(explained):
    for entry, texts in CASES["wordings"].items():
        for text in texts:
            assert ids(explained(text)) == [entry], text


def test_what_only_looks_alike_is_not_found(explained):
    text = CASES["lookalikes"]
    for line in [*text.splitlines(), text, "", "\n\n"]:
        assert ids(explained(line)) == [], line


def test_a_name_without_its_header_gets_it(explained):
    for message, header in CASES["headers"].items():
        [found] = explained(message)["found"]
        assert found["id"] == "name-without-its-header"
        assert f'{header}"`' in found["header"], message


def test_each_header_has_its_names():
    """Of the release for which the table was made."""
    made_for = re.search(r"headers of TensorFlow (\S+):", headers.TABLE.read_text())[1]
    if made_for not in {one.version for one in tensorflows()}:
        pytest.skip(f"the headers are those of TensorFlow {made_for}")
    include = Path(importlib.util.find_spec("tensorflow").origin).parent / "include"
    for name, (header, space) in table("headers")["names"].items():
        found = {(one, where) for one, where, _ in headers.offered(include, header)}
        assert (name, space) in found or name in headers.THROUGH, name
        assert (include / header).exists()


def test_messages_of_pytorch_are_told_as_such(explained):
    told = explained("RuntimeError: CUDA error: device-side assert triggered")
    assert (told["found"], told["stranger"]) == ([], "PyTorch")
    assert explained("KeyError: 1")["stranger"] == ""


def test_a_text_about_another_library_and_not_tensorflow_is_that_librarys(explained):
    for text, of in CASES["strangers"].items():
        told = explained(text)
        assert (told["found"], told["stranger"]) == ([], of), text
        assert explained(f"import tensorflow as tf\n{text}")["found"], text


def test_what_nvcc_says_is_told_of_any_library(explained):
    names = "/home/me/caffe/src/x.cu"
    said = "host_config.h:138:2: error: #error -- unsupported GNU version! gcc versions later than 8 are not supported!"
    told = explained(f"{names}\n{said}")
    assert ids(told) == ["nvcc-unsupported-gnu-version"]
    assert (told["stranger"], told["unsure"]) == ("", True)
    assert explained(names)["stranger"] == "Caffe"


def test_what_decides_between_the_causes_of_a_message_is_told():
    for text, pattern in CASES["told"].items():
        said = explain.told(explain.explain(text))
        assert re.search(pattern, " ".join(said.split())), text


def test_a_text_that_does_not_name_tensorflow_is_told_as_such(explained):
    line = "nvcc fatal   : Unsupported gpu architecture 'compute_20'"
    assert explained(line)["unsure"]
    assert not explained(f"{line}\nop.cc: tensorflow/core/framework/op.h")["unsure"]
    flags = "AttributeError: 'module' object has no attribute 'get_link_flags'"
    assert not explained(flags)["unsure"]
    assert not explained("KeyError: 1")["unsure"]
    assert "names TensorFlow" in explain.told(explain.explain(line))


def test_the_first_line_that_looks_like_an_error_is_told(explained):
    for text, first in CASES["firsts"].items():
        assert (explained(text)["first"] or []) == first, text
    assert explained(LOGS["compiler"]["text"])["first"] is None


def test_a_mangled_name_is_read(explained):
    for case in CASES["symbol"]:
        [reading] = explained(case["symbol"])["read"]
        assert (reading["name"], reading["told"]) == (case["name"], case["told"])
        assert [*reading["fits"][:1], *reading["fits"][-1:]] == case["fits"]
        assert case.get("says", "") in " ".join(reading["says"])


def test_a_mangled_name_is_shown_whole_where_a_terminal_has_broken_it(explained):
    for name in (
        "_ZN10tensorflow8YourLoop4StepEPNS_15OpKernelContextEi",
        "_ZN10tensorflow18LockYourMutexInputEPNS_15OpKernelContextEib",
    ):
        text = f"NotFoundError: /home/me/ops/your_op.so: undefined symbol: {name}"
        [found] = explained(wrapped(text, 80))["found"]
        assert found["text"].endswith(f" {name}")


def test_causes_come_before_what_follows_and_each_entry_once(explained):
    lines = LOGS["compiler"]["text"].splitlines()
    cause, consequence = explained("\n".join([lines[6], lines[3], lines[3]]))["found"]
    assert (cause["id"], cause["line"], cause["times"]) == ("status-ok-is-gone", 2, 2)
    assert (consequence["line"], consequence["follows"]) == (1, [cause["id"]])


def test_a_death_without_a_message_is_one(explained):
    for text, why in CASES["signals"].items():
        assert why in explained(f"Starting\n{text}\n")["died"], text


def test_an_entry_that_wants_more_than_its_message_is_not_found_without(explained):
    for text in CASES["without"]:
        assert ids(explained(text)) == [], text


def test_an_entry_for_what_says_little_is_told_alone(explained):
    stopped = "ninja: build stopped: subcommand failed."
    warning = LOGS["a warning about the GPU before the error"]["text"].split("\n")[0]
    error = LOGS["compiler"]["text"].split("\n")[3]
    assert ids(explained(f"{error}\n{stopped}")) == ["status-ok-is-gone"]
    both = ids(explained(f"{warning}\n{stopped}"))
    assert sorted(both) == ["build-stopped", "gpu-libraries-not-loaded"]


@pytest.mark.slow
def test_both_say_the_same_of_what_the_build_provokes_and_of_all_messages(
    in_javascript,
):
    def said(text: str) -> dict:
        in_python_too = in_python(text)
        assert in_javascript(text) == in_python_too, text
        return in_python_too

    messages = [entry.message for entry in entries().values()]
    for text in "\n".join(messages), " ".join(messages), "x" * 5000 + messages[0]:
        said(text)
    first = []
    for name, made in outcomes().items():
        found = ids(said(made["wrong"].text))
        if entries()[name].pattern:
            assert name in found, name
            first.append(found[0] == name)
    # Before the others there is their cause, or another error of the same compilation.
    assert len(first) > 70 and sum(first) > 0.9 * len(first)


@pytest.mark.slow
def test_a_hundred_thousand_lines_are_read(explained):
    words = "in the tensorflow op kernel not found: error: undefined version Check failed".split()
    lines = [
        f"/usr/include/{i % 977}.h:{i}: "
        + " ".join(words[(i * j) % len(words)] for j in range(1, 13))
        for i in range(100_000)
    ]
    lines[70_000] = LOGS["compiler"]["text"].splitlines()[3]
    start = time.monotonic()
    [found] = explained("\n".join(lines))["found"]
    assert (found["id"], found["line"]) == ("status-ok-is-gone", 70_001)
    assert time.monotonic() - start < 300  # else a pattern is quadratic


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"No attr named '\w+' in NodeDef", [["Noattrnamed'", "'inNodeDef"]]),
        (r"optional ?(?:core )?dumped? now", [["optional", "dumpe", "now"]]),
        (r"one way out|the other way", [["onewayout"], ["theotherway"]]),
        (r"a{3}bcdefgh[^\n]+ij\.so\b", [["bcdefgh", "ij.so"]]),
    ],
)
def test_fixed_words(pattern, words):
    assert explain.fixed_words(pattern) == words


def test_a_pattern_of_gaps_is_refused():
    with pytest.raises(ValueError, match="too few fixed words"):
        explain.fixed_words(r"\w+: .{1,200}?")


# The command line.


def run(*arguments: str, **options) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "opcheck", "explain", *arguments]
    options = {"capture_output": True, "encoding": "utf-8", **options}
    return subprocess.run(command, cwd=HERE.parent, **options)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_command_reads_a_file_and_a_pipe(tmp_path, encoding):
    text = LOGS["compiler"]["text"]
    path = tmp_path / "build.log"
    path.write_text(text, encoding=encoding)
    from_file = run(str(path))
    assert (from_file.returncode, from_file.stderr) == (0, "")
    assert "error: 'OK' is not a member" in from_file.stdout
    assert "\x1b" not in from_file.stdout
    assert run(input=text).stdout == from_file.stdout
    shown = [
        from_file.stdout.index(f"errors/{entry}.html")
        for entry, _ in LOGS["compiler"]["found"]
    ]
    assert shown == sorted(shown)
    assert "Line 7, follows from status-ok-is-gone" in from_file.stdout


def test_the_module_is_the_command(tmp_path):
    def told(*words: str) -> tuple[int, str, str]:
        command = [sys.executable, "-m", *words, str(path)]
        done = subprocess.run(command, cwd=HERE.parent, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    path = tmp_path / "build.log"
    for text in LOGS["compiler"]["text"], "op.cc:3:1: error: something new":
        path.write_text(text)
        assert told("opcheck.explain") == told("opcheck", "explain")


def test_command_says_when_nothing_is_known(tmp_path):
    nothing = run(input="Building\nop.cc:3:1: error: something new\n")
    assert nothing.returncode == 1 and not nothing.stdout
    assert nothing.stderr.startswith("opcheck: none of the ")
    assert f"if it comes from an op, report it: {REPORT}" in nothing.stderr
    assert "is line 2: op.cc:3:1: error: something new" in nothing.stderr
    strange = run(input=CASES["lookalikes"])
    assert strange.stderr.startswith("opcheck: none of the ")
    assert "PyTorch" in strange.stderr and REPORT not in strange.stderr
    missing = run(str(tmp_path / "no.log"))
    assert missing.returncode == 1 and not missing.stdout
    assert missing.stderr == f"opcheck: there is no file {tmp_path / 'no.log'}\n"
    assert run(str(tmp_path)).stderr.startswith("opcheck: cannot read ")


def test_command_has_colours_in_a_terminal():
    here, there = pty.openpty()
    environment = {key: os.environ[key] for key in os.environ if key != "NO_COLOR"}
    text = LOGS["compiler"]["text"]
    run(input=text, stdout=there, stderr=None, capture_output=False, env=environment)
    os.close(there)
    assert b"\x1b[31m" in os.read(here, 10_000)
    os.close(here)


def test_command_leads_from_a_death_to_what_causes_one():
    told = run(input="Segmentation fault")
    assert told.returncode == 0
    assert told.stdout.endswith("errors.html#nothing-is-printed\n")


def test_at_most_a_handful_is_shown():
    messages = [
        entry.message for entry in entries().values() if "…" not in entry.message
    ]
    explanation = explain.explain("\n\n\n\n\n\n\n\n\n".join(messages))
    assert len(explanation.found) > 10
    told = explain.told(explanation)
    assert told.count("  read   ") == table("rules")["limits"]["shown"]
    assert told.count("  and ") == 1


# What else uses the dictionary.


def tensorflows() -> list[importlib.metadata.Distribution]:
    return [
        one
        for name in ("tensorflow-cpu", "tensorflow")
        for one in importlib.metadata.distributions(name=name)
    ]


def test_the_installed_tensorflow_is_as_the_table_of_releases_says():
    spec = importlib.util.find_spec("tensorflow")
    library = Path(spec.origin).parents[1] / LIBRARY
    [version, *_] = [one.version for one in tensorflows()]
    rows = [row for row in table("releases")["release"] if row["version"] == version]
    if rows:
        assert rows == [{"version": version, **described(library.read_bytes())[0]}]


def test_a_report_links_the_entry_of_what_was_seen():
    findings = Findings("eager_vs_graph", "zero_out")
    findings.fail("a call", "a result", LOGS["graph"]["text"], "unknown")
    result = findings.result()
    address = entries()["missing-output"].address
    assert f"  see       {address}\n" in f"{result.explanation()}\n"
    assert f'href="{address}"' in Report("x", [result])._repr_html_()
    findings = Findings("eager_vs_graph", "zero_out")
    findings.fail("a call", "a result", "another", "unknown")
    assert "errors.html" not in findings.result().explanation()
