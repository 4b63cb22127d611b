import re

import numpy as np
import tensorflow as tf


def load(path):
    lib = tf.load_op_library(path)
    tf.no_gradient("UbParseMoney")

    def parse_money(amounts):
        """int64 cents of strings such as b"1,234.50"; any shape."""
        return lib.ub_parse_money(amounts)

    return parse_money


def sample():
    return [
        np.array(
            [b"12.50", b"1,234.00", b"-3.25", b"7", b"+0.99", b"-1,000,000.5"],
            dtype=object,
        )
    ], {}


_AMOUNT = re.compile(rb"([+-]?)([0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)(?:\.([0-9]{1,2}))?")


def reference(amounts):
    amounts = np.asarray(amounts)
    out = np.zeros(amounts.shape, np.int64)
    for i in np.ndindex(amounts.shape):
        text = amounts[i]
        text = text.encode() if isinstance(text, str) else bytes(text)
        match = _AMOUNT.fullmatch(text)
        if not match:
            raise ValueError("no amount")
        whole = int(match[2].replace(b",", b""))
        if whole > (2**63 - 1) // 100 - 1:
            raise ValueError("amount too large")
        cents = whole * 100 + int((match[3] or b"0").ljust(2, b"0"))
        out[i] = -cents if match[1] == b"-" else cents
    return out
