"""How long numbering keys takes: KeyTable, and TensorFlow's own hash table in a critical section.

Four threads make 80 calls, each with 1000 keys.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count

import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from state import KeyTable
from stock_key_table import GuardedKeyTable, call_from_four_threads
from turns import Case, run_turns

KEYS = 80_000


def tables() -> dict[str, Callable]:
    """From a name to a function of a vector of strings."""
    spec = tf.TensorSpec([None], tf.string)
    return {
        "KeyTable": tf.function(KeyTable(), input_signature=[spec]),
        "stock ops, tf.CriticalSection": GuardedKeyTable(),
    }


def with_new_keys(table: Callable) -> Callable:
    """Calls whose keys the table has never seen: it grows."""
    passes = count()
    return lambda: call_from_four_threads(table, KEYS * next(passes))


def cases() -> Iterator[Case]:
    new = {name: with_new_keys(table) for name, table in tables().items()}
    yield Case({"keys": "new"}, new)
    known = {
        name: partial(call_from_four_threads, table) for name, table in tables().items()
    }
    yield Case({"keys": "known"}, known)


if __name__ == "__main__":
    notes = [
        f"milliseconds: of 80 calls from four threads, {KEYS} keys in all, the median of the rounds",
        "new: the table has seen none of the keys; known: all of them",
        "each in a tf.function; the strings are made during the call, too",
    ]
    run_turns(cases, notes, rounds=61, span=0.01)
