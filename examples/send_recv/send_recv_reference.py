"""The ops of the chapter in Python, without a graph and its steps."""

import collections
import queue

posted = collections.defaultdict(queue.Queue)


def post_reference(value, label):
    posted[label].put(value)


def collect_reference(label, timeout_ms=10000):
    """Raises queue.Empty if nothing comes in this time; 0 means no timeout."""
    seconds = timeout_ms / 1000 if timeout_ms > 0 else None
    return posted[label].get(timeout=seconds)


def post_and_collect_reference(value, label="once"):
    """What is collected of what was posted."""
    post_reference(value, label)
    return collect_reference(label)
