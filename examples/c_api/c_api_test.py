"""Tests of the vote, of the C programs and of the calls by ctypes: `pytest examples/c_api`."""

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from c_api_reference import majority_vote_reference
from majority_vote import majority_vote
from solution_missing import missing
from tensorflow.core.protobuf.meta_graph_pb2 import (
    MetaGraphDef,
    SignatureDef,
    TensorInfo,
)
from tf_c import Graph, execute, kernels, op_defs
from tf_c import library as tf_c_library
from voters import FOLDER, Voters, run_serve

from opcheck.testing import op_test

LIBRARY = FOLDER / "libmajority_vote.so"
# What is built and saved for several tests, one worker makes.
pytestmark = pytest.mark.xdist_group("c_api")
POINTS = np.float32([[1, 0], [0, 1], [-1, 0], [0, -1], [0.3, -0.9]])
VOTERS = Voters()
VOTES = np.int32([[0, 1, 2, 0], [0, 2, 2, 1], [1, 2, 2, 2]])

test_majority_vote_keeps_its_promises = op_test(
    majority_vote, list(VOTES), reference=majority_vote_reference
)


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    tf.saved_model.save(VOTERS, str(folder), signatures=VOTERS.classify)
    return folder


@pytest.mark.parametrize(
    "votes, winner",
    [
        ([[7]], [7]),
        ([[3], [4], [4]], [4]),
        ([[3], [4]], [3]),
        ([[1], [2], [3], [2], [1]], [1]),
        ([[5], [2], [3], [3], [2]], [2]),
        ([[], []], []),
    ],
)
def test_most_votes_win_and_of_a_tie_the_first(mode, votes, winner):
    result = mode(majority_vote)([tf.constant(vote, tf.int32) for vote in votes])
    assert result.numpy().tolist() == winner


def test_shapes_must_be_one(mode):
    with pytest.raises(
        (ValueError, tf.errors.InvalidArgumentError),
        match="votes must have one shape|Dimension 0 in both shapes must be equal",
    ):
        mode(majority_vote)([tf.constant([1, 2]), tf.constant([1])])


def test_there_must_be_a_vote(mode):
    with pytest.raises(
        (ValueError, tf.errors.OpError), match="at least minimum 1|shorter than minimum"
    ):
        mode(majority_vote)([])


def test_the_shape_is_what_is_known_of_any():
    specs = [tf.TensorSpec(shape, tf.int32) for shape in ([None, 3], [2, None], None)]
    traced = tf.function(lambda *votes: majority_vote(votes), autograph=False)
    assert traced.get_concrete_function(*specs).output_shapes == [2, 3]


def test_serve_computes_what_python_does(model):
    expected = VOTERS.classify(POINTS)["classes"].numpy().tolist()
    assert run_serve(POINTS, LIBRARY, model=model) == expected


def test_serve_needs_the_library_and_the_names(model):
    with pytest.raises(RuntimeError, match="Op type not registered 'MajorityVote'"):
        run_serve(POINTS, model=model)
    with pytest.raises(RuntimeError, match="cannot open shared object file"):
        run_serve(POINTS, Path("nowhere.so"), model=model)


def serve_answers(numbers: str, model: Path) -> str:
    command = [FOLDER / "serve", model, LIBRARY]
    run = subprocess.run(command, input=numbers, capture_output=True, text=True)
    return f"{run.returncode}: {run.stdout}{run.stderr.splitlines()[-1:]}"


def test_serve_refuses_half_a_point_and_what_is_no_number(model):
    message = "there must be two numbers or nothing"
    assert serve_answers("", model).startswith("0: \n")
    assert f"after 1 points {message}" in serve_answers("1 0 2", model)
    assert f"after 2 points {message}" in serve_answers("1 0 0 1 x", model)


