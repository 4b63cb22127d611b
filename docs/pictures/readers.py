"""The pictures of the chapter on feeding a graph, drawn from graphs, queues and sources."""

import gzip
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import tensorflow as tf
from IPython.display import HTML
from pictures.dataset import PIXEL, frame
from pictures.figures import (
    BOLD,
    CODE,
    COLOURS,
    END,
    FITTING,
    LINE,
    MIDDLE,
    POINTED,
    SMALL,
    TIP,
    arrow_down,
    box,
    drawing,
    text,
)
from pictures.summary_images import LABELS, digits
from readers import IdxReader, write_idx

v1 = tf.compat.v1
WIDTH, SIDE = 380, 10
READER = Path(__file__).parents[2] / "examples" / "readers" / "readers.cc"


def shifted_digits(label: str, count: int = 8) -> np.ndarray:
    """Images of a digit, each at another place: uint8, [count, 10, 10]."""
    strokes = (255 * digits()[LABELS.index(label)]).astype(np.uint8)
    rows, columns = strokes.shape
    found = np.zeros([count, SIDE, SIDE], np.uint8)
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
        soon = v1.RunOptions(timeout_in_ms=500)
        session.run(raw_batches(files), options=soon)


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


def batches_picture(batches: Sequence[tuple[np.ndarray, np.ndarray]]) -> HTML:
    """Draws batches of keys and images, one in a row, each image above the end of its key.

    Raises:
      ValueError: An image is not the one that its key names.
    """
    parts, told, y, step, side = [], [], 4, WIDTH / 8, PIXEL * SIDE
    for number, (keys, images) in enumerate(batches, 1):
        names = []
        for i, (key, pixels) in enumerate(zip(keys, images)):
            name, _, item = Path(key.decode()).name.partition(".idx:")
            if not np.array_equal(shifted_digits(name)[int(item)], pixels):
                raise ValueError(f"{key} has another image")
            x = step * i + 2
            parts += frame(x, y, pixels, COLOURS[0])
            names.append(f"{name}:{item}")
            parts.append(
                text(x + side / 2, y + side + 13, names[-1], MIDDLE, 'font-size="10"')
            )
        told.append(f"batch {number}: {', '.join(names)}")
        y += side + 26
    label = f"Batches of images, with the ends of their keys. {'; '.join(told)}."
    return HTML(drawing(parts, WIDTH, y - 8, label, style=FITTING))


def before(op: tf.Operation) -> list[tf.Operation]:
    """The ops that one op needs in the same run, in order, without queues and what only prepares."""
    found: list[tf.Operation] = []

    def visit(each: tf.Operation) -> None:
        if each in found or "Queue" in each.type and each is not op:
            return
        for tensor in each.inputs:
            visit(tensor.op)
        if each not in found:
            found.append(each)

    visit(op)
    left_out = ("Const", "Identity", "Assert", "Greater", "Size")
    return [each for each in found if each.type not in left_out]


def queue_of(op: tf.Operation) -> str | None:
    """The name of the queue that an op puts into or takes from."""
    for tensor in op.inputs:
        if tensor.op.type in ("FIFOQueueV2", "RandomShuffleQueueV2"):
            return tensor.op.name
    return None


def bands(graph: tf.Graph, batch: tf.Tensor) -> list[tuple[str, list[tf.Operation]]]:
    """Who runs what: for each thread of a queue runner, and for a step of yours, the ops in their order."""
    found = []
    for runner in graph.get_collection(v1.GraphKeys.QUEUE_RUNNERS):
        for op in runner.enqueue_ops:
            found.append((f"thread {len(found) + 1}", before(op)))
    return [*found, ("session.run", before(batch.op))]


def pipeline(graph: tf.Graph, batch: tf.Tensor) -> HTML:
    """Draws the ops of a pipeline in a frame for each thread, and between the frames the queues."""
    parts, told, y = [], [], 4
    groups = bands(graph, batch)
    across = 250
    for i, (who, ops) in enumerate(groups):
        height = 26 + 34 * len(ops)
        parts.append(
            f'<rect x="2" y="{y}" width="{WIDTH - 4}" height="{height}" rx="6" fill="{COLOURS[0]}" fill-opacity="0.08" '
            'stroke="currentColor" stroke-dasharray="4 3"/>'
        )
        parts.append(text(10, y + 18, who, BOLD, SMALL))
        x = 105
        for n, op in enumerate(ops):
            top = y + 14 + 34 * n
            parts.append(box(x, top, across, 24, 0.45 if op.type == "IdxReader" else 0))
            parts.append(text(x + across / 2, top + 16, op.type, MIDDLE, CODE, SMALL))
            if n + 1 < len(ops):
                parts.append(arrow_down(x + across / 2, top + 24, top + 33))
        told.append(f"{who} runs {', '.join(op.type for op in ops)}")
        y += height
        if i + 1 < len(groups):
            queue = graph.get_operation_by_name(queue_of(ops[-1]))
            if queue.name not in {queue_of(op) for op in groups[i + 1][1]}:
                raise ValueError(f"nobody takes from {queue.name}")
            capacity = queue.get_attr("capacity")
            parts.append(arrow_down(x + across / 2, y, y + 11))
            parts.append(box(60, y + 12, WIDTH - 120, 28, 0.35, 1))
            words = f"{queue.type}, room for {capacity}"
            parts.append(text(WIDTH / 2, y + 31, words, MIDDLE, SMALL))
            parts.append(arrow_down(x + across / 2, y + 40, y + 53))
            told.append(f"which fills {words}")
            y += 54
    label = f"The graph of the pipeline: {'; '.join(told)}."
    return HTML(drawing(parts, WIDTH, y + 4, label, style=FITTING))


