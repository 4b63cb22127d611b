"""A call as a line of Python."""

import importlib
import os
import re

import forked
import numpy as np
import pytest
import tensorflow as tf
from python_ops import adds_one, printed, strings

from opcheck.findings.expected import with_expected
from opcheck.findings.source import in_turn, line, split
from opcheck.locations import locate
from opcheck.run import Call


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
    call = line(None, adds_one, [array, [array]], {})
    pattern = r"import tensorflow as tf; print\(adds_one\((.*)\)\)"
    shown = re.fullmatch(pattern, call)[1]
    values = eval(f"(lambda *values: values)({shown})", {"tf": tf})
    for value in (values[0], values[1][0]):
        assert value.dtype == tf.as_dtype(array.dtype)
        held = value.numpy()
        assert held.shape == array.shape
        assert held.tolist() == array.tolist() or held.tobytes() == array.tobytes()


@pytest.mark.slow
def test_a_long_range_is_short_in_a_line():
    array = np.arange(-3, 10**6, dtype=np.float32)
    call = line(None, adds_one, [array], {})
    assert len(call) < 200
    shown = call[call.index("adds_one(") + len("adds_one(") : -2]
    held = eval(shown, {"tf": tf, "np": np}).numpy()
    assert held.dtype == array.dtype and held.tobytes() == array.tobytes()
    array[500] = 7
    assert str(10**6 - 1) in line(None, adds_one, [array], {})


def test_a_line_shows_the_shortest_numbers():
    call = line(None, adds_one, [np.float32([[0.1], [2]])], {})
    assert call.endswith('(tf.constant([0.1, 2.0], "float32", shape=[2, 1])))')


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
    call = line(None, adds_one, [], attrs)
    imports = "import numpy as np; import tensorflow as tf; "
    assert call == (
        f'{imports}print(adds_one(x=float("inf"), some=[float("nan"), 0.1], pair=(1,), '
        'types=[tf.as_dtype("float32"), np.dtype("int8"), np.dtype("float16").type], '
        'text="a" * 16777216, shape=tf.TensorShape([None, 2]), '
        'table=np.array([1.0, float("inf")], "float32")))'
    )
    shown = call.removeprefix(imports).removeprefix("print(adds_one(")[:-2]
    held = eval(f"dict({shown})", {"tf": tf, "np": np})
    assert held.keys() == attrs.keys()
    assert (held["types"], held["text"]) == (attrs["types"], attrs["text"])


def test_a_line_fits_between_the_single_quotes_of_a_shell():
    texts = ["a'b", "\\'", '"', "\"'\\\n", "é", ""]
    attrs = {"texts": [*texts, *(text.encode() for text in texts), np.str_("a")]}
    call = line(locate(adds_one), adds_one, [strings(b"'", b"a")], attrs)
    assert "'" not in call
    held = re.search(r"texts=(.*)\)\)$", call)[1]
    assert eval(held) == attrs["texts"]
    shown = call.rpartition("; ")[2]
    assert shown.startswith(r'print(adds_one(tf.constant([b"\x27", b"a"], "string"), t')


def test_a_line_calls_the_op_as_it_failed():
    call = line(None, adds_one, [np.int8(1)], {"k": 2}, ["eager", "graph"])
    assert call == (
        "import tensorflow as tf; print(*(lambda *inputs: (adds_one(*inputs, k=2), "
        'tf.function(adds_one, autograph=False)(*inputs, k=2)))(tf.constant(1, "int8")))'
    )


def test_a_line_tells_what_was_expected():
    call = line(None, tf.abs, [np.float64([1 / 3])], {})
    for got, wanted, begin, end in (
        ("3", "1", "import tensorflow as tf; ", ', "expected output[0]: 1")'),
        (
            "0.333333333",
            "0.333333334",
            "import numpy as np; np.set_printoptions(precision=17); import",
            ', "expected output[0]: 0.333333334")',
        ),
        ("b'x'", "b'y'", "import tensorflow", r'"expected output[0]: b\x27y\x27")'),
    ):
        seen = f"the output[0] is {got} instead of {wanted} (1 of 1 elements differ)"
        told = with_expected(call, seen)
        assert told.startswith(begin) and told.endswith(end), told
    both = line(None, tf.abs, [np.float32(1)], {}, ["eager", "graph"])
    assert with_expected(both, seen) == both
    for seen, end in (
        ("output 1 has shape [1] instead of [2]", "output 1: shape [2]"),
        ("the output has dtype int8 instead of int32", "output: dtype int32"),
        ("a result", "an error"),
    ):
        told = with_expected(call, seen, "an error")
        assert re.search(f', "expected:? {re.escape(end)}"\\)$', told), told
    assert with_expected(call, "TypeError: x", "a result") == call


