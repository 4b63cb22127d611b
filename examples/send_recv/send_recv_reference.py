"""The ops of the chapter in Python, without a graph and its steps."""

import collections
import queue

posted = collections.defaultdict(queue.Queue)


def post_reference(value, label):
    posted[label].put(value)


def collect_reference(label, timeout_ms=10000):
    """Raises queue.Empty if nothing comes in this time; 0 is without a limit."""
    return posted[label].get(timeout=timeout_ms / 1000 or None)


def post_and_collect_reference(value, label="once"):
    """What is collected of what was posted."""
    post_reference(value, label)
    return collect_reference(label)
