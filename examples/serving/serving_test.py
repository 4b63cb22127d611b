"""Tests of the op, of the layer, and of the server in C: `pytest examples/serving`."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import keras
import numpy as np
import pytest
import serving
import tensorflow as tf
from fresh import convert, fresh
from language import LANGUAGES, TEXTS, export, save
from pack import pack
from serving import ByteNgrams, byte_ngrams
from serving_reference import byte_ngrams_reference
from solution_check_round_trip import check_round_trip
from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

from opcheck.testing import op_test

HERE = Path(__file__).parent
SERVER, LIBRARY = HERE / "server", HERE / "libserving.so"
WORDS = np.array([b"banana", b"", b"ab", "Würde".encode(), b"\0\xff" * 9], object)
# The libraries of a sanitizer come first then.
SANITIZED = "LD_PRELOAD" in os.environ
needs_server = pytest.mark.skipif(
    not SERVER.exists(), reason="this TensorFlow has no libtensorflow_cc"
)

test_byte_ngrams_keeps_its_promises = op_test(
    byte_ngrams, WORDS, reference=byte_ngrams_reference, n=2, buckets=7
)


def test_a_loaded_model_computes_the_same(tmp_path):
    """Not with the defaults: these come back by themselves."""
    layer = serving.ByteNgrams(n=2, buckets=10)
    model = keras.Sequential([keras.Input([], dtype="string"), layer])
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    texts = tf.constant(["Wo ist der Bahnhof?", "banana"])
    np.testing.assert_array_equal(model(texts), loaded(texts))


@pytest.mark.parametrize("n", [1, 3, 40])
@pytest.mark.parametrize("shape", [(), (5,), (1, 5), (0,)])
def test_equals_the_reference(mode, n, shape):
    texts = np.resize(WORDS, shape) if shape else np.array(WORDS[0], object)
    result = mode(lambda texts: byte_ngrams(texts, n, 5))(tf.constant(texts, tf.string))
    expected = byte_ngrams_reference(texts, n, 5)
    np.testing.assert_array_equal(result, expected, strict=True)


def test_a_count_stops_where_float32_does():
    assert byte_ngrams([b"a" * (2**24 + 9)], n=1, buckets=1).numpy() == 2**24


def test_attrs_are_at_least_1(mode):
    for attrs in {"n": 0}, {"buckets": 0}:
        with pytest.raises(
            (ValueError, tf.errors.InvalidArgumentError), match="minimum 1|at least"
        ):
            mode(lambda attrs=attrs: byte_ngrams(["a"], **attrs))()


def test_the_shape_is_known_without_a_tensor():
    outputs = ByteNgrams(buckets=9)(keras.Input([None], dtype="string"))
    assert outputs.shape == (None, None, 9)


def test_the_layer_follows_the_policy():
    layer = ByteNgrams(dtype="mixed_float16")
    assert layer(tf.constant(["banana"])).dtype == tf.float16
    assert layer(keras.Input([], dtype="string")).dtype == "float16"


# ---- what is forgotten


class Bare(keras.layers.Layer):
    def __init__(self, n=3, **options):
        super().__init__(**options)
        self.n = n

    def call(self, texts):
        return byte_ngrams(texts, self.n)


class WithoutN(Bare):
    def get_config(self):
        return keras.layers.Layer.get_config(self)


class WithoutOptions(keras.layers.Layer):
    def __init__(self, n=3):
        super().__init__()
        self.n = n

    def call(self, texts):
        return byte_ngrams(texts, self.n)


class WithArray(Bare):
    def __init__(self, table, **options):
        super().__init__(**options)
        self.table = table


class WithWrongShape(Bare):
    def compute_output_shape(self, input_shape):
        return (*input_shape, 7)


class WithoutCast(Bare):
    def compute_output_shape(self, input_shape):
        return (*input_shape, 64)


class WithoutCastOfInputs(keras.layers.Layer):
    def call(self, x):
        return tf.math.betainc(x, x, x)  # takes float32 and float64


def model_of(*layers: keras.layers.Layer) -> keras.Model:
    return keras.Sequential([keras.Input([], dtype="string"), *layers])


def loaded(layer: keras.layers.Layer, folder: Path) -> keras.layers.Layer:
    model_of(layer).save(folder / "model.keras")
    known = {type(layer).__name__: type(layer)}
    model = keras.saving.load_model(folder / "model.keras", custom_objects=known)
    return model.layers[0]


def test_what_is_forgotten(tmp_path):
    with pytest.raises(ValueError, match="A KerasTensor cannot be used as input to a"):
        byte_ngrams(keras.Input([], dtype="string"))
    assert loaded(Bare(n=2), tmp_path).n == 2
    assert loaded(WithoutN(n=2), tmp_path).n == 3
    with pytest.raises(TypeError, match="got an unexpected keyword argument"):
        loaded(WithoutOptions(n=2), tmp_path)
    with pytest.raises(NotImplementedError, match="must override `get_config"):
        loaded(WithArray(np.ones(2)), tmp_path)
    assert model_of(Bare()).output_shape == (None, 64)
    with pytest.raises(ValueError, match="expected axis -1 of input shape to have val"):
        model_of(WithWrongShape(), keras.layers.Dense(1))(tf.constant(["a"]))
    layer = WithoutCast(dtype="mixed_float16")
    assert layer(keras.Input([], dtype="string")).dtype == "float16"
    assert layer(tf.constant(["a"])).dtype == tf.float32
    refused = "'T' of half is not in the list of allowed values"
    with pytest.raises(tf.errors.InvalidArgumentError, match=refused):
        WithoutCastOfInputs(dtype="mixed_float16")(tf.constant([0.5]))


def test_the_solution(tmp_path):
    check_round_trip(ByteNgrams(n=2), ["banana"])
    with keras.saving.custom_object_scope({"WithoutN": WithoutN}):
        with pytest.raises(AssertionError):
            check_round_trip(WithoutN(n=2), ["banana"])


# ---- files and servers


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("language")
    save(path)
    return path


def run(*arguments, program=SERVER, texts=TEXTS, **environment):
    return subprocess.run(
        [program, *map(str, arguments)],
        input="".join(f"{text}\n" for text in texts),
        capture_output=True,
        text=True,
        env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "2"} | environment,
    )


@pytest.mark.xdist_group("serving")
@needs_server
def test_the_server_answers_as_python_does(folder):
    model = keras.saving.load_model(folder / "language.keras")
    probabilities = model(tf.constant(TEXTS)).numpy()
    expected = [
        f"{LANGUAGES[row.argmax()]:8} {row.max():.2f}  {text}"
        for row, text in zip(probabilities, TEXTS)
    ]
    if SANITIZED:  # it keeps what is freed
        done = run(folder / "language", LIBRARY)
        assert done.stdout.splitlines() == expected
    else:
        done = run(folder / "language", LIBRARY, 4, 10_000)
        *answers, last = done.stdout.splitlines()
        assert answers == expected, done.stderr
        kept = r"40000 requests, 0 wrong, then (-?\d+) KiB more memory"
        # Less than 15 bytes for a request.
        assert int(re.fullmatch(kept, last)[1]) < 512
    assert done.returncode == 0, done.stderr
    assert (
        sum(line.startswith(LANGUAGES[i // 3]) for i, line in enumerate(expected)) == 9
    )


@pytest.mark.xdist_group("serving")
@needs_server
def test_the_server_says_what_is_wrong(folder, tmp_path):
    cases = {
        (folder / "language", "nowhere.so"): "cannot open shared object file",
        ("nowhere", LIBRARY): "Could not find SavedModel",
        (folder / "language",): "usage: ",
        (folder / "language", LIBRARY, -1, 10): "usage: ",
        (folder / "language", LIBRARY, 1, 10, -1): "usage: ",
    }
    for arguments, message in cases.items():
        done = run(*arguments)
        assert done.returncode and message in done.stderr
    other = tf.Module()
    spec = tf.TensorSpec([None], tf.string, name="words")
    other.call = tf.function(lambda words: {"language": words}, input_signature=[spec])
    tf.saved_model.save(other, str(tmp_path), signatures=other.call)
    done = run(tmp_path, LIBRARY)
    assert done.returncode and "serving_default must have texts" in done.stderr


@pytest.mark.xdist_group("serving")
@needs_server
def test_batches_have_the_answers_of_single_texts(folder):
    done = run(folder / "language", LIBRARY, 2, 20, 64)
    assert "40 requests, 0 wrong" in done.stdout, done.stderr


@pytest.mark.xdist_group("serving")
@needs_server
def test_an_error_belongs_to_its_request(tmp_path):
    picky = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="texts")])
    def answer(texts):
        good = tf.debugging.assert_less(tf.strings.length(texts), 5, "too long")
        with tf.control_dependencies([good]):
            return {"language": texts, "probability": tf.ones_like(texts, tf.float32)}

    picky.answer = answer
    tf.saved_model.save(picky, str(tmp_path), signatures=answer)
    done = run(tmp_path, LIBRARY, 2, 10, texts=["one", "too many", "two"])
    assert done.returncode == 1
    first, second, load = done.stdout.splitlines()
    assert (first, second) == ("one      1.00  one", "two      1.00  two")
    assert load.startswith("20 requests, 1 wrong")
    assert re.search("^too many: .*too long", done.stderr, re.M)


@pytest.mark.xdist_group("serving")
@needs_server
@pytest.mark.parametrize(
    "language, probability, message",
    [
        (b"x", np.float16([1]), "probability must have 1 elements of type 1, got 1 of"),
        (b"x", np.float32([]), "probability must have 1 elements of type 1, got 0 of"),
        (np.int64(7), np.float32([1]), "language must have 1 elements of type 7, got"),
    ],
)
def test_another_output_is_an_error_of_its_request(
    tmp_path, language, probability, message
):
    other = tf.Module()

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="texts")])
    def answer(texts):
        return {
            "language": tf.fill(tf.shape(texts), language),
            "probability": tf.constant(probability),
        }

    other.answer = answer
    tf.saved_model.save(other, str(tmp_path), signatures=answer)
    done = run(tmp_path, LIBRARY, texts=["one", "two"])
    assert done.returncode == 1 and not done.stdout
    assert re.search(f"^one: {message}", done.stderr, re.M), done.stderr
    assert re.search(f"^two: {message}", done.stderr, re.M), done.stderr


@pytest.mark.xdist_group("serving")
@needs_server
def test_a_model_in_mixed_precision(tmp_path):
    layers = (
        ByteNgrams(dtype="mixed_float16"),
        keras.layers.Dense(3, "softmax", dtype="mixed_float16"),
    )
    model = model_of(*layers)
    export(model, tmp_path)
    [row] = model(tf.constant(["banana"])).numpy()
    done = run(tmp_path, LIBRARY, texts=["banana"])
    expected = f"{LANGUAGES[row.argmax()]:8} {row.max():.2f}  banana\n"
    assert done.stdout == expected, done.stderr


@pytest.mark.xdist_group("serving")
@needs_server
def test_a_node_with_a_long_name(tmp_path):
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        with tf.name_scope("a" * 300):
            texts = tf.compat.v1.placeholder(tf.string, [None])
        language, probability = tf.identity(texts), tf.ones(tf.shape(texts))
        outputs = {"language": language, "probability": probability}
        folder = str(tmp_path / "long")
        tf.compat.v1.saved_model.simple_save(session, folder, {"texts": texts}, outputs)
    done = run(folder, LIBRARY, texts=["one"])
    assert done.stdout == "one      1.00  one\n", done.stderr


@pytest.mark.xdist_group("serving")
@needs_server
def test_a_keras_model_in_a_module_has_no_variables_in_c(folder, tmp_path):
    model = keras.saving.load_model(folder / "language.keras")
    module = tf.Module()
    module.model = model
    spec = tf.TensorSpec([None], tf.string, name="texts")

    @tf.function(input_signature=[spec])
    def answer(texts):
        probability = tf.reduce_max(model(texts), axis=-1)
        return {"language": texts, "probability": probability}

    module.answer = answer
    tf.saved_model.save(module, str(tmp_path), signatures=answer)
    in_python = tf.saved_model.load(str(tmp_path))
    assert in_python.answer(tf.constant(["a"]))["probability"] > 0
    done = run(tmp_path, LIBRARY)
    assert done.returncode and "Could not find variable" in done.stderr
    with tf.Graph().as_default(), tf.compat.v1.Session() as one:
        loaded = tf.compat.v1.saved_model.load(one, ["serve"], str(tmp_path))
        outputs = loaded.signature_def["serving_default"].outputs
        with pytest.raises(tf.errors.FailedPreconditionError, match="Could not find v"):
            one.run(outputs["probability"].name, {"serving_default_texts:0": ["a"]})
    # Why: what the file's restore op fills is not what the signature reads.
    assert not read_and_restored(tmp_path)
    assert read_and_restored(folder / "language")


def read_and_restored(model: Path) -> set[str]:
    """The variables that a SavedModel's signature reads, of those that its restore op fills."""
    [content] = SavedModel.FromString(
        (model / "saved_model.pb").read_bytes()
    ).meta_graphs
    graph = content.graph_def
    restores = {
        function.signature.name
        for function in graph.library.function
        if "_traced_restore" in function.signature.name
    }
    called = [node for node in graph.node if node.op == "StatefulPartitionedCall"]
    [restore] = [node for node in called if node.attr["f"].func.name in restores]
    [read] = [node for node in called if "serving_default_texts" in node.input]
    variables = {node.name for node in graph.node if node.op == "VarHandleOp"}
    return variables & set(read.input) & set(restore.input)


