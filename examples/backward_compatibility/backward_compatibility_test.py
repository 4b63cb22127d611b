"""Tests of both versions and of the checker: `pytest examples/backward_compatibility`.

Version 2 is loaded here. Version 1 writes its graphs in a process of its own.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import backward_compatibility as v2
import numpy as np
import op_def_check
import pytest
import read_v1
import tensorflow as tf
from backward_compatibility_reference import (
    amplify_reference,
    attenuate_reference,
    blend_reference,
    flip_phase_reference,
    gate_reference,
    halve_reference,
    limit_reference,
    mix_reference,
    power_reference,
    rectify_reference,
    snap_reference,
    softsign_reference,
)
from google.protobuf import text_format
from op_def_check import check_op_def, op_defs
from op_library import load_op_library
from tensorflow.core.framework.op_def_pb2 import OpDef
from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

from opcheck.testing import op_test

HERE = Path(__file__).parent
SIGNAL = read_v1.SIGNAL.numpy()
SAFE = {
    "Amplify": amplify_reference,
    "Rectify": rectify_reference,
    "Snap": lambda x: snap_reference(x, "up"),
    "Power": lambda x: power_reference([x]),
    "FlipPhase": lambda x: flip_phase_reference([x]),
    "OpByOp_Softsign": softsign_reference,
}
UNSAFE = {
    "Gate": lambda x: gate_reference(x, 0.1),
    "Attenuate": attenuate_reference,
    "Mix": lambda x: mix_reference([x, x]),
    "Limit": lambda x: limit_reference(x, 1),
    "Halve": halve_reference,
}


def golden_reference(x):
    y = snap_reference(amplify_reference(rectify_reference(x)), "up")
    return softsign_reference(-power_reference([y]))


RECTIFY_V1 = "name: 'Rectify' input_arg { name: 'signal' type: DT_FLOAT } output_arg { name: 'result' type: DT_FLOAT }"
test_amplify_keeps_its_promises = op_test(
    v2.amplify, SIGNAL, factor=3.0, reference=amplify_reference
)
test_rectify_keeps_its_promises = op_test(
    v2.rectify,
    SIGNAL,
    reference=rectify_reference,
    old_op_def=RECTIFY_V1,
)
test_snap_keeps_its_promises = op_test(
    v2.snap, SIGNAL, rounding="up", reference=snap_reference
)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The folder that version 1 wrote, and its log."""
    folder = tmp_path_factory.mktemp("v1")
    run = subprocess.run(
        [sys.executable, HERE / "write_v1.py", folder],
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": str(HERE.parent),
            "TF_CPP_MIN_LOG_LEVEL": "1",
        },
    )
    assert run.returncode == 0, run.stderr
    return folder, run.stderr


@pytest.fixture(scope="module")
def v1(written):
    return written[0]


@pytest.fixture(scope="module")
def outcomes(v1):
    """What becomes of each file of version 1, and the log, which has few lines for many removed attrs."""
    found = {}

    def read_all():
        for name in SAFE | UNSAFE:
            found[name] = read_v1.outcome(v1, name)

    log = read_v1.logged(read_all)
    return found, log


@pytest.mark.parametrize("name", SAFE | UNSAFE)
def test_version_1_equals_the_reference(v1, name):
    result = np.load(v1 / f"{name}.npy")
    np.testing.assert_allclose(result, (SAFE | UNSAFE)[name](SIGNAL), rtol=1e-6)
    assert result.dtype == np.float32


@pytest.mark.parametrize("name", SAFE)
def test_safe_changes_keep_the_result(outcomes, name):
    assert outcomes[0][name] == ("same result", "same result")


@pytest.mark.parametrize(
    "name, graph, saved_model",
    [
        ("Attenuate", "refused", "refused"),
        ("Mix", "refused", "refused"),
        ("Limit", "same result", "another result"),
        ("Gate", "another result", "another result"),
        ("Halve", "refused", "refused"),
    ],
)
def test_unsafe_changes_do_not(outcomes, name, graph, saved_model):
    assert outcomes[0][name] == (graph, saved_model)


