"""The pictures of the chapter on feeding a graph, drawn from graphs, queues and sources."""

import gzip
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import tensorflow as tf
from IPython.display import HTML
from pictures.dataset import WIDTH
from pictures.drawing import bold, code, dot, picture, rectangle, small, space
from pictures.layout import arrow, box, chain, column, flow, layers, row, table
from pictures.summary_images import LABELS, digits
from readers import IdxReader, write_idx

v1 = tf.compat.v1
SIDE = 10
READER = Path(__file__).parents[2] / "examples" / "readers" / "readers.cc"


def shifted_digits(label: str) -> np.ndarray:
    """Images of a digit, each at another place: uint8, [8, 10, 10]."""
    strokes = (255 * digits()[LABELS.index(label)]).astype(np.uint8)
    rows, columns = strokes.shape
    found = np.zeros([8, SIDE, SIDE], np.uint8)
    for n, image in enumerate(found):
        y, x = n % (SIDE - rows + 1), n * 2 % (SIDE - columns + 1)
        image[y : y + rows, x : x + columns] = strokes
    return found


def raw_batches(files: Sequence[str]) -> tf.Tensor:
    """Batches of a pipeline that reads and does not decode, for programs that are not shown."""
    names = v1.train.string_input_producer(files, num_epochs=1, shuffle=False)
    _, value = IdxReader().read(names)
    return v1.train.shuffle_batch([value], 8, 20, 10)


def packed_file(path: str) -> None:
    """An IDX file, packed by gzip."""
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_idx(file, shifted_digits("seven"))
    file.write_bytes(gzip.compress(file.read_bytes()))


def old_program(files: Sequence[str]) -> None:
    """Trains, as it were, and leaves the error to its caller."""
    with tf.Graph().as_default(), v1.Session() as session:
        batch = raw_batches(files)
        session.run(v1.local_variables_initializer())
        coordinator = v1.train.Coordinator()
        v1.train.start_queue_runners(session, coordinator)
        try:
            while True:
                session.run(batch)
        finally:
            coordinator.request_stop()


def without_locals(files: Sequence[str]) -> None:
    """Initializes global variables alone, and joins the threads when the first step says that the data have ended."""
    with tf.Graph().as_default(), v1.Session() as session:
        batch = raw_batches(files)
        session.run(v1.global_variables_initializer())
        # Its error has another wording if no queue has been used.
        session.run("shuffle_batch/random_shuffle_queue_Size:0")
        coordinator = v1.train.Coordinator()
        threads = v1.train.start_queue_runners(session, coordinator)
        try:
            session.run(batch)
        except tf.errors.OutOfRangeError:
            coordinator.join(threads)


def without_shape(files: Sequence[str]) -> None:
    """Decodes records and puts them into batches as they are."""
    with tf.Graph().as_default():
        _, value = IdxReader().read(v1.train.string_input_producer(files))
        v1.train.shuffle_batch([tf.io.decode_raw(value, tf.uint8)], 8, 20, 10)


def not_started(files: Sequence[str]) -> None:
    """Waits for a batch without queue runners, for half a second."""
    with tf.Graph().as_default(), v1.Session() as session:
        batch = raw_batches(files)
        session.run(v1.local_variables_initializer())
        session.run(batch, options=v1.RunOptions(timeout_in_ms=500))


def sizes_of_batches(images: np.ndarray, size: int, **options: bool) -> list[int]:
    """How many images are in each batch of an epoch."""
    found = []
    with tf.Graph().as_default():
        [row] = v1.train.slice_input_producer([tf.constant(images)], num_epochs=1)
        rows = v1.train.batch([row], size, **options)
        with v1.train.MonitoredSession() as session:
            while not session.should_stop():
                found.append(len(session.run(rows)))
    return found


def before(op: tf.Operation) -> list[tf.Operation]:
    """The ops that one op needs in the same run, in order, without queues and what only prepares."""
    found: dict[tf.Operation, None] = {}

    def visit(each: tf.Operation) -> None:
        if each not in found and ("Queue" not in each.type or each is op):
            for tensor in each.inputs:
                visit(tensor.op)
            found[each] = None

    visit(op)
    left_out = ("Const", "Identity", "Assert", "Greater", "Size")
    return [each for each in found if each.type not in left_out]


def queue_of(op: tf.Operation) -> str | None:
    """The name of the queue that an op puts into or takes from."""
    queues = "FIFOQueueV2", "RandomShuffleQueueV2"
    return next((x.op.name for x in op.inputs if x.op.type in queues), None)