def scatter(orders: Mapping[str, Sequence[int]]) -> HTML:
    """Draws in which order numbers came out, which went in as 0, 1, 2 and so on.

    Args:
      orders: From a heading to the numbers in the order in which they came.
    """
    side, parts, told, left = 108, [], [], 6
    for heading, numbers in orders.items():
        scale = side / len(numbers)
        parts.append(text(left + side / 2, 14, heading, MIDDLE, SMALL))
        parts.append(
            f'<rect x="{left}" y="22" width="{side}" height="{side}" {LINE} stroke-opacity="0.5"/>'
        )
        for place, number in enumerate(numbers):
            x, y = left + scale * (place + 0.5), 22 + side - scale * (number + 0.5)
            parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="1.7" fill="{COLOURS[0]}"/>'
            )
        early = max(number - place for place, number in enumerate(numbers))
        told.append(f"{heading}: at most {early} places early")
        left += side + 20
    parts.append(
        text(6, 22 + side + 18, "across: when it came out; up: when it went in", SMALL)
    )
    label = f"Numbers that went through a queue. {'; '.join(told)}."
    return HTML(drawing(parts, left - 8, 22 + side + 26, label, style=FITTING))


def bases() -> dict[str, str]:
    """From each class of readers and their kernels to its base, as the headers and our source say."""
    folder = Path(tf.sysconfig.get_include(), "tensorflow/core/framework")
    names = (
        "reader_interface",
        "reader_base",
        "reader_op_kernel",
        "resource_op_kernel",
    )
    sources = [folder / f"{name}.h" for name in names] + [READER]
    found = {}
    for path in sources:
        for name, base in re.findall(
            r"^class (\w+) : public ([\w:<>]+)", path.read_text(), re.M
        ):
            found[name] = base.replace("tensorflow::", "")
    return found


def classes() -> HTML:
    """Draws the classes of a reader and of its kernel, with what ours override."""
    known = bases()
    chains = []
    for own in ("IdxReaderOp", "IdxReader"):
        chain = [own]
        while base := known.get(re.sub(r"<.*", "", chain[-1])):
            chain.append(base)
        chains.append(chain[::-1])
    wanted = [
        [
            "OpKernel",
            "ResourceOpKernel<ReaderInterface>",
            "ReaderOpKernel",
            "IdxReaderOp",
        ],
        ["ResourceBase", "ReaderInterface", "ReaderBase", "IdxReader"],
    ]
    if chains != wanted:
        raise ValueError(f"other classes: {chains}")
    source = READER.read_text()
    own = re.findall(r"absl::Status (\w+)\([^{;]*\) override", source)
    made = own.pop(own.index("CreateResource"))
    parts, told, width = [TIP], [], 182
    for column, chain in enumerate(chains):
        x = 4 + column * (width + 8)
        for row, name in enumerate(chain):
            y = 4 + 50 * row
            last = row == len(chain) - 1
            methods = ([made] if column == 0 else own) if last else []
            height = 30 + 18 * len(methods)
            parts.append(box(x, y, width, height, 0.4 if last else 0.1))
            shown = re.sub(r"<.*>", "<…>", name)
            parts.append(text(x + width / 2, y + 20, shown, MIDDLE, CODE, SMALL))
            for n, method in enumerate(methods):
                parts.append(
                    text(x + 10, y + 38 + 18 * n, method, CODE, 'font-size="11"')
                )
            if row:  # towards its base
                parts.append(f'<path d="M{x + width / 2} {y}V{y - 19}" {POINTED}/>')
        told.append(" derives from ".join(chain[::-1]))
    y = 4 + 50 * 3
    left, right = 4 + width, 4 + width + 8
    parts.append(
        f'<path d="M{left - 40} {y + 48}V{y + 80}H{right - 1}" fill="none" stroke-dasharray="4 3" {POINTED}/>'
    )
    parts.append(text(left - 46, y + 84, "makes", SMALL, END))
    label = f"{'; '.join(told)}. IdxReaderOp makes an IdxReader, which overrides {', '.join(own)}."
    height = y + 40 + 18 * len(own)
    return HTML(drawing(parts, 2 * width + 16, height, label, style=FITTING))
