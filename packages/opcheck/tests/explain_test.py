"""opcheck explain: finds the messages of the table, whatever terminals and tools have made of them, and no others."""

import importlib.metadata
import importlib.util
import json
import os
import pty
import re
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
from playwright.sync_api import Browser

ROOT = Path(__file__).parents[3]
HERE = Path(__file__).parents[1]
sys.path[:0] = [str(HERE), str(HERE / "mistakes")]

from provoke import outcomes  # noqa: E402

from opcheck import explain  # noqa: E402
from opcheck.errors import entries  # noqa: E402
from opcheck.report import Findings, Report  # noqa: E402
from opcheck.symbols import read, releases  # noqa: E402
from releases import LIBRARY, described  # noqa: E402

SYMBOL = "_ZN10tensorflow15OpKernelContext21CtxFailureWithWarningEPKciRKN4absl12lts_202508146StatusE"
# Whole logs and what is to be found in them, causes first.
LOGS = {
    "compiler": (
        """\
[1/2] Building CXX object CMakeFiles/x.dir/x.cc.o
FAILED: CMakeFiles/x.dir/x.cc.o
x.cc: In lambda function:
x.cc:12:22: error: ‘OK’ is not a member of ‘tensorflow::Status’
   12 |       return Status::OK();
      |                      ^~
x.cc:13:5: error: cannot convert ‘<lambda(tensorflow::shape_inference::InferenceContext*)>’ to \
‘tensorflow::OpShapeInferenceFn’
ninja: build stopped: subcommand failed.
""",
        ["status-ok-is-gone", "shape-function-returns-nothing"],
    ),
    "loader": (
        f"""\
Traceback (most recent call last):
  File "/home/me/use.py", line 3, in <module>
    ops = tf.load_op_library("./x.so")
  File "/usr/lib/python3.11/site-packages/tensorflow/python/framework/load_library.py", line 54, in load_op_library
    lib_handle = py_tf.TF_LoadLibrary(library_filename)
tensorflow.python.framework.errors_impl.NotFoundError: ./x.so: undefined symbol: {SYMBOL}
""",
        ["undefined-symbol-of-another-absl"],
    ),
    "kernel": (
        """\
2026-11-22 10:00:00.123456: F tensorflow/core/framework/tensor.cc:852] Check failed: \
dtype() == expected_dtype (2 vs. 1) float expected, got double
Aborted (core dumped)
""",
        ["check-failed-dtype"],
    ),
    "graph": (
        """\
tensorflow.python.framework.errors_impl.InvalidArgumentError: Graph execution error:

Detected at node MyOp defined at (most recent call last):
  File "/home/me/use.py", line 9, in <module>
Missing 0-th output from {{node MyOp}}
\t [[{{node MyOp}}]] [Op:__inference_f_12]
""",
        ["missing-output"],
    ),
    "TensorFlow 2.20": (
        """\
ml_dtypes/include/float8.h:71:34: error: ‘is_integral_v’ is not a member of ‘std’; did you mean ‘is_integral’?
   71 |       T i, std::enable_if_t<std::is_integral_v<T>, int> = 0)
      |                                  ^~~~~~~~~~~~~
2026-11-22 10:00:00.047446: F tensorflow/core/framework/tensor_shape.cc:202] Non-OK-status: InitDims(dim_sizes)
Status: INVALID_ARGUMENT: Encountered overflow when multiplying 1099511627776 with 1099511627776, result: -1

2026-11-22 10:00:00.048322: F tensorflow/core/framework/tensor_shape.cc:202] Non-OK-status: InitDims(dim_sizes)
Status: INVALID_ARGUMENT: Expected shape dimensions to be non-negative, got -4
""",
        ["needs-cpp17", "dimensions-overflow", "negative-dimension"],
    ),
}
# Of clang++, lld and gold, where the build provokes what g++ and GNU's linker print.
WORDINGS = {
    "op.cc:1:10: fatal error: 'tensorflow/core/util/cuda_kernel_helper.h' file not found": "cuda-kernel-helper-is-gone",
    "op.cc:1:10: fatal error: 'tensorflow/stream_executor/stream.h' file not found": "stream-executor-has-moved",
    "op.cc:1: fatal error: 'tensorflow/core/kernels/data/dataset_utils.h' file not found": "kernel-header-not-shipped",
    "xla/printer.h:29:10: fatal error: 'highwayhash/arch_specific.h' file not found": "highwayhash-not-found",
    "op.cc:1:10: fatal error: 'third_party/eigen3/unsupported/Eigen/CXX11/Tensor' file not found": "third-party-eigen3",
    "gpu_kernel_helper.h:24:10: fatal error: 'third_party/gpus/cuda/include/cuda_fp16.h' file not found": (
        "cuda-fp16-not-found"
    ),
    "op.cc:2:63: error: no member named 'error_message' in 'absl::Status'": "status-error-message-is-gone",
    "op.cc:4:9: error: no member named 'OK' in 'absl::Status'": "status-ok-is-gone",
    "status.h:446:3: note: candidate constructor not viable: no known conversion from 'tensorflow::error::Code' to "
    "'absl::StatusCode' for 1st argument": "status-of-an-old-code",
    "op.cc:4:17: error: no viable conversion from '(lambda at op.cc:4:17)' to 'tensorflow::OpShapeInferenceFn' "
    "(aka 'function<absl::Status (shape_inference::InferenceContext *)>')": "shape-function-returns-nothing",
    "types.h:301:3: error: static_assert failed due to requirement 'IsValidDataType<std::basic_string<char>>::value' "
    '"Specified Data Type not supported"': "flat-of-unsupported-type",
    "op.cc:4:8: error: cannot assign to return value because function 'operator()' returns a const value": (
        "input-is-read-only"
    ),
    "op.cc:4:28: error: no matching member function for call to 'allocate_output'": (
        "allocate-output-takes-pointer-to-pointer"
    ),
    "op.cc:7:72: error: allocating an object of abstract class type 'YourOp'": "kernel-without-compute",
    "op.cc:8:72: error: no viable constructor or deduction guide for deduction of template arguments of 'YourOp'": (
        "kernel-template-without-type"
    ),
    "op.cc:3:15: error: no viable conversion from 'float' to 'Eigen::half'": "half-converts-explicitly",
    "op.cc:3:3: error: use of undeclared identifier 'Shard'": "shard-not-declared",
    "absl/meta/type_traits.h:161:20: error: expected a qualified name after 'typename'": "macro-rewrites-header",
    "ld.lld: error: undefined symbol: vtable for tensorflow::OpKernel": "undefined-reference-to-tensorflow",
    "op.cc:function f(): error: undefined reference to 'tensorflow::OpDef::~OpDef()'": (
        "undefined-reference-to-tensorflow"
    ),
    "ld.lld: error: unable to find library -ltensorflow_framework": "ld-no-ltensorflow-framework",
    "ld.lld: error: unable to find library -l:libtensorflow_framework.so.2": "ld-no-libtensorflow-framework-so-2",
    "/usr/bin/ld.gold: error: cannot find libtensorflow_framework.so.2": "ld-no-libtensorflow-framework-so-2",
    "ld.lld: error: relocation R_X86_64_32 cannot be used against local symbol; recompile with -fPIC": (
        "recompile-with-fpic"
    ),
    "ld.gold: error: op.o: requires dynamic R_X86_64_32 reloc against 'v' which may overflow at runtime; recompile "
    "with -fPIC": "recompile-with-fpic",
}
# As people have pasted them, and from other machines.
WORDINGS |= {
    "tensorflow-2.9/tensorflow/core/framework/op.h: No such file or directory": "tensorflow-header-not-found",
    "op.cc:8:2: error: expected ';' after class": "semicolon-missing-behind-class",
    "tensorflow/core/framework/op.h:313:44: error: expected initializer before ‘const’": (
        "semicolon-missing-behind-class"
    ),
    "Nvcc fatal : Unknown option 'fPIC'": "nvcc-unknown-option-fpic",
    'mwaitxintrin.h(36): error: identifier "__builtin_ia32_monitorx" is undefined': "nvcc-unsupported-gnu-version",
    'op.cu(310): error: no instance of constructor "tensorflow::register_op::OpDefBuilderWrapper::OpDefBuilderWrapper" '
    "matches the argument list": "windows-preprocessor",
    "op.obj : error LNK2019: symbole externe non résolu": "windows-unresolved-external-symbol",
    "./op.so: undefined symbol: _ZN10tensorflow8OpKernelD2Ev": "undefined-symbol-typeinfo-of-opkernel",
    'I got the error "_ZTIN10tensorflow8OpKernelE"': "undefined-symbol-typeinfo-of-opkernel",
    "dlopen(op.so, 6): Library not loaded: @rpath/libyours.dylib": "mac-library-not-loaded",
    "F op_kernel.h:1087] Check failed: params_->device->RequiresRecordingAccessedTensors() == "
    "record_tensor_accesses_": "check-failed-accessed-tensors",
    "**Op type not registered 'YourOp**' in binary running on a.": "op-type-not-registered",
}
LOOKALIKES = """\
The tests of undefined symbols passed; nothing was left undefined.
x.cc:1:10: fatal error: my/own/header.h: No such file or directory
error: ‘OKAY’ is not a member of ‘my::Status’
/usr/bin/ld: cannot find -lfoo: No such file or directory
/usr/bin/ld: cannot find libfoo.so.2
ld.lld: error: undefined symbol: my::function()
op.cc:3:3: error: use of undeclared identifier 'Share'
op.cc:3:3: error: expected ';' after expression
op.cc:3:3: error: no viable conversion from 'int' to 'my::Type'
ImportError: cannot import name 'ops' from 'my' (unknown location)
AttributeError: module 'numpy' has no attribute 'float'
Check failed: my_own_invariant
InvalidArgumentError: x must not be negative
def has_no_attribute(module): return "module has no attribute"
The version was not found in GLIBC's changelog, required by nobody
resource does not exist
"""