def bands(graph: tf.Graph, batch: tf.Tensor) -> list[tuple[str, list[tf.Operation]]]:
    """Who runs what: for each thread of a queue runner, and for a step of yours, the ops in their order."""
    found = []
    for runner in graph.get_collection(v1.GraphKeys.QUEUE_RUNNERS):
        for op in runner.enqueue_ops:
            found.append((f"thread {len(found) + 1}", before(op)))
    return [*found, ("session.run", before(batch.op))]


def pipeline(graph: tf.Graph, batch: tf.Tensor) -> HTML:
    """Draws the ops of a pipeline in a frame for each thread, and between the frames the queues."""
    stack = []
    for who, ops in bands(graph, batch):
        types = [op.type for op in ops]
        shades = (0.45 * (each == "IdxReader") for each in types)
        words = (code(each, 12) for each in types)
        boxes = [box(*each, width=250, height=24) for each in zip(words, shades)]
        names = [bold(who, 12), *(space() for _ in boxes[1:])]
        inside = table(list(zip(names, boxes)), (20, 10), "start")
        inside = layers(inside, *chain(*boxes))
        band = box(inside, 0.08, dashed=True, width=WIDTH, align="end")
        stack.append(band.tells(f"{who} runs {', '.join(types)}"))
        if who != "session.run":
            queue = graph.get_operation_by_name(queue_of(ops[-1]))
            words = f"{queue.type}, room for {queue.get_attr('capacity')}"
            full = box(small(words), 0.35, "orange", width=260, height=28)
            stack.append(full.tells(f"which fills {words}"))
    return picture(flow(*stack, gap=16, align="middle"), "The graph of the pipeline:")


def scatter(orders: Mapping[str, Sequence[int]]) -> HTML:
    """Draws in which order numbers came out, which went in as 0, 1, 2 and so on."""
    drawn, side = [], 108
    for heading, numbers in orders.items():
        step = side / len(numbers)
        places = ((0.5 + np.array(each)) * step for each in enumerate(numbers))
        dots = (dot(x, side - y, 1.7, "blue") for x, y in places)
        square = layers(rectangle(side, side, stroke_opacity=0.5), *dots)
        early = max(number - place for place, number in enumerate(numbers))
        square.tells(f"{heading}: at most {early} places early")
        drawn.append(column(small(heading), square, align="middle"))
    axes = small("across: when it came out; up: when it went in")
    shapes = column(row(*drawn, gap=20), axes)
    return picture(shapes, "Numbers that went through a queue.")


def bases() -> dict[str, str]:
    """From each class of readers and of their kernels to its base, as TensorFlow's headers and our source say."""
    folder = Path(tf.sysconfig.get_include(), "tensorflow/core/framework")
    names = "reader_interface", "reader_base", "reader_op_kernel", "resource_op_kernel"
    found = {}
    derived = re.compile(r"^class (\w+) : public ([\w:<>]+)", re.M)
    for path in [*(folder / f"{name}.h" for name in names), READER]:
        for name, base in derived.findall(path.read_text()):
            found[name] = re.sub("tensorflow::|<.*>", "", base)
    return found


def classes() -> HTML:
    """Draws our reader and its kernel below their base classes, with what they override."""
    known = bases()
    own = re.findall(r"absl::Status (\w+)\([^{;]*\) override", READER.read_text())
    own.remove("CreateResource")
    methods_of = {"IdxReaderOp": ["CreateResource"], "IdxReader": own}
    columns, last = [], []
    for name, methods in methods_of.items():
        names = [name]
        while base := known.get(names[0]):
            names.insert(0, base)
        above = [box(code(each, 12), 0.08, width=190, height=26) for each in names[:-1]]
        inside = [bold(name, 12), *(code(method, 12) for method in methods)]
        last.append(box(column(*inside, gap=4, align="middle"), 0.4, width=190))
        last[-1].tells(f"{name} overrides {', '.join(methods)}")
        stack = column(*above, last[-1], gap=18, align="middle")
        derived = layers(stack, *chain(last[-1], *above[::-1]))
        columns.append(derived.tells(" derives from ".join(names[::-1])))
    makes = arrow(*last, "makes", upright=False).tells("IdxReaderOp makes an IdxReader")
    return picture(layers(row(*columns, gap=56, align="start"), makes))
