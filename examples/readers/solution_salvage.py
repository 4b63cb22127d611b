"""The solution of the exercise on TFRecord: what is whole in a damaged file."""

import struct
from collections.abc import Iterator

from record_file import masked_crc


def salvage(content: bytes) -> Iterator[bytes]:
    """The payloads of all records that are whole, in the order of the file.

    Args:
      content: Of a TFRecord file, in which bytes may have been changed, lost or added.
    """
    at = 0
    while at + 16 <= len(content):
        length, crc = struct.unpack_from("<QI", content, at)
        end = at + 12 + length
        if masked_crc(content[at : at + 8]) == crc and end + 4 <= len(content):
            payload, footer = content[at + 12 : end], content[end : end + 4]
            if masked_crc(payload) == int.from_bytes(footer, "little"):
                yield payload
                at = end + 4
                continue
        at += 1
