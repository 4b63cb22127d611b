"""Tests of both versions, of what becomes of models, and of the checker: `pytest examples/backward_compatibility`.

Version 2 is loaded here. Version 1 and its changes each have a process of their own.
"""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import mu_law as v2
import numpy as np
import op_def_check
import pytest
import read_v1
import tensorflow as tf
from backward_compatibility_reference import mu_law_reference
from changes import (
    CHANGES,
    INPUT,
    OUTPUT,
    Change,
    call,
    changed,
    in_fork,
    in_session,
    load_a_list,
    save_a_list,
    verdict,
    verdicts,
)
from google.protobuf import text_format
from op_def_check import check_op_def, op_defs
from solution_second_result import second_result
from tensorflow.core.framework.op_def_pb2 import OpDef
from write_v1 import pretend, write, write_with_gradients

from opcheck import tolerance
from opcheck.testing import op_test

# Another worker would make what version 1 has written, and what becomes of it, once more.
pytestmark = pytest.mark.xdist_group("version 1")
HERE = Path(__file__).parent
SIGNAL = read_v1.SIGNAL.numpy()
MU_LAW_V1 = """
name: 'MuLaw'
attr { name: 'mode' type: 'string' allowed_values { list { s: 'encode' s: 'decode' } } }
attr { name: 'mu' type: 'float' default_value { f: 255 } }
input_arg { name: 'signal' type: DT_FLOAT }
output_arg { name: 'result' type: DT_FLOAT }
"""
SAME, OTHER = "same result", "another result"


def features_reference(signal):
    return np.stack(
        [mu_law_reference(signal, "encode"), mu_law_reference(signal, "encode", 15.0)]
    )


test_mu_law_keeps_its_promises = op_test(
    v2.mu_law,
    SIGNAL,
    mode="encode",
    gain=0.5,
    reference=mu_law_reference,
    old_op_def=MU_LAW_V1,
)


@pytest.mark.parametrize("mode", ["encode", "decode"])
@pytest.mark.parametrize("mu", [2e-38, 3e38])
def test_a_small_or_large_mu(mode, mu):
    signal = np.float32([-1, 0.5, 2])
    expected = mu_law_reference(signal, mode, mu)
    assert np.isfinite(expected).all() and expected.all()
    np.testing.assert_allclose(v2.mu_law(signal, mode, mu), expected, rtol=1e-6)


@pytest.fixture(scope="module")
def v1(tmp_path_factory):
    """The folder that version 1 wrote."""
    folder = tmp_path_factory.mktemp("v1")
    in_fork(write, folder)
    return folder


@pytest.fixture(scope="module")
def found(v1):
    """What becomes of the files, from the part and the name of a change."""
    changes = {(part, what): x for part in CHANGES for what, x in CHANGES[part].items()}
    # Another test of this process may have started its fork server, without a log: a new process has none.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        each = process.submit(verdicts, v1, [*changes.values()]).result()
    return dict(zip(changes, each))


def test_version_1_equals_the_reference(v1):
    result = np.load(v1 / "features.npy")
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, features_reference(SIGNAL), rtol=1e-5)


def test_version_2_runs_what_version_1_saved(v1):
    assert read_v1.outcomes(v1) == (SAME, SAME)
    assert check_op_def(op_defs(v1 / "model")["MuLaw"]) == ("", "", "")


def test_the_model_of_version_1_gives_its_output(v1):
    model = tf.saved_model.load(v1 / "model")
    signal = tf.constant(np.linspace(-1, 1, 41), tf.float32)
    [features] = model.signatures["serving_default"](signal).values()
    np.testing.assert_allclose(features, np.load(v1 / "features.npy"), rtol=1e-6)


def test_the_golden_graph_still_gives_its_result():
    graph = read_v1.read_graph(HERE / "backward_compatibility_v1.pbtxt")
    features = read_v1.graph_function(graph)(read_v1.SIGNAL)
    np.testing.assert_allclose(features, features_reference(SIGNAL), rtol=1e-5)


def test_version_1_writes_the_golden_graph(v1):
    golden = read_v1.read_graph(HERE / "backward_compatibility_v1.pbtxt")
    assert list(read_v1.read_graph(v1 / "graph.pbtxt").node) == list(golden.node)
    assert op_defs(v1 / "model")["MuLaw"] == text_format.Parse(MU_LAW_V1, OpDef())