def ids(text: str) -> list[str]:
    return [found.entry.id for found in explain.explain(text).found]


@pytest.mark.parametrize("name", LOGS)
def test_a_log_gives_its_entries(name):
    text, expected = LOGS[name]
    assert ids(text) == expected


@pytest.mark.parametrize("text", WORDINGS)
def test_another_wording_gives_its_entry(text):
    assert ids(text) == [WORDINGS[text]]


def wrapped(text: str, width: int) -> str:
    """As a terminal breaks lines, in the middle of words."""
    lines = [
        line[at : at + width]
        for line in text.split("\n")
        for at in range(0, max(len(line), 1), width)
    ]
    return "\n".join(lines)


# What terminals, notebooks, test runners and forums make of a text.
SPOILT = {
    "narrow terminal": lambda text: wrapped(text, 61),
    "terminal": lambda text: wrapped(text, 80),
    "wrapped at words": lambda text: "\n".join(
        part
        for line in text.split("\n")
        for part in textwrap.wrap(line, 70, break_long_words=False) or [""]
    ),
    "colours": lambda text: re.sub(
        r"\b(error|member|symbol|Check|output)\b",
        "\x1b[01;31m\x1b[K\\1\x1b[m\x1b[K",
        text,
    ),
    "colours without escape": lambda text: text.replace("error", "[01;31merror[0m"),
    "Windows": lambda text: text.replace("\n", "\r\n"),
    "plain quotes": lambda text: re.sub("[‘’]", "'", text),
    "Markdown": lambda text: re.sub("[‘’`]", "", text),
    "wrong encoding": lambda text: text.replace("‘", "â€˜").replace("’", "â€™"),
    "repr": lambda text: repr(text),
    "JSON": lambda text: json.dumps(text, ensure_ascii=False),
    "pytest": lambda text: "".join(f"E       {line}\n" for line in text.split("\n")),
    "quoted mail": lambda text: "".join(f"> {line}\n" for line in text.split("\n")),
    "compose": lambda text: "".join(f"web_1  | {line}\n" for line in text.split("\n")),
    "compose with an accent": lambda text: "".join(
        f"wéb_1  | {line}\n" for line in text.split("\n")
    ),
    "Actions": lambda text: "".join(
        f"2026-11-22T10:00:00.1234567Z {line}\n" for line in text.split("\n")
    ),
    "Jupyter": lambda text: f"In [3]: import x\n----> 1 import x\n{text}",
    "tabs": lambda text: text.replace(" ", "\t"),
}