@pytest.mark.slow
@pytest.mark.xdist_group("serving")
def test_a_fresh_process_needs_library_and_class(folder):
    keras_file = f"keras.saving.load_model({str(folder / 'language.keras')!r})"
    model = f"tf.saved_model.load({str(folder / 'language')!r})"
    with pytest.raises(RuntimeError, match="TypeError.*could not be deserialized prop"):
        fresh("import keras", keras_file)
    with pytest.raises(RuntimeError, match="Op type not registered 'ByteNgrams'"):
        fresh("import tensorflow as tf", model)
    fresh("import keras, tensorflow as tf, serving", keras_file, model)


@pytest.mark.xdist_group("serving")
def test_litert_converts_and_does_not_run(folder):
    with pytest.raises(RuntimeError, match="neither a custom op nor a flex op"):
        convert(folder / "language")


def compiled(text: str, folder: Path) -> Path:
    """A variant of the server, built with the compiler's check for leaks."""
    text = text.replace("../common", str(HERE.parent / "common"))
    (folder / "variant.c").write_text(text)
    tensorflow = Path(tf.__file__).parent
    libraries = [path.name for path in tensorflow.glob("libtensorflow_*.so.2")]
    command = [
        *shlex.split(os.environ.get("CC", "cc")),
        *("-std=gnu11", "-g", "-O1", "-pthread", "-fsanitize=leak"),
        *("-isystem", tf.sysconfig.get_include()),
        f"-L{tensorflow}",
        *(folder / "variant.c", "-o", folder / "variant"),
        *(f"-l:{name}" for name in libraries),
        f"-Wl,-rpath,{tensorflow}",
    ]
    for more in ["-fuse-ld=gold"], []:
        done = subprocess.run([*command, *more], capture_output=True, text=True)
        if done.returncode == 0:
            return folder / "variant"
    pytest.skip(f"no sanitizer: {done.stderr.splitlines()[-1]}")