@pytest.mark.parametrize(
    "part, what, checks, graph, model",
    [
        ("Attr", "added, with a default", "", SAME, SAME),
        ("Attr", "added, without one", "Attr 'gain' added without default", *2 * ["missing attr 'gain'"]),
        ("Attr", "a default changed", "default value; from 255 to 10", SAME, OTHER),
        ("Attr", "a default taken away", "from 255 to no default", SAME, "missing attr 'mu'"),
        ("Attr", "removed", "Attr 'mu' removed", OTHER, OTHER),
        ("Attr", "one value more", "", SAME, SAME),
        ("Attr", "any value", "", SAME, SAME),
        ("Attr", "one value less", "stricter set of allowed", *2 * ["not in the list of allowed values"]),
        ("Attr", "in place of a type", "", SAME, SAME),
        ("Attr", "any type", "", SAME, SAME),
        ("Input", "renamed", "", SAME, SAME),
        ("Input", "made a list", "", SAME, SAME),
        ("Input", "made a list of any types", "", SAME, SAME),
        ("Input", "added", "Input signature mismatch", *2 * ["do not match 1 inputs"]),
        ("Input", "an empty list added", "", SAME, SAME),
        ("Output", "renamed", "Output signature mismatch", SAME, "KeyError: 'MuLaw:result:0'"),
        ("Output", "made a list", "", SAME, "KeyError: 'MuLaw:result:0'"),
        ("Output", "added", "Output signature mismatch", SAME, "has 2 outputs but"),
        ("Output", "an empty list added", "", SAME, SAME),
        ("Output", "another type", "Output signature mismatch", *2 * ["incompatible with expected float"]),
        ("The rest", "a stricter shape function", "", *2 * ["must be rank 2 but is rank 1"]),
        ("The rest", "another result of the kernel", "", OTHER, OTHER),
        ("The rest", "no kernel", "", *2 * ["No OpKernel was registered to support Op 'MuLaw'"]),
        ("The rest", "another name", *3 * ["Op type not registered 'MuLaw'"]),
        ("The rest", "an end in the future", "", SAME, SAME),
        ("The rest", "an end in the past", "", *2 * ["removed in version 1700. Use OpByOp>MuLaw"]),
    ],
)  # fmt: skip
def test_what_becomes_of_a_model(found, part, what, checks, graph, model):
    verdict = found[part, what]
    for message, expected in zip(verdict, (checks, graph, model)):
        assert expected in message and bool(expected) == bool(message)


def test_what_becomes_of_calls(found):
    same = {place for place, verdict in found.items() if verdict.python == SAME}
    other = {place for place, verdict in found.items() if verdict.python == OTHER}
    safe = "added, with a default", "one value more", "any value"
    assert same == {
        *(("Attr", what) for what in (*safe, "in place of a type", "any type")),
        ("Output", "renamed"),
        ("The rest", "an end in the future"),
    }
    assert other == {
        ("Attr", "a default changed"),
        ("The rest", "another result of the kernel"),
    }


def test_each_change_has_its_row(found):
    [mark] = test_what_becomes_of_a_model.pytestmark
    assert [row[:2] for row in mark.args[1]] == [*found]


@pytest.mark.parametrize("default", ["", " = [DT_FLOAT]", " = [DT_FLOAT, DT_FLOAT]"])
def test_a_list_of_one_type_does_not_become_one_of_any_types(tmp_path, default):
    """Only a default of the length that was saved would do, and one model may have lists of many lengths."""
    same = Change('.Attr("N: int")\n.Input("signals: N * float")', INPUT)
    types = Change(f'.Attr("Ts: list(type){default}")\n.Input("signals: Ts")', INPUT)
    in_fork(save_a_list, same, tmp_path)
    assert in_fork(load_a_list, same, tmp_path) == ""
    expected = {"": "missing attr 'Ts'", " = [DT_FLOAT]": "do not match 2 inputs"}
    found = in_fork(load_a_list, types, tmp_path)
    assert expected[default] in found if default in expected else found == ""