@pytest.mark.parametrize("how", SPOILT)
@pytest.mark.parametrize("name", LOGS)
def test_a_log_gives_its_entries_after_many_hands(name, how):
    text, expected = LOGS[name]
    assert ids(SPOILT[how](text)) == expected


def test_what_only_looks_alike_is_not_found():
    for line in LOOKALIKES.splitlines():
        assert ids(line) == [], line
    assert ids(LOOKALIKES) == []
    assert ids("") == ids("\n\n") == []


def test_causes_come_before_what_follows_and_each_entry_once():
    text, _ = LOGS["compiler"]
    lines = text.splitlines()
    turned = "\n".join([lines[6], lines[3], lines[3]])
    explanation = explain.explain(turned)
    cause, consequence = explanation.found
    assert (cause.entry.id, cause.line, cause.times) == ("status-ok-is-gone", 2, 2)
    assert consequence.line == 1 and consequence.follows == (cause.entry.id,)
    assert "follows from status-ok-is-gone" in explain.told(explanation)


def test_every_pattern_has_fixed_words_and_every_cause_is_an_entry():
    table = entries()
    for rule in explain.rules():
        assert re.compile(rule["pattern"])
        assert set(rule["follows"]) - {"*"} <= set(table), rule["id"]
    assert {entry.id for entry in table.values() if not entry.pattern} == {
        entry.id for entry in table.values() if entry.phase == "silent"
    }


