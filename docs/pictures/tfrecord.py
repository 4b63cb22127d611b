"""The pictures of the page on TFRecord, drawn from files and from what readers made of them."""

import io
import re
from collections.abc import Mapping, Sequence
from functools import partial
from os import pread
from pathlib import Path
from unittest import mock

import numpy as np
import tensorflow as tf
from IPython.display import HTML
from measured import Table
from pictures.dataset import WIDTH, lines_of_bytes
from pictures.drawing import bar, bold, code, picture, rectangle, small
from pictures.layout import at, box, column, ends, layers, row
from pictures.summary_images import digits
from record_file import RecordFile, masked_crc, offsets_of, records
from sessions import what_is_wrong


def write_digits() -> tuple[Path, Path]:
    """Writes six small images, once whole and once with a wrong bit in the third record."""
    images = np.concatenate([255 * digits(), 127 * digits()]).astype(np.uint8)
    whole = Path("build/whole.tfrecord")
    with tf.io.TFRecordWriter(str(whole)) as writer:
        for label, image in enumerate(images):
            features = {
                "image": {"bytes_list": {"value": [image.tobytes()]}},
                "size": {"int64_list": {"value": image.shape}},
                "label": {"int64_list": {"value": [label % 3]}},
                "brightness": {"float_list": {"value": [image.mean()]}},
            }
            example = tf.train.Example(features={"feature": features})
            writer.write(example.SerializeToString(deterministic=True))
    with whole.open("rb") as file:
        third = offsets_of(file)[2]
    content = bytearray(whole.read_bytes())
    content[third + 28] ^= 1
    damaged = whole.with_name("damaged.tfrecord")
    damaged.write_bytes(content)
    return whole, damaged


def read_in_a_second(speeds: Table) -> float:
    """How many megabytes of payloads our Python read in a second, by a measurement."""
    sizes = re.compile(r"(\d+) records of (\d+) bytes")
    [found] = filter(None, map(sizes.match, speeds.first_lines))
    size = int(found[1]) * int(found[2])
    return size / 1e3 / speeds.number("milliseconds", way="Python")


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


def strips(
    sound: Sequence[bytes], labels: Sequence[str], got: Mapping[str, Sequence[bytes]]
) -> HTML:
    """Draws the records of a sound file with their labels, in a row for each reader: in colour those that it gave."""
    drawn = []
    size = {"width": WIDTH / len(sound) - 6, "height": 26, "corner": 3}
    given = partial(box, shade=0.4, **size)
    lost = partial(
        box, shade=0.06, colour="ink", stroke_opacity=0.4, dashed=True, **size
    )
    for name, found in got.items():
        makers = (given if record in found else lost for record in sound)
        boxes = (make(small(label)) for make, label in zip(makers, labels))
        line = row(*boxes, gap=6).tells(f"{name} gave {len(found)}")
        drawn.append(column(bold(name, 12), line))
    return picture(column(*drawn, gap=14), f"Of {len(sound)} records,")


def bytes_of_a_record(content: bytes) -> HTML:
    """Draws the bytes of the first record of a file, and where the second begins."""
    length = int.from_bytes(content[:8], "little")
    end = 12 + length
    sums = [int.from_bytes(content[i : i + 4], "little") for i in (8, end)]
    if sums != [masked_crc(content[:8]), masked_crc(content[12:end])]:
        raise ValueError("other checksums")
    following = int.from_bytes(content[end + 4 : end + 12], "little")
    held, checks = ("blue", 0.2), ("orange", 0.35)
    lines = []
    for begin, size, meaning, shade in [
        (0, 8, f"the length, {length}", held),
        (8, 4, "checksum of the length", checks),
        (12, length, "the payload", held),
        (end, 4, "checksum of the payload", checks),
        (end + 4, 8, f"the next length, {following}", held),
    ]:
        rest = " …" if size > 8 else ""
        shown = content[begin : begin + min(size, 8)].hex(" ") + rest
        lines.append((str(begin), shown, meaning, shade))
    told = "; ".join(f"from byte {begin} on {what}" for begin, _, what, _ in lines)
    return lines_of_bytes(lines, f"The bytes of a record: {told}.")


def damages(whole: Path) -> list[tuple[str, str, str]]:
    """Damages the third record of a file in eight ways: how, and what TensorFlow and `records` say."""
    original = whole.read_bytes()
    with whole.open("rb") as file:
        start, end = map(int, offsets_of(file)[2:4])

    def flipped(at: int) -> bytes:
        return original[:at] + bytes([original[at] ^ 1]) + original[at + 1 :]

    changes = {
        "a bit of the length changed": flipped(start),
        "a bit of the length's checksum": flipped(start + 8),
        "a bit of the payload": flipped(start + 40),
        "a bit of the payload's checksum": flipped(end - 4),
        "cut in the length": original[: start + 5],
        "cut in the payload": original[: start + 40],
        "cut in the last checksum": original[: end - 3],
        "cut between two records": original[:start],
    }
    path, rows = whole.with_name("changed.tfrecord"), []
    for what, changed in changes.items():
        path.write_bytes(changed)
        stock, ours = by_dataset(path)[1].removeprefix("DataLossError: "), ""
        try:
            with path.open("rb") as file:
                list(records(file))
        except ValueError as error:
            ours = str(error).partition(": ")[2]
        rows.append((what, stock or "nothing", ours or "nothing"))
    return rows


def read_spans(path: Path) -> dict[str, list[tuple[int, int]]]:
    """The bytes that are read for an index, and then for the fifth record."""
    spans = {}
    with Watched(path) as file:
        offsets = offsets_of(file)
        spans["offsets_of(file)"], file.spans = file.spans, []
        with mock.patch("os.pread", file.pread):
            RecordFile(file, offsets)[4]
        spans["RecordFile(file, offsets)[4]"] = file.spans
    return spans


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

    def pread(self, _: int, size: int, at: int) -> bytes:
        found = pread(self.fileno(), size, at)
        if found:
            self.spans.append((at, at + len(found)))
        return found


def touched(spans: Mapping[str, Sequence[tuple[int, int]]], size: int) -> HTML:
    """Draws a file as a line, for each heading one, with the spans of bytes that were read."""
    drawn = []
    for heading, some in spans.items():
        total = sum(end - begin for begin, end in some)
        drawn.append(ends(WIDTH, code(heading, 12), small(f"{total} bytes")))
        scaled = [(WIDTH * begin / size, WIDTH * end / size) for begin, end in some]
        read = (at(x, 0, bar(max(1.0, to - x), 16, 0.7)) for x, to in scaled)
        line = layers(rectangle(WIDTH, 16, stroke_opacity=0.5), *read)
        says = f"{heading}: {total} bytes in {len(some)} read{'s' * (len(some) > 1)}, "
        says += f"the first at byte {some[0][0]}, the last up to byte {some[-1][1]}"
        drawn.append(line.tells(says))
    return picture(column(*drawn), f"What is read of a file of {size} bytes:")
