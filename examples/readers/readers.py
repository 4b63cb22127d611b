"""The Python side: load the library, make readers of IDX files, and write such files."""

import struct
from pathlib import Path

import numpy as np
import tensorflow as tf
from op_library import load_op_library

library = load_op_library(Path(__file__).with_name("libreaders.so"), "idx_reader")
TYPES = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


class IdxReader(tf.compat.v1.ReaderBase):
    """Reads the items of IDX files, such as MNIST's images, in a graph of TensorFlow 1.

    The keys are the name of a file, a colon, and the number of an item there, from 0 on. The values are the bytes
    of an item.

    Raises:
      RuntimeError: In eager mode.
    """

    def __init__(self, name: str | None = None):
        reader = library.idx_reader(name=name)
        super().__init__(reader, supports_serialize=True)


def write_idx(path: Path | str, items: np.ndarray) -> None:
    """Writes an array as an IDX file.

    Args:
      path: Of the file.
      items: Of rank 1 to 127, without a size of 0 behind the first; uint8, int8, int16, int32, float32 or float64.

    Raises:
      ValueError: The format has no such array.
    """
    stored = items.dtype.newbyteorder(">")
    codes = [code for code, dtype in TYPES.items() if stored == np.dtype(dtype)]
    if not codes or not 1 <= items.ndim < 128 or 0 in items.shape[1:]:
        raise ValueError(f"IDX has no {items.dtype} of shape {items.shape}")
    sizes = struct.pack(f">{items.ndim}I", *items.shape)
    header = bytes([0, 0, codes[0], items.ndim]) + sizes
    Path(path).write_bytes(header + items.astype(stored).tobytes())