@pytest.mark.parametrize(
    "pattern, words",
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


def run(*arguments: str, **options) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "opcheck", "explain", *arguments]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, encoding="utf-8", **options
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_command_reads_a_file_and_a_pipe(tmp_path, encoding):
    text, [cause, consequence] = LOGS["compiler"]
    path = tmp_path / "build.log"
    path.write_text(text, encoding=encoding)
    from_file = run(str(path))
    assert from_file.returncode == 0 and not from_file.stderr
    assert "error: 'OK' is not a member" in from_file.stdout
    assert f"errors.html#{cause}" in from_file.stdout
    assert "\x1b" not in from_file.stdout
    assert run(input=text).stdout == from_file.stdout
    shown = from_file.stdout
    assert shown.index(cause) < shown.index(consequence)


def test_command_says_when_nothing_is_known(tmp_path):
    nothing = run(input=LOOKALIKES)
    assert nothing.returncode == 1 and not nothing.stdout
    assert nothing.stderr.startswith("opcheck: none of the ")
    assert explain.REPORT in nothing.stderr
    missing = run(str(tmp_path / "no.log"))
    assert missing.returncode == 1 and not missing.stdout
    assert missing.stderr == f"opcheck: there is no file {tmp_path / 'no.log'}\n"
    assert run(str(tmp_path)).stderr.startswith("opcheck: cannot read ")


def test_command_has_colours_in_a_terminal():
    here, there = pty.openpty()
    command = [sys.executable, "-m", "opcheck", "explain"]
    environment = {key: os.environ[key] for key in os.environ if key != "NO_COLOR"}
    text = LOGS["compiler"][0].encode()
    subprocess.run(
        command, cwd=ROOT, input=text, stdout=there, env=environment, check=True
    )
    os.close(there)
    assert b"\x1b[31m" in os.read(here, 10_000)
    os.close(here)


