"""What TensorFlow's profiler records: the events of each thread, one in the other."""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import tensorflow as tf
from tensorflow.tsl.profiler.protobuf.xplane_pb2 import XSpace


class Event(NamedTuple):
    """A span of time that has a name.

    Attributes:
      name: Such as "CallStack:CallStack", an op and its type.
      start: In picoseconds.
      end: Likewise.
      inside: The events that are within it, in the order of their beginnings.
    """

    name: str
    start: int
    end: int
    inside: list["Event"]


def trace(function: Callable, *arguments) -> dict[str, list[Event]]:
    """Calls a function under the profiler.

    Returns:
      From the name of the threads to their outermost events; the threads of a pool share a name.
    """
    options = tf.profiler.experimental.ProfilerOptions(python_tracer_level=0)
    with tempfile.TemporaryDirectory() as folder:
        with tf.profiler.experimental.Profile(folder, options):
            function(*arguments)
        [path] = Path(folder).rglob("*.xplane.pb")
        space = XSpace.FromString(path.read_bytes())
    [host] = [plane for plane in space.planes if plane.name == "/host:CPU"]
    names = {key: each.name for key, each in host.event_metadata.items()}
    found: dict[str, list[Event]] = {}
    for line in host.lines:
        events = [
            Event(names[e.metadata_id], start, start + e.duration_ps, [])
            for e in line.events
            for start in [1000 * line.timestamp_ns + e.offset_ps]
        ]
        nested = _nested(events)
        found.setdefault(line.name.partition("/")[0], []).extend(nested)
    return found


def names(events: Iterable[Event]) -> list[str]:
    """The names of events and of all those inside, in the order of their beginnings."""
    return [event.name for event in sorted(_flat(events), key=lambda e: e.start)]


def _flat(events: Iterable[Event]) -> Iterator[Event]:
    for event in events:
        yield event
        yield from _flat(event.inside)


def _nested(events: list[Event]) -> list[Event]:
    outermost, around = [], []
    for event in sorted(events, key=lambda event: (event.start, -event.end)):
        while around and event.start >= around[-1].end:
            around.pop()
        (around[-1].inside if around else outermost).append(event)
        around.append(event)
    return outermost