def test_the_only_sign_of_a_removed_attr_is_in_the_log(found):
    log = found["Attr", "removed"].log
    assert "NodeDef mentions attribute mu which is not in the op definition" in log
    assert "Unknown attributes will be ignored" in log
    assert found["Attr", "a default changed"].log == ""


def test_a_coming_end_is_logged(found):
    assert (
        "Op MuLaw is deprecated. It will cease to work in GraphDef version 3000. Use OpByOp>MuLaw"
        in found["The rest", "an end in the future"].log
    )


@pytest.mark.parametrize(
    "what, expected",
    [
        ("renamed", "input MuLaw:result:0 is not found"),
        ("made a list", SAME),
        ("added", SAME),
    ],
)
def test_a_session_knows_outputs_by_name_and_nothing_more(v1, what, expected):
    assert expected in in_fork(in_session, v1, CHANGES["Output"][what])


def test_the_end_is_for_graphs_of_that_version_which_a_loaded_function_always_has(
    v1, tmp_path
):
    past = CHANGES["The rest"]["an end in the past"]
    pretend(v1, tmp_path, producer=1600)
    assert read_v1.read_graph(tmp_path / "graph.pbtxt").versions.producer == 1600
    assert in_fork(in_session, tmp_path, past) == SAME
    assert "removed in version 1700" in in_fork(in_session, v1, past)
    assert "removed in version 1700" in in_fork(verdict, tmp_path, past).model


def test_inputs_of_one_type_change_places_and_no_check_complains():
    now = tf.compat.v1.get_default_graph().op_def_for_type("CheckOpDef")
    old = OpDef.FromString(now.SerializeToString())
    del old.input_arg[:]
    old.input_arg.extend(reversed(now.input_arg))
    assert [x.name for x in old.input_arg] == ["between", "old"]
    assert check_op_def(old) == ("", "", "")


def test_a_saved_model_leaves_defaults_out_and_a_graph_does_not(v1):
    graph = read_v1.read_graph(v1 / "graph.pbtxt").node
    assert [x.attr["mu"].f for x in graph if x.op == "MuLaw"] == [255, 15]
    strong, mild, stack = read_v1.saved_nodes(v1 / "model")
    assert "mu" not in strong.attr and mild.attr["mu"].f == 15
    assert list(stack.input) == [f"{x.name}:result:0" for x in (strong, mild)]


@pytest.mark.parametrize(
    "old, new, complaint",
    [
        ("type: DT_FLOAT } output", "type: DT_DOUBLE } output", "Input signature"),
        ("name: 'result'", "name: 'louder'", "Output signature mismatch 'louder:float'"),
        ("attr { name: 'mu'", "attr { name: 'law'", "Attr 'law' removed"),
        ("s: 'encode' s: 'decode'", "s: 'encode'", ""),
        ("name: 'signal'", "name: 'sound'", ""),
    ],
)  # fmt: skip
def test_other_changes(old, new, complaint):
    text = " ".join(MU_LAW_V1.split())
    assert old in text
    found = check_op_def(text_format.Parse(text.replace(old, new), OpDef()))
    assert complaint in found.compatible and bool(complaint) == bool(found.compatible)


def test_an_added_default_must_stay():
    old = text_format.Parse(MU_LAW_V1, OpDef())
    between = text_format.Parse(MU_LAW_V1, OpDef())
    between.attr.add(name="gain", type="float").default_value.f = 3
    verdict = check_op_def(old, between)
    assert verdict.compatible == verdict.defaults == ""
    assert "Can't change default value for attr 'gain' from 3" in verdict.added_defaults
    assert "from 3 to 1" in check_op_def(between).defaults
    between.attr[-1].default_value.f = 1
    assert check_op_def(old, between) == ("", "", "")


