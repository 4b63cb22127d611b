"""The names that TensorFlow makes of the name of an op."""

import re


def function_of(op_type: str) -> str:
    """The name of the generated function of an op: zero_out of ZeroOut, op_by_op_conv2d of OpByOp>Conv2D."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[^>])(?=[A-Z][a-z])", "_", op_type)
    return words.replace(">", "_").lower()