def test_a_death_without_a_message_leads_to_those():
    explanation = explain.explain("Starting\nSegmentation fault (core dumped)\n")
    assert explanation.died and not explanation.found
    assert explain.told(explanation).endswith("errors.html#nothing-is-printed")
    assert not explain.explain(LOGS["kernel"][0]).died
    assert run(input="Segmentation fault").returncode == 0


def test_at_most_a_handful_is_shown(capsys):
    messages = [
        entry.message for entry in entries().values() if "…" not in entry.message
    ]
    explanation = explain.explain("\n\n\n\n\n\n\n\n\n".join(messages))
    assert len(explanation.found) > 10
    told = explain.told(explanation)
    assert told.count("  read   ") == explain.SHOWN
    assert told.count("  and ") == 1


# From a mangled name: its name, the ABI flag, the date of Abseil and the first and the last release of TensorFlow.
SYMBOLS = {
    SYMBOL: ("tensorflow::OpKernelContext::CtxFailureWithWarning", None, "20250814", "2.21", "2.21"),
    "_ZNK10tensorflow8OpKernel11TraceStringERKNS_15OpKernelContextEb": (
        "tensorflow::OpKernel::TraceString", 0, "", "2.5", "2.8",
    ),
    "_ZNK10tensorflow8OpKernel11TraceStringB5cxx11ERKNS_15OpKernelContextEb": (
        "tensorflow::OpKernel::TraceString", 1, "", "2.9", "2.21",
    ),
    "_ZN10tensorflow12OpDefBuilder4AttrESs": ("tensorflow::OpDefBuilder::Attr", 0, "", "2.5", "2.8"),
    "_ZN10tensorflow12OpDefBuilder5InputENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE": (
        "tensorflow::OpDefBuilder::Input", 1, "", "2.9", "2.21",
    ),
    "_ZN10tensorflow15OpKernelContext10CtxFailureEPKciRKNS_6StatusE": (
        "tensorflow::OpKernelContext::CtxFailure", None, "", "2.5", "2.10",
    ),
    "_ZTIN10tensorflow8OpKernelE": ("typeinfo for tensorflow::OpKernel", None, "", None, None),
    "_ZN4absl12lts_202308024CordC1ESt17basic_string_viewIcSt11char_traitsIcEE": (
        "absl::Cord::Cord", None, "20230802", "2.16", "2.19",
    ),
    "_ZN4absl12lts_202301256StatusD1Ev": ("absl::Status::~Status", None, "20230125", "2.13", "2.15"),
    "_ZN10tensorflow4SslsEv": ("tensorflow::Ssls", None, "", None, None),
}  # fmt: skip


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_a_mangled_name_is_read(symbol):
    name, abi, absl, first, last = SYMBOLS[symbol]
    reading = read(symbol)
    assert (reading.name, reading.abi, reading.absl) == (name, abi, absl)
    assert reading.fits[:1] == ((first,) if first else ())
    assert reading.fits[-1:] == ((last,) if last else ())


def test_a_date_between_before_and_after_the_known_ones():
    def says(date: str) -> str:
        return read(f"_ZN4absl12lts_{date}6StatusD1Ev").says[0]

    assert "older than that of TensorFlow 2.5" in says("20180101")
    assert "newer than that of TensorFlow" in says("20990101")
    assert "no wheel from TensorFlow 2.5 to" in says("20240101")
    nothing = read("_ZN4absl12lts_209901016StatusD1Ev")
    assert nothing.fits == () and "compiled for no wheel" in nothing.says[-1]


def test_a_mangled_name_is_read_from_a_log_of_any_width():
    for text in (LOGS["loader"][0], wrapped(LOGS["loader"][0], 61)):
        assert [reading.symbol for reading in explain.explain(text).read] == [SYMBOL]


def test_the_installed_tensorflow_is_as_the_table_of_releases_says():
    spec = importlib.util.find_spec("tensorflow")
    library = Path(spec.origin).parents[1] / LIBRARY
    name = next(filter(is_installed, ("tensorflow-cpu", "tensorflow")))
    version = importlib.metadata.version(name)
    rows = [row for row in releases()["release"] if row["version"] == version]
    if rows:
        assert rows == [{"version": version, **described(library.read_bytes())[0]}]