@pytest.mark.parametrize(
    "name, raised, message",
    [
        ("Attenuate", ValueError, "NodeDef missing attr 'divisor' from Op<name=Atten"),
        ("Mix", ValueError, "NodeDef missing attr 'T' from Op<name=Mix"),
        (
            "Halve",
            tf.errors.UnimplementedError,
            r"Op Halve is not available in GraphDef version \d+. It has been removed in "
            "version 1700. Use Amplify",
        ),
    ],
)
def test_refusals_say_why(v1, outcomes, name, raised, message):
    with pytest.raises(raised, match=message):
        graph = read_v1.read_graph(v1 / f"{name}.pbtxt")
        read_v1.graph_function(graph)(read_v1.SIGNAL)
    with pytest.raises(raised, match=message):
        read_v1.saved_model_function(v1 / name)(read_v1.SIGNAL)


def test_the_only_sign_of_a_removed_attr_is_in_the_log(outcomes):
    assert (
        "NodeDef mentions attribute threshold which is not in the op definition: Op<name=Gate"
        in outcomes[1]
    )
    assert "Unknown attributes will be ignored" in outcomes[1]


def test_not_every_removed_attr_has_a_line_in_the_log(v1):
    graph = read_v1.read_graph(v1 / "Gate.pbtxt")
    for i in range(20):
        graph.node.add(name=f"gate{i}", op="Gate", input=["signal"]).attr[
            f"gone{i}"
        ].f = 1
    log = read_v1.logged(lambda: read_v1.graph_function(graph))
    assert log.count("NodeDef mentions attribute") < 20


def test_a_saved_model_leaves_defaults_out_and_a_graph_does_not(v1):
    graph = read_v1.read_graph(v1 / "Limit.pbtxt")
    (limit,) = [node for node in graph.node if node.op == "Limit"]
    assert limit.attr["limit"].f == 1
    model = SavedModel.FromString((v1 / "Limit" / "saved_model.pb").read_bytes())
    nodes = [
        node
        for function in model.meta_graphs[0].graph_def.library.function
        for node in function.node_def
        if node.op == "Limit"
    ]
    assert nodes and all("limit" not in node.attr for node in nodes)


def test_a_function_names_the_outputs_of_a_node_and_not_its_inputs(v1):
    model = SavedModel.FromString((v1 / "golden" / "saved_model.pb").read_bytes())
    (snap,) = (
        node
        for function in model.meta_graphs[0].graph_def.library.function
        for node in function.node_def
        if node.op == "Snap"
    )
    assert list(snap.input) == ["Amplify:result:0"]


def test_the_golden_graph_still_gives_its_result():
    graph = read_v1.read_graph(HERE / "backward_compatibility_v1.pbtxt")
    used = {node.op.replace(">", "_") for node in graph.node}
    assert used == set(SAFE) | {"Placeholder", "Identity"}
    result = read_v1.graph_function(graph)(read_v1.SIGNAL)
    np.testing.assert_allclose(result, golden_reference(SIGNAL), rtol=1e-6)


def test_version_1_writes_the_golden_graph(v1):
    golden = read_v1.read_graph(HERE / "backward_compatibility_v1.pbtxt")
    assert list(read_v1.read_graph(v1 / "golden.pbtxt").node) == list(golden.node)


@pytest.mark.parametrize(
    "name, compatible, defaults",
    [(name, "", "") for name in SAFE]
    + [
        ("Attenuate", "Attr 'divisor' added without default", ""),
        ("Mix", "Attr 'N' removed", ""),
        ("Limit", "", "has changed it's default value; from 1 to 0.5"),
        ("Gate", "Attr 'threshold' removed", ""),
        ("Halve", "", ""),
    ],
)
def test_verdicts(v1, name, compatible, defaults):
    verdict = check_op_def(op_defs(v1 / name)[name.replace("_", ">")])
    for message, expected in zip(verdict, (compatible, defaults, "")):
        assert expected in message and bool(expected) == bool(message)


def test_an_added_default_must_stay():
    old = text_format.Parse(
        "name: 'Amplify' input_arg { name: 'signal' type: DT_FLOAT } output_arg { name: 'result' type: DT_FLOAT }",
        OpDef(),
    )
    between = OpDef.FromString(old.SerializeToString())
    between.attr.add(name="factor", type="float").default_value.f = 3
    verdict = check_op_def(old, between)
    assert verdict.compatible == verdict.defaults == ""
    assert "Can't change default value for attr 'factor' from 3" in (
        verdict.added_defaults
    )
    assert "has changed it's default value; from 3 to 2" in (
        check_op_def(between).defaults
    )
    between.attr[0].default_value.f = 2
    assert check_op_def(old, between) == ("", "", "")


