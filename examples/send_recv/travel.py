"""How tensors travel in a call: the graphs of its devices, and TensorFlow's log of the rendezvous.

Import this before TensorFlow, which reads the variables for its log when it is loaded. From then on, what TensorFlow's
C++ writes to the terminal goes to a file without a name. Python's own messages do not.
"""

import os
import re
import sys
import tempfile
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

os.environ |= {"TF_CPP_MIN_LOG_LEVEL": "0", "TF_CPP_VMODULE": "rendezvous_mgr=1"}
os.environ["TF_CPP_LOG_THREAD_ID"] = "1"  # which TensorFlow 2.21 always writes
_log = tempfile.TemporaryFile()
if sys.stderr is sys.__stderr__:
    sys.stderr = os.fdopen(os.dup(2), "w", buffering=1)
os.dup2(_log.fileno(), 2)

import tensorflow as tf  # noqa: E402
from tensorflow.python.eager import context  # noqa: E402

# Before TensorFlow 2.21 a line begins with the date.
_LINE = re.compile(
    r"^(?:I\d+ \S+:(\d+\.\d+)|(\S+ \S+): I) +(\d+) \S*rendezvous_mgr\S+ "
    r"IntraProcessRendezvous (Send|Recv) 0x\w+ (.*;.*)$",
    re.M,
)


class Key(NamedTuple):
    """What a tensor is filed under in a rendezvous.

    Attributes:
      source: The device that sends.
      incarnation: A random number that this device got when it was made, in hexadecimal digits.
      destination: The device that receives.
      edge: The name of an edge of the graph.
      frame_and_iteration: Which loop, and which turn of it.
    """

    source: str
    incarnation: str
    destination: str
    edge: str
    frame_and_iteration: str


class Event(NamedTuple):
    """The beginning of a call of a rendezvous.

    Attributes:
      what: "Send" or "Recv".
      key: For what.
      seconds: When.
      thread: The number of the thread that has called.
    """

    what: str
    key: Key
    seconds: float
    thread: int


def partitions(function: Callable, *inputs) -> list[tf.compat.v1.GraphDef]:
    """Makes the first call of a `tf.function`, and returns the graphs that ran, in the order of the devices' names.

    Raises:
      ValueError: It has run before, and TensorFlow tells the graphs at the first call only.
    """
    recorder = context.context()
    recorder.enable_run_metadata()
    try:
        recorder.export_run_metadata()  # which forgets what was run before
        function(*inputs)
        metadata = recorder.export_run_metadata()
    finally:
        recorder.disable_run_metadata()
    graphs = [
        graph for each in metadata.function_graphs for graph in each.partition_graphs
    ]
    if not graphs:
        raise ValueError(
            "This function has run before: take tf.function(f.python_function)"
        )
    return sorted(graphs, key=lambda graph: graph.node[0].device)


def events(function: Callable, *inputs) -> list[Event]:
    """Calls a function, which may end with an error, and returns what was sent and received meanwhile."""
    file = _log.fileno()
    begin = os.fstat(file).st_size
    try:
        function(*inputs)
    except tf.errors.OpError:
        pass
    # TensorFlow writes where the file's only position is, so reading must not move it.
    log = os.pread(file, os.fstat(file).st_size - begin, begin).decode()
    found, written_once = [], set()
    for seconds, date, thread, what, key in _LINE.findall(log):
        if what == "Recv":  # writes two lines
            written_once ^= {(thread, key)}
            if (thread, key) not in written_once:
                continue
        seconds = float(seconds or datetime.fromisoformat(date).timestamp())
        found.append(Event(what, Key(*key.split(";", 4)), seconds, int(thread)))
    return found
