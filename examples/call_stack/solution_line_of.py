"""Which line of a program made a node."""

import sysconfig

import tensorflow as tf


def line_of(node: tf.Operation) -> str:
    """The last line in no installed package, as "file:line in function"."""
    packages = sysconfig.get_path("purelib")
    own = [each for each in node.traceback if not each.filename.startswith(packages)]
    return f"{own[-1].filename}:{own[-1].lineno} in {own[-1].name}" if own else ""
