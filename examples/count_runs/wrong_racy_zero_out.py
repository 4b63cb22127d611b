"""RacyZeroOut, and a function that shows what is wrong with it."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

racy_zero_out = load_op_library(
    Path(__file__).with_name("libwrong_racy_zero_out.so"), "racy_zero_out"
).racy_zero_out


def wrong_results(op):
    """For each of 400 calls, whether it returns another first element than its input's."""
    inputs = [tf.fill([4_000_000], float(number)) for number in range(4)]

    def is_wrong(call):
        return float(op(inputs[call % 4])[0]) != call % 4

    with ThreadPoolExecutor(4) as threads:
        return list(threads.map(is_wrong, range(400)))
