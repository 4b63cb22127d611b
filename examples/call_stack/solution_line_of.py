"""Which line of a program made a node."""

import sysconfig

import tensorflow as tf


def line_of(node: tf.Operation) -> str:
    """The last line of no installed package and not of Python's library, as "file:line in function"."""
    paths = [sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib")]
    others = (*paths, "<string>")  # the functions that load_op_library generates
    own = [each for each in node.traceback if not each.filename.startswith(others)]
    return f"{own[-1].filename}:{own[-1].lineno} in {own[-1].name}" if own else ""