@pytest.mark.parametrize(
    "old, complaint",
    [
        (
            "name: 'Rectify' output_arg { name: 'result' type: DT_FLOAT }",
            "Input signature mismatch '' vs. 'float'",
        ),
        (
            "name: 'Rectify' input_arg { name: 'signal' type: DT_FLOAT }",
            "Output signature mismatch '' vs. 'result:float'",
        ),
        (
            "name: 'Snap' attr { name: 'rounding' type: 'string' } input_arg { name: 's' "
            "type: DT_FLOAT } output_arg { name: 'result' type: DT_FLOAT }",
            "Attr 'rounding' has a stricter set of allowed values",
        ),
        (
            "name: 'Power' attr { name: 'N' type: 'int' has_minimum: true minimum: 0 } "
            "input_arg { name: 's' type: DT_FLOAT number_attr: 'N' } "
            "output_arg { name: 'result' type: DT_FLOAT }",
            "Attr 'N' has a higher minimum; from 0 to 1",
        ),
        (
            "name: 'Power' attr { name: 'N' type: 'int' has_minimum: true minimum: 2 } "
            "input_arg { name: 's' type: DT_FLOAT number_attr: 'N' } "
            "output_arg { name: 'result' type: DT_FLOAT }",
            "",
        ),
        (
            "name: 'Rectify' attr { name: 'T' type: 'type' allowed_values { list { type: "
            "DT_FLOAT } } } input_arg { name: 's' type_attr: 'T' } "
            "output_arg { name: 'result' type_attr: 'T' }",
            "",
        ),
        (
            "name: 'Mix' attr { name: 'T' type: 'list(type)' has_minimum: true minimum: 1 "
            "allowed_values { list { type: DT_FLOAT } } } "
            "input_arg { name: 'signals' type_list_attr: 'T' } "
            "output_arg { name: 'result' type: DT_FLOAT }",
            "",
        ),
        (
            "name: 'FlipPhase' input_arg { name: 'sound' type: DT_FLOAT } "
            "output_arg { name: 'result' type: DT_FLOAT }",
            "",
        ),
        (
            "name: 'FlipPhase' input_arg { name: 'signal' type: DT_FLOAT } "
            "output_arg { name: 'sound' type: DT_FLOAT }",
            "Output signature mismatch 'sound:float' vs. 'result:float'",
        ),
    ],
    ids=[
        "input added",
        "output added",
        "values taken away",
        "minimum raised",
        "minimum lowered",
        "type added",
        "type added to a list",
        "input renamed",
        "output renamed",
    ],
)
def test_other_changes(old, complaint):
    found = check_op_def(text_format.Parse(old, OpDef())).compatible
    assert complaint in found and bool(complaint) == bool(found)


