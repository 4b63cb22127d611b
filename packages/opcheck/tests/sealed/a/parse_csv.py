"""Splits lines of comma-separated values."""

import numpy as np
import tensorflow as tf


def load(path):
    """Loads the library and returns the op as a function."""
    lib = tf.load_op_library(path)

    def parse_csv(lines, *, num_fields, delimiter=","):
        """Returns the fields of each line, [..., num_fields]."""
        return lib.ua_parse_csv(lines, num_fields=num_fields, delimiter=delimiter)

    return parse_csv


def sample():
    """A typical call."""
    lines = np.array(
        [b"1,Ada,London", b'2,"Lovelace, A.","say ""hi"""', b"3,,Turin"], object
    )
    return [lines], {"num_fields": 3}


def _split(line, delimiter):
    fields, pos = [], 0
    while True:
        if line[pos : pos + 1] == b'"':
            field = b""
            pos += 1
            while True:
                end = line.find(b'"', pos)
                if end < 0:
                    raise ValueError("unterminated quote")
                field += line[pos:end]
                pos = end + 1
                if line[pos : pos + 1] != b'"':
                    break
                field += b'"'
                pos += 1
            if pos < len(line) and line[pos : pos + 1] != delimiter:
                raise ValueError("text after a closing quote")
        else:
            end = line.find(delimiter, pos)
            end = len(line) if end < 0 else end
            field = line[pos:end]
            if b'"' in field:
                raise ValueError("quote inside a plain field")
            pos = end
        fields.append(field)
        if pos >= len(line):
            return fields
        pos += 1


def reference(lines, *, num_fields, delimiter=","):
    """The same in NumPy."""
    lines = np.asarray(lines, object)
    delimiter = delimiter.encode()
    if len(delimiter) != 1 or delimiter == b'"' or num_fields < 1:
        raise ValueError("bad delimiter or num_fields")
    out = []
    for line in lines.ravel():
        fields = _split(line, delimiter)
        if len(fields) != num_fields:
            raise ValueError("wrong number of fields")
        out += fields
    return np.array(out, object).reshape(lines.shape + (num_fields,))