@pytest.mark.parametrize(
    "old, between, message",
    [
        (b"\xff", b"\xff", "old must be a serialized OpDef"),
        ("name: 'MuLaw'", b"\xff", "between must be a serialized OpDef"),
        ("name: 'law'", "name: 'law'", r"Invalid name: law \(Did you use CamelC"),
        ("name: 'MuLaw'", "name: 'Relu'", "must define one op, got MuLaw and Relu"),
        ("name: 'Gone'", "name: 'Gone'", "Op type not registered 'Gone'"),
        (["", ""], "name: 'MuLaw'", r"old must be a scalar, got shape \[2\]"),
    ],
)
def test_check_op_def_refuses_what_is_no_definition(mode, old, between, message):
    def bytes_of(value):
        if not isinstance(value, str):
            return value
        return text_format.Parse(value, OpDef()).SerializeToString()

    spec = tf.TensorSpec(None, tf.string)
    call = mode(op_def_check._library.check_op_def)
    if hasattr(call, "get_concrete_function"):
        call = call.get_concrete_function(spec, spec)
    with pytest.raises(tf.errors.OpError, match=message):
        call(tf.constant(bytes_of(old)), tf.constant(bytes_of(between)))


def test_check_op_def_is_stateful():
    old = tf.constant(text_format.Parse(MU_LAW_V1, OpDef()).SerializeToString())
    traced = tf.function(op_def_check._library.check_op_def, autograph=False)
    graph = traced.get_concrete_function(old, old).graph
    (op,) = [op for op in graph.get_operations() if op.type == "CheckOpDef"]
    assert op.op_def.is_stateful


def test_check_op_def_refuses_other_shapes_when_traced():
    with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1"):
        tf.function(op_def_check._library.check_op_def).get_concrete_function(
            tf.TensorSpec([2], tf.string), tf.TensorSpec([], tf.string)
        )


def test_only_a_custom_gradient_is_in_the_file(tmp_path):
    in_fork(write_with_gradients, tmp_path)
    with pytest.raises(LookupError, match="No gradient defined"):
        in_fork(read_v1.loaded_gradient, tmp_path / "registered")
    gradient = in_fork(read_v1.loaded_gradient, tmp_path / "custom")
    signal = np.float32([0.25, 0.5])
    expected = 255 / (np.log(256) * (1 + 255 * signal))
    np.testing.assert_allclose(gradient, expected, rtol=1e-5)


def test_a_change_must_change_version_1():
    with pytest.raises(ValueError, match='must have one "nothing"'):
        changed(Change("something", '"nothing"'))


@pytest.mark.parametrize("first", ["mu", "gain"])
def test_attrs_are_arguments_in_their_order(first):
    old = '.Attr("mu: float = 255.0")'
    lines = [old, '.Attr("gain: float = 1.0")'][:: 1 if first == "mu" else -1]
    encoded = in_fork(call, Change("\n".join(lines), old), 0.5, "encode", 15.0)
    expected = mu_law_reference(np.float32(0.5), "encode", **{first: 15.0})
    np.testing.assert_allclose(float(encoded), expected, rtol=1e-5)


def test_attrs_without_a_default_come_first():
    mode = """.Attr("mode: {'encode', 'decode'}")"""
    gain_first = Change(f'.Attr("gain: float = 1.0")\n{mode}', mode)
    encoded = in_fork(call, gain_first, 0.5, "encode", 15.0)
    expected = mu_law_reference(np.float32(0.5), "encode", gain=15.0)
    np.testing.assert_allclose(float(encoded), expected, rtol=1e-5)


def test_the_solution_of_the_exercise_and_the_obvious_way(v1):
    obvious = Change(f'{OUTPUT}\n.Output("codes: uint8")', OUTPUT)
    solved, broken = verdicts(v1, [second_result, obvious])
    assert solved[:3] == ("", SAME, SAME)
    assert broken.checks and broken.model != SAME