def test_serve_prints_no_other_type_than_int32(tmp_path):
    halves = tf.Module()
    spec = tf.TensorSpec([None, 2], name="points")
    halves.call = tf.function(lambda x: {"classes": x / 2}, input_signature=[spec])
    tf.saved_model.save(halves, str(tmp_path), signatures=halves.call)
    assert "must be int32 (type 3), got type 1" in serve_answers("1 0", tmp_path)


class Scaled(tf.Module):
    """Votes with a variable."""

    def __init__(self):
        self.scale = tf.Variable(2.0)

    @tf.function(input_signature=[tf.TensorSpec([None, 2], name="points")])
    def classify(self, points):
        return {"classes": VOTERS.classify(self.scale * points)["classes"]}


def test_serve_restores_variables(tmp_path):
    scaled = Scaled()
    tf.saved_model.save(scaled, str(tmp_path), signatures=scaled.classify)
    expected = scaled.classify(POINTS)["classes"].numpy().tolist()
    assert run_serve(POINTS, LIBRARY, model=tmp_path) == expected


def test_serve_names_the_key_that_a_signature_lacks(tmp_path):
    unnamed = tf.Module()
    spec = tf.TensorSpec([None, 2], name="points")
    unnamed.call = tf.function(lambda points: points, input_signature=[spec])
    tf.saved_model.save(unnamed, str(tmp_path), signatures=unnamed.call)
    assert "serving_default must have classes" in serve_answers("1 0", tmp_path)


def test_the_numbers_of_the_fields_that_the_programs_read():
    fields = MetaGraphDef.DESCRIPTOR.fields_by_name
    assert fields["signature_def"].number == 5
    assert SignatureDef.DESCRIPTOR.fields_by_name["inputs"].number == 1
    assert SignatureDef.DESCRIPTOR.fields_by_name["outputs"].number == 2
    assert TensorInfo.DESCRIPTOR.fields_by_name["name"].number == 1


def test_requests_of_several_threads(model):
    command = [FOLDER / "requests", model, "4", "250", LIBRARY]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.stdout == "1000 requests on 4 threads, 0 wrong\n", run.stderr


@pytest.mark.parametrize(
    "classes, expected",
    [
        (lambda x: x / 2, "5 requests on 1 threads, 5 wrong"),
        # A request that fails does not end the others.
        (
            lambda x: tf.cast(tf.gather(x[0], [9]), tf.int32),
            "5 requests on 1 threads, 5 wrong",
        ),
        (lambda x: tf.zeros([0], tf.int32), "5 requests on 1 threads, 5 wrong"),
    ],
)
def test_requests_read_no_other_result(tmp_path, classes, expected):
    other = tf.Module()
    spec = tf.TensorSpec([None, 2], name="points")
    other.call = tf.function(lambda x: {"classes": classes(x)}, input_signature=[spec])
    tf.saved_model.save(other, str(tmp_path), signatures=other.call)
    command = [FOLDER / "requests", tmp_path, "1", "5", LIBRARY]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 1 and expected in run.stdout + run.stderr


UNCHECKED = """
import ctypes, sys
tf = ctypes.CDLL(sys.argv[1])
made = "TF_NewSessionOptions", "TF_NewGraph", "TF_NewStatus"
for name in *made, "TF_LoadSessionFromSavedModel":
    getattr(tf, name).restype = ctypes.c_void_p
options, graph, status = [ctypes.c_void_p(getattr(tf, name)()) for name in made]
tags = (ctypes.c_char_p * 1)(b"serve")
session = tf.TF_LoadSessionFromSavedModel(options, None, b"nowhere", tags, 1, graph, None, status)
print(session, tf.TF_GetCode(status), flush=True)
tf.TF_CloseSession(ctypes.c_void_p(session), status)
"""


def test_a_program_dies_of_a_status_that_it_does_not_look_at():
    command = [sys.executable, "-c", UNCHECKED, tf_c_library._name]
    run = subprocess.run(command, capture_output=True, text=True)
    assert (run.stdout, run.returncode) == ("None 5\n", -signal.SIGSEGV)


