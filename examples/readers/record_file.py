"""TFRecord without TensorFlow: a checksum, a reader, and an index."""

import io
import os
import struct
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np


def rest_of(byte: int) -> int:
    """What is left of one byte in the division of CRC-32C."""
    for _ in range(8):
        byte = byte >> 1 ^ (byte & 1) * 0x82F63B78
    return byte


RESTS = [rest_of(byte) for byte in range(256)]


def masked_crc(data: bytes) -> int:
    """The CRC-32C of some bytes, rotated by 15 bits and with a constant added, as TFRecord stores it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ RESTS[crc & 255 ^ byte]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def length_in(header: bytes, where: str) -> int:
    """How long the payload behind the first 12 bytes of a record is; raises ValueError where they are damaged."""
    if len(header) < 12:
        raise ValueError(f"{where}: the file ends in its header")
    length, crc = struct.unpack("<QI", header)
    if masked_crc(header[:8]) != crc:
        raise ValueError(f"{where}: its length is damaged")
    return length


def records(file: BinaryIO, check: bool = True, begin: int = 0) -> Iterator[bytes]:
    """Reads one record after the other.

    Args:
      file: A file, open for reading bytes, at the beginning of a record.
      check: Whether to compare the checksums of the payloads.
      begin: What errors add to a position, if the file is a part of another.

    Raises:
      ValueError: A record is damaged or larger than the memory, or the file ends in it.
      EOFError: A file of `gzip.open` is cut.
    """
    while header := file.read(12):
        where = f"{file.name}, record at byte {begin + file.tell() - len(header)}"
        length = length_in(header, where)
        try:
            payload, footer = file.read(length), file.read(4)
        except (MemoryError, OverflowError) as error:
            raise ValueError(f"{where}: no memory for its {length} bytes") from error
        if len(payload) + len(footer) < length + 4:
            raise ValueError(f"{where}: the file ends before the record does")
        if check and masked_crc(payload) != int.from_bytes(footer, "little"):
            raise ValueError(f"{where}: its payload is damaged")
        yield payload


def offsets_of(file: BinaryIO) -> np.ndarray:
    """Where each record begins, and last where the file ends: reads 12 bytes of each record.

    Raises:
      ValueError: The length of a record is damaged, or the file does not end with a record.
    """
    found, end = [0], file.seek(0, 2)
    while found[-1] < end:
        file.seek(found[-1])
        where = f"{file.name}, record at byte {found[-1]}"
        found.append(found[-1] + 16 + length_in(file.read(12), where))
    if found[-1] != end:
        raise ValueError(f"{where}: the file ends before the record does")
    return np.array(found)


class RecordFile:
    """The records of a file in any order, by their numbers, also for several threads at a time.

    The file must not be compressed: `os.pread`, which Windows lacks, reads its bytes as they are.
    """

    def __init__(self, file: BinaryIO, offsets: np.ndarray):
        self.file, self.offsets = file, offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, number: int) -> bytes:
        """Reads one record; raises IndexError where there is none, and ValueError where it is damaged."""
        if not 0 <= number < len(self):
            raise IndexError(f"{self.file.name} has {len(self)} records, no {number}")
        begin, end = map(int, self.offsets[number : number + 2])
        part, file = io.BytesIO(), self.file.fileno()
        # Linux gives less than 2 GiB at a time.
        while some := os.pread(file, end - begin - part.tell(), begin + part.tell()):
            part.write(some)
        part.seek(0)
        part.name = self.file.name
        payload = next(records(part, begin=begin), None)
        if payload is None:
            raise ValueError(f"{self.file.name}: the file ends before byte {begin}")
        return payload