def test_a_line_that_tells_more_stays_as_it_is():
    seen = "the output[1000] is 1000.5 instead of 7 (1 of 2000 elements differ)"
    for mode in ("repeated", "mapped"):
        call = line(None, tf.abs, [np.float32([1])], {}, [mode])
        assert with_expected(call, seen, "the first bits") == call


@pytest.mark.parametrize("modes", [["eager"], ["eager", "graph"], ["guarded"]])
def test_of_many_elements_a_line_prints_the_one_that_differs(modes, capsys):
    call = line(None, tf.abs, [np.float32(range(2000)) + 0.5], {}, modes)
    seen = "the output[1000] is 1000.5 instead of 7 (1 of 2000 elements differ)"
    told = with_expected(call.replace("(abs", "(tf.abs"), seen)
    assert "(1000.5, " in printed(told, capsys)


def fingerprint(x):
    return tf.identity(x)


def test_an_op_may_end_in_print():
    call = line(locate(fingerprint), fingerprint, [np.float32(1)], {})
    assert call.endswith('print(fingerprint(tf.constant(1.0, "float32")))')
    told = with_expected(
        call, "the output[0] is 1 instead of 2 (1 of 1 elements differ)"
    )
    assert told == call[:-1] + ', "expected output[0]: 2")'


@pytest.mark.slow
def test_a_line_imports_from_a_package(tmp_path, monkeypatch):
    package = tmp_path / "a_package"
    package.mkdir()
    (package / "__init__.py").write_text("from .inner import op")
    (package / "inner.py").write_text("from . import other\ndef op(x): return x")
    (package / "other.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    op = importlib.import_module("a_package").op
    call = line(locate(op), op, [np.int8(1)], {})
    assert "; from a_package.inner import op; print(op(" in call
    run = forked.run(call)
    assert run.stdout == "tf.Tensor(1, shape=(), dtype=int8)\n"


def test_a_line_of_two_calls_has_its_imports_once():
    lines = [f"import tensorflow as tf; print(tf.abs({x}))" for x in (1, -2)]
    both = in_turn(*lines)
    assert both == "import tensorflow as tf; print(tf.abs(1)); print(tf.abs(-2))"
    assert split(both) == (
        ["import tensorflow as tf"],
        "print(tf.abs(1)); print(tf.abs(-2))",
    )


def adds_two(x):
    return x + 2


def test_the_line_of_a_check_has_its_reference(capsys):
    sample = adds_one, locate(adds_one), [np.float32([3])], {}, {}
    call = Call(*sample, reference=adds_two)
    shown = printed(call.check_line("reference"), capsys)
    assert "the output[0] is 4 instead of 5" in shown
    assert "reference=adds_two" in call.check_line("gradient")
    assert "adds_two" not in call.check_line("leaks")
    call = Call(*sample, reference=lambda x: x)
    assert call.check_line("reference") == ""
    assert 'checks="gradient"))' in call.check_line("gradient")


def delayed(x, timeout=1.0):
    return x * timeout


@pytest.mark.parametrize(
    ("attrs", "shown"),
    [({"timeout": 2.0}, 'attrs={"timeout": 2.0}'), ({}, "attrs={}")],
)
def test_an_attr_with_the_name_of_an_option_stays_an_attr(monkeypatch, attrs, shown):
    monkeypatch.syspath_prepend(os.path.dirname(__file__))
    sample = delayed, locate(delayed), [np.float32([3, 4])], attrs
    line = Call(*sample, {}, None).check_line("eager_vs_graph")
    assert f'checks="eager_vs_graph", {shown}))' in line
    exec(line, {})
