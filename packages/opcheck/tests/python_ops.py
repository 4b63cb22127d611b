"""Ops made of Python that tests of several files call, most of them with one fault, and samples for them."""

import os
import signal
import time

import numpy as np
import tensorflow as tf

import opcheck
from opcheck.inputs.memory import filled_memory


def normal(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def strings(*values):
    return np.array(values, object)


def result(check, op, *inputs, fast=True, **options) -> opcheck.Result:
    """What one check finds; soon, where a first look is enough."""
    return opcheck.check(op, *inputs, checks=check, fast=fast, **options)[check]


def printed(text: str, capsys) -> str:
    """What Python prints here. It may fill new memory, but not for the tests that follow."""
    with filled_memory(255):
        exec(text, {})
    return capsys.readouterr().out


def adds_one(x):
    return x + 1


adds_one_as_a_graph = tf.function(adds_one)


def adds_threads(x):
    return x + tf.config.threading.get_intra_op_parallelism_threads()


def dies(x):
    os.kill(os.getpid(), signal.SIGSEGV)
    return x


def dies_of_scalars(x):
    if x.shape.rank == 0:
        os.abort()
    return tf.identity(x)


def fills_memory(x):
    """It fills 300 MiB, in two seconds and more."""
    blocks = []
    for number in range(24 if tf.executing_eagerly() else 0):
        blocks.append(np.full((25 << 20) // 2, number, np.uint8))
        time.sleep(0.09)
    return tf.identity(x)


def filled(x, size):
    return tf.fill([size], x)


def transposed(x):
    y = tf.transpose(x)
    rows, columns = x.shape if x.shape.rank == 2 else (None, None)
    if columns is None and rows is not None:
        y.set_shape([rows, rows])
    return y


def hour_of(seconds, local):
    def run(values):
        to_time = time.localtime if local else time.gmtime
        return np.array([to_time(x).tm_hour for x in values.tolist()], np.int32)

    return tf.numpy_function(run, [seconds], tf.int32, stateful=False)


def cut_at_nul(x):
    return tf.strings.regex_replace(x, r"(?s)\x00.*", "")


def raises_something_odd(x):
    if x.shape.rank == 8:
        raise RuntimeError("odd")
    return tf.identity(x)


def counts_calls(x):
    counts_calls.calls = getattr(counts_calls, "calls", 0) + 1
    return x * tf.cast(counts_calls.calls, x.dtype)


def adds_noise(x):
    return x + tf.random.normal(tf.shape(x), dtype=x.dtype)


def adds_hidden_noise(x):
    def run(values):
        return values + np.float32(np.random.normal())

    y = tf.numpy_function(run, [x], x.dtype, stateful=False)
    return tf.ensure_shape(y, x.shape)


def adds_a_random_constant(x):
    return x + tf.constant(np.random.random(), x.dtype)


def has_rows(subject, found):
    """A check."""
    values = subject.expected()[0]
    if not values.ndim:
        raise opcheck.Skip("a scalar has no rows")
    if not len(values):
        found.fail("the sample call", "rows", "none", "an empty sample")
    return f"{len(values)} rows, in process {os.getpid()}"