@pytest.mark.parametrize(
    "old, between, message",
    [
        (b"\xff", b"\xff", "input 0 must be a serialized OpDef"),
        ("name: 'Gate'", b"\xff", "input 1 must be a serialized OpDef"),
        ("name: 'gate'", "name: 'gate'", r"Invalid name: gate \(Did you use CamelC"),
        ("name: 'Gate'", "name: 'Mix'", "must define one op, got Gate and Mix"),
        ("name: 'Gone'", "name: 'Gone'", "Op type not registered 'Gone'"),
        (["", ""], "name: 'Gate'", r"input 0 must be a scalar, got shape \[2\]"),
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


def test_check_op_def_is_stateful(v1):
    old = tf.constant(op_defs(v1 / "Snap")["Snap"].SerializeToString())
    traced = tf.function(op_def_check._library.check_op_def, autograph=False)
    graph = traced.get_concrete_function(old, old).graph
    (op,) = [op for op in graph.get_operations() if op.type == "CheckOpDef"]
    assert op.op_def.is_stateful


def test_check_op_def_refuses_other_shapes_when_traced():
    with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1"):
        tf.function(op_def_check._library.check_op_def).get_concrete_function(
            tf.TensorSpec([2], tf.string), tf.TensorSpec([], tf.string)
        )


@pytest.mark.parametrize("producer, runs", [(1699, True), (1700, False)])
def test_a_session_looks_at_the_producer_of_the_graph(v1, producer, runs):
    graph_def = read_v1.read_graph(v1 / "Halve.pbtxt")
    graph_def.versions.producer = producer
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:

        def run():
            signal, result = tf.graph_util.import_graph_def(
                graph_def, return_elements=["signal:0", "Identity:0"]
            )
            return session.run(result, {signal: SIGNAL})

        if runs:
            np.testing.assert_array_equal(run(), SIGNAL / 2)
        else:
            with pytest.raises(
                tf.errors.UnimplementedError, match="removed in version 1700"
            ):
                run()


def test_a_function_does_not_look_at_the_producer(v1, tmp_path):
    graph_def = read_v1.read_graph(v1 / "Halve.pbtxt")
    graph_def.versions.producer = 1699
    model = SavedModel.FromString((v1 / "Halve" / "saved_model.pb").read_bytes())
    model.meta_graphs[0].graph_def.versions.producer = 1699
    (tmp_path / "saved_model.pb").write_bytes(model.SerializeToString())
    for load in (
        lambda: read_v1.graph_function(graph_def),
        lambda: read_v1.saved_model_function(tmp_path),
    ):
        with pytest.raises(
            tf.errors.UnimplementedError, match="removed in version 1700"
        ):
            load()(read_v1.SIGNAL)


def test_a_deprecated_op_is_refused_in_eager_execution_too():
    with pytest.raises(tf.errors.UnimplementedError, match="Use Amplify with factor"):
        v2._library.halve([1.0])


def test_a_coming_end_is_logged(written):
    assert re.search(
        "Op Halve is deprecated. It will cease to work in GraphDef version 3000. Use Amplify",
        written[1],
    )


def test_min_consumer_above_this_tensorflow_is_refused(v1):
    graph_def = read_v1.read_graph(v1 / "Amplify.pbtxt")
    graph_def.versions.min_consumer = 99999
    with pytest.raises(
        ValueError, match="min consumer version 99999 above current version"
    ):
        read_v1.graph_function(graph_def)


def test_an_op_that_is_gone_and_the_solution_of_the_exercise(v1):
    graph = read_v1.read_graph(v1 / "Blend.pbtxt")
    old = op_defs(v1 / "Blend")["Blend"]
    with pytest.raises(
        tf.errors.NotFoundError, match="Op type not registered 'Blend' in binary"
    ):
        read_v1.graph_function(graph)
    with pytest.raises(
        RuntimeError, match=r"Op type not registered 'Blend' in binary .*tf\.contrib"
    ):
        read_v1.saved_model_function(v1 / "Blend")
    with pytest.raises(tf.errors.NotFoundError, match="Op type not registered 'Blend'"):
        check_op_def(old)
    blend = load_op_library(HERE / "libsolution_blend.so", "blend").blend
    assert check_op_def(old) == ("", "", "")
    np.testing.assert_allclose(
        np.load(v1 / "Blend.npy"), blend_reference([SIGNAL, SIGNAL**2]), rtol=1e-6
    )
    assert read_v1.outcome(v1, "Blend") == ("same result", "same result")
    np.testing.assert_array_equal(blend([[3.0], [6.0], [9.0]]), [6])


def test_a_name_of_tensorflow_s_own_is_taken():
    assert not hasattr(v2._library, "softsign")
    with tf.Graph().as_default():
        (argument,) = tf.nn.softsign([1.0]).op.op_def.input_arg
    assert argument.name == "features"


@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (0,), (2, 0)])
@pytest.mark.parametrize("name", [name for name in SAFE if name != "Snap"])
def test_wrappers_of_version_2_keep_the_calls_of_version_1(mode, name, shape):
    signal = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    python_name = {"OpByOp_Softsign": "softsign", "FlipPhase": "flip_phase"}
    call = getattr(v2, python_name.get(name, name.lower()))
    result = mode(lambda x: call(x, "name_of_the_node"))(tf.constant(signal))
    np.testing.assert_allclose(
        result, np.asarray(SAFE[name](signal)), rtol=1e-6, strict=True
    )