def test_numbers_of_the_other_byte_order_are_swapped():
    for dtype in ">i4", "<i4", ">f8", "<f8":
        assert execute("Neg", np.array([1, 2], dtype)).tolist() == [-1, -2]


def test_missing_names_the_ops(model):
    assert missing(model, set()) >= {"MajorityVote", "ArgMax", "MatMul"}
    assert missing(model, set(op_defs())) == set()


def test_a_graph_that_cannot_be_written_is_an_error():
    command = [FOLDER / "graph", LIBRARY, "/dev/full"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode and "/dev/full: No space left" in run.stderr


def test_graph_and_eager_program(tmp_path):
    run = subprocess.run(
        [FOLDER / "graph", LIBRARY, tmp_path / "graph.pb"],
        capture_output=True,
        text=True,
        check=True,
    )
    expected = VOTERS.classify(POINTS[:4])["classes"].numpy().tolist()
    assert [int(word) for word in run.stdout.split()] == expected
    graph = tf.compat.v1.GraphDef.FromString((tmp_path / "graph.pb").read_bytes())
    ops = [node.op for node in graph.node]
    assert ops.count("MatMul") == 3 and ops[-1] == "MajorityVote"
    run = subprocess.run(
        [FOLDER / "eager", LIBRARY], capture_output=True, text=True, check=True
    )
    expected = majority_vote_reference(VOTES).tolist()
    assert [int(word) for word in run.stdout.split()] == expected


def compiling(source: Path, program: Path, *options: str) -> list[Path | str]:
    """The command that compiles a program that uses voters.h."""
    tensorflow = Path(tf.__file__).parent
    libraries = [path.name for path in tensorflow.glob("libtensorflow_*.so.2")]
    return [
        *shlex.split(os.environ.get("CC", "cc")),
        *("-std=c11", *options),
        *("-I", FOLDER),
        *("-isystem", tf.sysconfig.get_include(), f"-L{tensorflow}"),
        *(source, "-o", program),
        *(f"-l:{name}" for name in libraries),
        f"-Wl,-rpath,{tensorflow}",
    ]


TOO_LARGE = """#include "voters.h"
int main(void) {
  int64_t shape = INT64_C(1) << 45;
  NewTensor(TF_FLOAT, &shape, &shape, 1);
}
"""


def test_a_tensor_that_does_not_fit_into_memory_ends_the_program(tmp_path):
    (tmp_path / "large.c").write_text(TOO_LARGE)
    program = tmp_path / "large"
    subprocess.run(compiling(tmp_path / "large.c", program), check=True)
    run = subprocess.run([program], capture_output=True)
    assert run.returncode == tf.errors.RESOURCE_EXHAUSTED


@pytest.fixture(scope="module")
def leaky(tmp_path_factory) -> Path:
    """A `serve` that forgets to delete a tensor, built with the compiler's check for leaks."""
    folder, freed = tmp_path_factory.mktemp("leaky"), "TF_DeleteTensor(points);"
    text = (FOLDER / "serve.c").read_text()
    assert text.count(freed) == 1
    (folder / "leaky.c").write_text(text.replace(freed, ""))
    options = "-g", "-O1", "-fsanitize=leak"
    command = compiling(folder / "leaky.c", folder / "leaky", *options)
    quickly = subprocess.run([*command, "-fuse-ld=gold"], capture_output=True)
    if quickly.returncode:
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            pytest.skip(f"no sanitizer: {run.stderr.splitlines()[-1]}")
    return folder / "leaky"


def linked_with(program: Path) -> str:
    """What the loader says of a program's libraries."""
    alone = {name: x for name, x in os.environ.items() if name != "LD_PRELOAD"}
    return subprocess.run(
        ["ldd", program], capture_output=True, text=True, env=alone, check=True
    ).stdout


@pytest.fixture(scope="module")
def run_checked(leaky) -> Callable[..., subprocess.CompletedProcess]:
    """Runs a program under the check for leaks, whether it was built with it or not."""
    [runtime] = re.findall(r"liblsan\S+ => (\S+)", linked_with(leaky))
    if re.search("lib[at]san", linked_with(FOLDER / "serve")):
        pytest.skip("built with another sanitizer")
    variables = {"LD_PRELOAD": runtime, "TF_CPP_MIN_LOG_LEVEL": "2"}

    def run(*command: Path | str) -> subprocess.CompletedProcess:
        return subprocess.run(
            command,
            input="1 0 0 1",
            capture_output=True,
            text=True,
            env={**os.environ, **variables},
        )

    return run


def test_the_programs_need_no_python():
    for name in "serve", "requests", "graph", "eager":
        assert "libpython" not in linked_with(FOLDER / name)


def test_the_programs_free_what_is_theirs(run_checked, model, tmp_path):
    for command in (
        (FOLDER / "serve", model, LIBRARY),
        (FOLDER / "requests", model, "2", "20", LIBRARY),
        (FOLDER / "graph", LIBRARY, tmp_path / "graph.pb"),
        (FOLDER / "eager", LIBRARY),
    ):
        run = run_checked(*command)
        assert run.returncode == 0 and "Sanitizer" not in run.stderr, run.stderr


def test_a_leak_would_be_reported(run_checked, leaky, model):
    run = run_checked(leaky, model, LIBRARY)
    assert "LeakSanitizer: detected memory leaks" in run.stderr
    assert re.search(r"in ReadPoints \S*leaky.c:\d+", run.stderr)


def test_a_graph_by_ctypes():
    with Graph() as graph:
        a = graph.constant("a", np.float32([[1, 2], [3, 4]]))
        b = graph.constant("b", np.float32([[5], [6]]))
        product = graph.add("MatMul", "product", a, b)
        total = graph.add("AddN", "total", [product, product])
        assert graph.run(total).tolist() == [[34], [78]]
        votes = [graph.constant(f"vote_{i}", vote) for i, vote in enumerate(VOTES)]
        winner = graph.run(graph.add("MajorityVote", "winner", votes))
        np.testing.assert_array_equal(winner, majority_vote_reference(VOTES))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Duplicate node name"):
            graph.add("MatMul", "product", a, b)
        graph.add("MatMul", "spoilt", a, b, label="fast")
        with pytest.raises(tf.errors.InvalidArgumentError, match="No OpKernel was reg"):
            graph.run(total)


def test_an_eager_call_by_ctypes():
    np.testing.assert_array_equal(
        execute("MajorityVote", list(VOTES)), majority_vote_reference(VOTES)
    )
    assert execute("MatMul", np.float32([[1, 2]]), np.float32([[3], [4]])) == [[11]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have one shape"):
        execute("MajorityVote", [np.int32([0, 1]), np.int32([3])])
    with pytest.raises(tf.errors.NotFoundError, match="'Nowhere' is neither a type"):
        execute("Nowhere", np.int32([0, 1]))


def test_strings_are_refused_and_labels_are_utf_8():
    with pytest.raises(TypeError, match="expected numbers or booleans, got string"):
        execute("Identity", np.array(["text"]))
    with pytest.raises(TypeError, match="expected numbers or booleans, got string"):
        execute("AsString", np.int32([1]))
    with Graph() as graph:
        a = graph.constant("a", np.float32([1]))
        labelled = graph.add("Neg", "labelled", a, label="größer")
        escaped = re.escape(r'_kernel="gr\303\266\303\237er"')
        with pytest.raises(tf.errors.InvalidArgumentError, match=escaped):
            graph.run(labelled)


def test_what_is_registered():
    [op] = [op for name, op in op_defs().items() if name == "MajorityVote"]
    assert op.input_arg[0].number_attr == "N"
    [kernel] = kernels("MajorityVote")
    assert (kernel.device_type, kernel.label, kernel.priority) == ("CPU", "", 0)
    assert kernels("Nowhere") == []
