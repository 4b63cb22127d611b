"""The pictures of the page on TFRecord, drawn from files and from what readers made of them."""

import io
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

import tensorflow as tf
from IPython.display import HTML
from pictures.dataset import lines_of_bytes
from pictures.figures import (
    BOLD,
    CODE,
    COLOURS,
    END,
    FITTING,
    MIDDLE,
    SMALL,
    box,
    drawing,
    text,
)
from record_file import masked_crc
from sessions import what_is_wrong

WIDTH = 380
READERS = itertools.count()


def said(error: Exception) -> str:
    """An error as one line."""
    return f"{type(error).__name__}: {what_is_wrong(error)}"


def by_dataset(path: Path, ignore: bool = False) -> tuple[list[bytes], str]:
    """The records that tf.data gives, and how it ends: with an error, or with nothing."""
    dataset, found = tf.data.TFRecordDataset(str(path)), []
    try:
        for record in dataset.ignore_errors() if ignore else dataset:
            found.append(record.numpy())
    except tf.errors.DataLossError as error:
        return found, said(error)
    return found, ""


def by_reader(path: Path) -> tuple[list[bytes], str]:
    """The same of TFRecordReader, an op of TensorFlow 1."""
    queue = tf.queue.FIFOQueue(1, [tf.string], [[]])
    queue.enqueue(str(path))
    queue.close()
    reader = tf.raw_ops.TFRecordReaderV2(shared_name=f"reader {next(READERS)}")
    found = []
    try:
        while True:
            record = tf.raw_ops.ReaderReadV2(
                reader_handle=reader, queue_handle=queue.queue_ref
            )
            found.append(record.value.numpy())
    except tf.errors.OutOfRangeError:
        return found, ""
    except tf.errors.DataLossError as error:
        return found, said(error)


def strips(
    sound: Sequence[bytes], labels: Sequence[str], got: Mapping[str, Sequence[bytes]]
) -> HTML:
    """Draws the records of a file in a row for each reader: in colour those that it gave.

    Args:
      sound: All records, as they were before the file was damaged.
      labels: What to write into their boxes.
      got: From the name of a reader to what it gave, in order.

    Raises:
      ValueError: A reader gave something else.
    """
    parts, told, y, step = [], [], 4, (WIDTH - 8) / len(sound)
    for name, found in got.items():
        places = [i for i, record in enumerate(sound) if record in found]
        if [sound[i] for i in places] != list(found):
            raise ValueError(f"{name} gave other records")
        parts.append(text(4, y + 14, name, BOLD, SMALL))
        for i, label in enumerate(labels):
            given = i in places
            x = 4 + step * i
            parts.append(
                box(x, y + 20, step - 6, 26, 0.4, corner=3)
                if given
                else f'<rect x="{x:g}" y="{y + 20}" width="{step - 6:g}" height="26" rx="3" stroke="currentColor" '
                'stroke-opacity="0.4" stroke-dasharray="3 3" fill="currentColor" fill-opacity="0.06"/>'
            )
            if given:
                parts.append(text(x + step / 2 - 3, y + 38, label, MIDDLE, SMALL))
        told.append(f"{name} gave {len(places)}")
        y += 58
    label = f"Of {len(sound)} records, {'; '.join(told)}."
    return HTML(drawing(parts, WIDTH, y, label, style=FITTING))


def bytes_of_a_record(content: bytes) -> HTML:
    """Draws the bytes of the first record of a file, and where the second begins.

    Raises:
      ValueError: They are not what the picture says.
    """
    length = int.from_bytes(content[:8], "little")
    end = 12 + length
    if masked_crc(content[:8]) != int.from_bytes(content[8:12], "little"):
        raise ValueError("the length has another check sum")
    if masked_crc(content[12:end]) != int.from_bytes(content[end : end + 4], "little"):
        raise ValueError("the payload has another check sum")
    following = int.from_bytes(content[end + 4 : end + 12], "little")
    held, checks = (COLOURS[0], 0.2), (COLOURS[1], 0.35)
    lines, told = [], []
    for begin, size, meaning, shade in [
        (0, 8, f"the length, {length}", held),
        (8, 4, "check sum of the length", checks),
        (12, length, "the payload", held),
        (end, 4, "check sum of the payload", checks),
        (end + 4, 8, f"the next length, {following}", held),
    ]:
        shown = content[begin : begin + min(size, 8)].hex(" ") + " …" * (size > 8)
        lines.append((str(begin), shown, meaning, shade))
        told.append(f"from byte {begin} on {meaning}")
    return lines_of_bytes(lines, f"The bytes of a record: {'; '.join(told)}.")


class Watched(io.FileIO):
    """A file that keeps which of its bytes were read."""

    def __init__(self, path: Path):
        super().__init__(path)
        self.spans: list[tuple[int, int]] = []

    def read(self, size: int = -1) -> bytes:
        at = self.tell()
        found = super().read(size)
        if found:
            self.spans.append((at, at + len(found)))
        return found


def touched(spans: Mapping[str, Sequence[tuple[int, int]]], size: int) -> HTML:
    """Draws a file as a line, for each heading one, with the bytes that were read.

    Args:
      spans: From a heading to the first byte of each read, and the byte behind its last.
      size: Of the file.
    """
    parts, told, y = [], [], 4
    scale = (WIDTH - 8) / size
    for heading, some in spans.items():
        total = sum(end - begin for begin, end in some)
        parts.append(text(4, y + 14, heading, CODE, SMALL))
        parts.append(text(WIDTH - 4, y + 14, f"{total} bytes", END, SMALL))
        parts.append(
            f'<rect x="4" y="{y + 20}" width="{WIDTH - 8}" height="16" stroke="currentColor" '
            'stroke-opacity="0.5" fill="none"/>'
        )
        for begin, end in some:
            parts.append(
                f'<rect x="{4 + scale * begin:.1f}" y="{y + 20}" width="{max(1.0, scale * (end - begin)):.1f}" '
                f'height="16" fill="{COLOURS[0]}" fill-opacity="0.7"/>'
            )
        told.append(
            f"{heading}: {total} bytes in {len(some)} reads, "
            f"the first at byte {some[0][0]}, the last up to byte {some[-1][1]}"
        )
        y += 46
    label = f"What is read of a file of {size} bytes: {'; '.join(told)}."
    return HTML(drawing(parts, WIDTH, y, label, style=FITTING))