@pytest.mark.parametrize("rounding", ["down", "up", "nearest"])
def test_snap(mode, rounding):
    signal = np.float32([-2.5, -1.5, -0.2, 0, 0.2, 0.5, 1.5, 2.7])
    result = mode(lambda x: v2.snap(x, rounding))(tf.constant(signal))
    np.testing.assert_array_equal(result, snap_reference(signal, rounding), strict=True)


def test_snap_refuses_another_rounding(mode):
    with pytest.raises(
        (tf.errors.InvalidArgumentError, ValueError), match='"down", "up", "nearest"'
    ):
        mode(lambda x: v2.snap(x, "sideways"))(tf.constant([1.0]))


def test_what_is_new(mode):
    x, y = tf.constant([1.0, -2.0]), tf.constant([3.0, 5.0])
    np.testing.assert_array_equal(mode(lambda: v2.amplify(x, factor=3.0))(), [3, -6])
    np.testing.assert_array_equal(mode(lambda: v2.power(x, others=[y]))(), [16, 9])
    np.testing.assert_array_equal(
        mode(lambda: v2.flip_phase(x, others=[y, y]))(), [-7, -8]
    )
    double = mode(lambda: v2.rectify(tf.constant([1.5, -2], tf.float64)))()
    np.testing.assert_array_equal(double, np.array([1.5, 0]), strict=True)
    mixed = mode(lambda: v2._library.mix([x, tf.cast(y, tf.float64)]))()
    np.testing.assert_array_equal(mixed, np.float32([4, 3]), strict=True)
    attenuated = mode(lambda: v2._library.attenuate(x, divisor=4.0))()
    np.testing.assert_array_equal(attenuated, [0.25, -0.5])


@pytest.mark.parametrize("signal", [[1.5, -2.5], np.array([1.5, -2.5])])
def test_rectify_takes_numbers_without_a_dtype_as_version_1_did(mode, signal):
    result = mode(lambda: v2.rectify(signal))()
    np.testing.assert_array_equal(result, np.float32([1.5, 0]), strict=True)
    assert mode(lambda: v2.flip_phase(signal))().dtype == tf.float32


def test_the_generated_rectify_does_not():
    signal = np.array([1.5, -2.5])
    assert v2._library.rectify(signal).dtype == tf.float32
    assert tf.function(lambda: v2._library.rectify(signal))().dtype == tf.float64


def test_the_generated_function_breaks_the_calls_of_version_1():
    np.testing.assert_array_equal(v2._library.power(tf.constant([1.0, 2.0])), 9)
    with pytest.raises(TypeError, match="unexpected keyword argument 'signal'"):
        v2._library.power(signal=[1.0])
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        v2._library.flip_phase([1.0])


@pytest.mark.parametrize(
    "call",
    [
        lambda x, y: v2.power(x, others=[x, y]),
        lambda x, y: v2.flip_phase(x, others=[x, y]),
        lambda x, y: v2._library.mix([x, x, y]),
    ],
    ids=["power", "flip_phase", "mix"],
)
def test_different_shapes_are_refused(mode, call):
    x, y = tf.zeros([2]), tf.zeros([3])
    unknown = tf.TensorSpec(None)
    message = r"input 2 must have the shape of input 0, \[2\], got \[3\]"
    run = mode(call)
    if hasattr(run, "get_concrete_function"):
        with pytest.raises(
            ValueError, match="Dimension 0 in both shapes must be equal"
        ):
            run(x, y)
        run = run.get_concrete_function(unknown, unknown)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(x, y)


@pytest.mark.parametrize(
    "first, second, expected",
    [
        (None, None, None),
        ([None], None, [None]),
        ([None, 3], [2, None], [2, 3]),
        ([], [], []),
        ([0], [None], [0]),
    ],
)
def test_static_shape_is_that_of_all_inputs(first, second, expected):
    for call in (v2.power, v2.flip_phase):
        traced = tf.function(
            lambda x, y, call=call: call(x, others=[y]), autograph=False
        ).get_concrete_function(tf.TensorSpec(first), tf.TensorSpec(second))
        assert (
            traced.output_shapes.as_list() == expected
            if expected is not None
            else (traced.output_shapes.rank is None)
        )