def is_installed(name: str) -> bool:
    return any(importlib.metadata.distributions(name=name))


def test_addresses_in_messages_are_entries():
    """Those of what loads the examples' libraries, which readers copy."""
    loader = (ROOT / "examples" / "op_library.py").read_text()
    address = re.search(r'_ERRORS = "(.*)"', loader)[1]
    names = re.findall(r"\{_ERRORS\}#([\w-]+)", loader)
    assert len(names) == loader.count("raise ImportError(") == 4
    for name in names:
        assert explain.address(name) == f"{address}#{name}" and name in entries()


def test_a_report_links_the_entry_of_what_was_seen():
    findings = Findings("eager_vs_graph", "zero_out")
    findings.fail("a call", "a result", LOGS["graph"][0], "unknown")
    result = findings.result()
    assert result.error == "missing-output"
    address = explain.address(result.error)
    assert f"  see       {address}\n" in f"{result.explanation()}\n"
    assert f'href="{address}"' in Report("x", [result])._repr_html_()
    findings = Findings("eager_vs_graph", "zero_out")
    findings.fail("a call", "a result", "another", "unknown")
    assert "errors.html" not in findings.result().explanation()


def in_python(text: str) -> dict:
    """What JavaScript has to give."""
    explanation = explain.explain(text)
    found = [
        {
            "id": one.entry.id,
            "line": one.line,
            "text": one.text,
            "times": one.times,
            "follows": list(one.follows),
        }
        for one in explanation.found
    ]
    read = [asdict(one) for one in explanation.read]
    died = explanation.died
    return json.loads(json.dumps({"found": found, "read": read, "died": died}))


@pytest.fixture(scope="module")
def in_javascript(browser: Browser) -> Callable[[str], dict]:
    """Explains a text as the page does."""
    page = browser.new_page()
    page.set_default_timeout(300_000)
    page.add_script_tag(path=ROOT / "docs" / "_static" / "explain.js")
    page.evaluate("table => { window.table = table; }", explain.for_the_page())
    return lambda text: page.evaluate("text => explain(table, text)", text)


def test_javascript_finds_what_python_finds(in_javascript):
    texts = [text for text, _ in LOGS.values()]
    texts += [spoil(text) for text in texts for spoil in SPOILT.values()]
    texts += [entry.message for entry in entries().values()]
    texts += [*SYMBOLS, *WORDINGS, *LOOKALIKES.splitlines(), LOOKALIKES, "", "\n\n"]
    texts += [
        "Segmentation fault",
        "\n".join(texts),
        " ".join(texts),
        "x" * 5000 + LOGS["kernel"][0],
    ]
    for text in texts:
        assert in_javascript(text) == in_python(text), text


def test_what_the_build_provokes_gives_its_entry_in_both(in_javascript):
    first = []
    for name, made in outcomes().items():
        if not entries()[name].pattern:
            continue
        found = in_python(made["wrong"].text)
        assert found == in_javascript(made["wrong"].text), name
        names = [one["id"] for one in found["found"]]
        assert name in names, name
        first.append(names[0] == name)
    # Before the others there is their cause, or another error of the same compilation.
    assert len(first) > 70 and sum(first) > 0.9 * len(first)


def test_a_hundred_thousand_lines_take_seconds(in_javascript):
    words = "in the tensorflow op kernel not found: error: undefined version Check failed".split()
    lines = [
        f"/usr/include/{i % 977}.h:{i}: "
        + " ".join(words[(i * j) % len(words)] for j in range(1, 13))
        for i in range(100_000)
    ]
    lines[70_000] = LOGS["compiler"][0].splitlines()[3]
    text = "\n".join(lines)
    for explained in (in_python, in_javascript):
        start = time.process_time() if explained is in_python else time.monotonic()
        [found] = explained(text)["found"]
        end = time.process_time() if explained is in_python else time.monotonic()
        assert (found["id"], found["line"]) == ("status-ok-is-gone", 70_001)
        assert end - start < 300
