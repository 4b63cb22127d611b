"""Generated calls: `python -m opcheck fuzz examples/send_recv/send_recv_fuzz.py`."""

import threading

import tensorflow as tf
from send_recv import collect, post
from send_recv_reference import post_and_collect_reference

from opcheck.strategies import calls, tensors


def post_and_collect(value):
    """One op after the other, in each thread with a label of its own."""
    value = tf.convert_to_tensor(value)
    label = f"fuzz {threading.get_ident()}"
    post(value, label)
    return collect(label, value.dtype)


def reference(value):
    return post_and_collect_reference(value, f"fuzz {threading.get_ident()}")


CALLS = calls(tensors())
FUZZ = {
    "Post": (post_and_collect, CALLS, reference),
    "Collect": (post_and_collect, CALLS, reference),
    "BlockingCollect": "wrong on purpose: it keeps a thread while it waits",
    "EndlessCollect": "wrong on purpose: it may wait for ever",
}