@pytest.mark.slow
@pytest.mark.xdist_group("serving")
@needs_server
@pytest.mark.parametrize("forgotten", ["", "TF_DeleteTensor(input);"])
def test_nothing_leaks(folder, tmp_path, forgotten):
    if SANITIZED:
        pytest.skip("runs under another sanitizer")
    text = (HERE / "server.c").read_text()
    assert not forgotten or text.count(forgotten) == 1
    program = compiled(text.replace(forgotten, "") if forgotten else text, tmp_path)
    done = run(folder / "language", LIBRARY, 4, 20, program=program)
    leaks = "LeakSanitizer: detected memory leaks" in done.stderr
    assert leaks == bool(forgotten), done.stderr[-2000:]
    if forgotten:
        assert re.search(r"in NewTexts \S*variant.c:\d+", done.stderr)


# ---- the container


@pytest.mark.xdist_group("serving")
@needs_server
def test_what_is_packed_runs_alone(tmp_path):
    """As the last stage of the Containerfile has it: these files, and Debian's libraries of C and C++."""
    if SANITIZED:
        pytest.skip("the sanitizer's libraries are not packed")
    app = tmp_path / "app"
    pack(app, copy=lambda source, target: target.symlink_to(source))
    command = [app / "server", app / "language", app / "libserving.so"]
    alone = {"LD_LIBRARY_PATH": str(app)}
    done = subprocess.run(
        command, input="Bonjour\n", capture_output=True, text=True, cwd="/", env=alone
    )
    assert done.stdout.endswith("Bonjour\n"), done.stderr
    system = r"linux-vdso|.*/ld-linux|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so"
    linked = subprocess.run(
        ["ldd", *command[:1], *command[2:]], capture_output=True, text=True
    )
    for name in re.findall(r"^\t(\S+)", linked.stdout, re.M):
        assert re.match(system, name) or (app / name).exists(), name


def test_the_containerfile_names_what_there_is():
    text, root = (HERE / "Containerfile").read_text(), HERE.parents[1]
    if not (constraints := root / "constraints.txt").exists():
        pytest.skip("the Containerfile is for the whole repository")
    for source in re.findall(r"^COPY (?!--from)(\S+)", text, re.M):
        assert (root / source).is_dir()
    pinned = re.search(r"^tensorflow(?:-cpu)?==(\S+)", constraints.read_text(), re.M)[1]
    assert f"ARG TENSORFLOW={pinned}\n" in text