@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (0,), (2, 0)])
def test_the_function_of_version_2_keeps_the_calls_of_version_1(mode, shape):
    signal = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    function = mode(lambda x: v2.mu_law(x, "encode", 15.0, "name_of_the_node"))
    np.testing.assert_allclose(
        function(tf.constant(signal)),
        np.asarray(mu_law_reference(signal, "encode", 15.0)),
        rtol=1e-5,
        strict=True,
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("gain", [1.0, -0.5])
def test_decoding_undoes_encoding(mode, dtype, gain):
    signal = SIGNAL.astype(dtype)
    encoded = mode(lambda x: v2.mu_law(x, "encode", gain=gain))(signal_of(signal))
    decoded = mode(lambda x: v2.mu_law(x, "decode"))(encoded)
    close = tolerance(signal.dtype)
    np.testing.assert_allclose(decoded, gain * signal, *close, strict=True)
    expected = mu_law_reference(encoded.numpy(), "decode")
    np.testing.assert_allclose(decoded, expected, *close)


def signal_of(values):
    return tf.constant(values, values.dtype)


@pytest.mark.parametrize("signal", [[0.5, -0.25], np.array([0.5, -0.25])])
def test_numbers_without_a_dtype_are_float_as_in_version_1(mode, signal):
    result = mode(lambda: v2.mu_law(signal, "encode"))()
    expected = mu_law_reference(np.float32([0.5, -0.25]), "encode")
    np.testing.assert_allclose(result, expected, rtol=1e-5, strict=True)


@pytest.mark.parametrize("mu", [0.0, -1.0, float("nan"), float("inf")])
def test_mu_must_be_positive_and_finite(mode, mu):
    with pytest.raises(tf.errors.InvalidArgumentError, match="mu must be positive"):
        mode(lambda: v2.mu_law(tf.constant([1.0]), "encode", mu))()


def test_another_mode_is_refused(mode):
    with pytest.raises(
        (tf.errors.InvalidArgumentError, ValueError), match='"encode", "decode"'
    ):
        mode(lambda: v2.mu_law(tf.constant([1.0]), "sideways"))()


@pytest.mark.parametrize("shape", [None, [None, 3], [], [0]])
def test_static_shape_is_that_of_the_signal(shape):
    traced = tf.function(lambda x: v2.mu_law(x, "encode")).get_concrete_function(
        tf.TensorSpec(shape)
    )
    assert traced.output_shapes == tf.TensorShape(shape)


def test_changed_inputs_of_another_shape_are_refused():
    longer = Change(f'{INPUT}\n.Input("noise: float")', INPUT)
    with pytest.raises(tf.errors.UnimplementedError, match="input 1 must be float, of"):
        in_fork(call, longer, [0.5], [0.5, 0.5], "encode")


SAVE_WITH_VERSION_2 = """
import tensorflow as tf
v2 = tf.load_op_library("{libraries}/libbackward_compatibility_v2.so")
for name, gain in ("plain", 1.0), ("louder", 2.0):
    model = tf.Module()
    model.encode = tf.function(
        lambda x, gain=gain: v2.mu_law(x, "encode", gain=gain), [tf.TensorSpec([None])], autograph=False
    )
    tf.saved_model.save(model, "{folder}/" + name)
"""
LOAD_WITH_VERSION_1 = """
import numpy as np, tensorflow as tf
v1 = tf.load_op_library("{libraries}/libbackward_compatibility_v1.so")
expected = v1.mu_law([0.25], "encode").numpy()
for name in "plain", "louder":
    found = tf.saved_model.load("{folder}/" + name).encode([0.25]).numpy()
    assert np.array_equal(found, expected), (name, found, expected)
"""
LOAD_WITHOUT_KERNEL = """
import pytest, tensorflow as tf
from changes import Change, load_changed
load_changed(Change("", "", "none"))
model = tf.saved_model.load("{folder}/model")
with pytest.raises(tf.errors.InvalidArgumentError, match="No OpKernel was registered"):
    model.signatures["serving_default"](tf.constant([0.5]))
"""


def run(script, folder):
    in_fork(exec, script.format(libraries=HERE, folder=folder), {})


def test_version_1_ignores_an_attr_of_version_2(tmp_path):
    run(SAVE_WITH_VERSION_2, tmp_path)
    run(LOAD_WITH_VERSION_1, tmp_path)
    louder = v2.mu_law([0.25], "encode", gain=2.0)
    assert not np.allclose(louder, v2.mu_law([0.25], "encode"))


def test_a_model_without_a_kernel_loads_and_fails_at_the_first_call(v1):
    run(LOAD_WITHOUT_KERNEL, v1)


def test_a_second_output_makes_the_generated_function_return_a_tuple():
    added = CHANGES["Output"]["an empty list added"]
    assert in_fork(call, added, 0.5, "encode") == "tuple of 2"


def test_graph_version_3000_is_in_the_future():
    """It grew by one each day until January 2026, and has stood still since."""
    assert tf.version.GRAPH_DEF_VERSION < 3000
