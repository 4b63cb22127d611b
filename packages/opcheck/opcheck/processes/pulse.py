"""What a worker shows its parent without a message: whether a call of the op is under way, and how long it lasts."""

import contextlib
import mmap
import struct
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

_LAYOUT = struct.Struct("qq")


class Pulse:
    """Two numbers in memory that two processes share.

    Args:
      fd: A file of at least a page.
    """

    def __init__(self, fd: int):
        self._shared = mmap.mmap(fd, mmap.PAGESIZE)
        self._lock = threading.Lock()
        self._changes = self._inside = 0

    def step(self, inside: int) -> None:
        """A call begins, 1, or ends, -1."""
        with self._lock:
            self._changes += 1
            self._inside += inside
            _LAYOUT.pack_into(self._shared, 0, self._changes, self._inside)

    def read(self) -> tuple[int, int]:
        """How many calls have begun or ended, and how many are under way."""
        return _LAYOUT.unpack_from(self._shared, 0)

    def close(self) -> None:
        """Frees the memory."""
        self._shared.close()


_own: Pulse | None = None  # of this process, if it is a worker


def share(fd: int) -> None:
    """Lets the parent see the calls of this process from now on."""
    global _own
    _own = Pulse(fd)


@contextlib.contextmanager
def one_call() -> Iterator[None]:
    """Holds one call of the op, or what takes no longer than some: a call that hangs shows there."""
    if _own is None:
        yield
        return
    _own.step(1)
    try:
        yield
    finally:
        _own.step(-1)


def each(iterable: Iterable) -> Iterator:
    """Iterates; to make an element is one call."""
    iterator, nothing = iter(iterable), object()
    while True:
        with one_call():
            element = next(iterator, nothing)
        if element is nothing:
            return
        yield element


@dataclass(frozen=True)
class Step:
    """What the threads of a process did in a while, as Linux tells it.

    Attributes:
      waited: The seconds in which a thread was ready to run and did not, waited for a disk, or was stopped.
      computed: Whether one ran; None if the system does not tell.
      filled: The bytes by which the process's memory has grown.
      read: The bytes that it has read from files and pipes; None if the system does not tell.
    """

    waited: float
    computed: bool | None
    filled: int
    read: int | None = None


class Watch:
    """Looks at the threads of a process again and again."""

    def __init__(self, pid: int):
        self._folder = Path(f"/proc/{pid}")
        self._times, self._peak = self._read()[0], self._filled()
        self._input = self._bytes_read()

    def step(self, seconds: float) -> Step:
        """What has happened since the last look, so many seconds ago."""
        before, peak, had_read = self._times, self._peak, self._input
        (self._times, held), self._peak = self._read(), self._filled()
        self._input = self._bytes_read()
        if not self._times:
            return Step(0.0, None, 0)
        both = [
            [new - old for new, old in zip(now, before.get(thread, (0.0, 0.0)))]
            for thread, now in self._times.items()
        ]
        ran, waited = (max(some) for some in zip(*both))
        waited = seconds if held else min(waited, seconds)
        filled = max(0, self._peak - peak)
        busy = held or filled > 0 or ran + waited > 0.05 * seconds
        unknown = None in (had_read, self._input)
        read = None if unknown else self._input - had_read
        return Step(waited, busy, filled, read)

    def _read(self) -> tuple[dict[str, tuple[float, float]], bool]:
        """For each thread the seconds in which it ran and in which it was ready to; whether one is held.

        By a disk, by a debugger, or because it has been stopped.
        """
        times, held = {}, False
        for folder in self._folder.glob("task/*"):
            with contextlib.suppress(OSError, IndexError, ValueError):  # it has ended
                ran, ready, _ = (folder / "schedstat").read_text().split()
                state = (folder / "stat").read_text().rpartition(") ")[2][:1]
                times[folder.name] = (int(ran) * 1e-9, int(ready) * 1e-9)
                held = held or state in "DTt"
        return times, held

    def _bytes_read(self) -> int | None:
        with contextlib.suppress(OSError, IndexError, ValueError):
            return int((self._folder / "io").read_text().split()[1])
        return None

    def _filled(self) -> int:
        """The most memory that the process has had, in bytes."""
        with contextlib.suppress(OSError):
            for line in (self._folder / "status").read_text().splitlines():
                if line.startswith("VmHWM"):
                    return int(line.split()[1]) << 10
        return 0


@dataclass
class Patience:
    """How long the calls of one op are waited for, in all of its workers.

    A call that is slow and right computes, and fills memory, or others are slow, too.

    Attributes:
      timeout: Seconds of a call, on a free processor. Where no call is under way, twice as much in which no memory is
        filled and no file is read, and eight times as much in all.
      slowest: The seconds of the slowest call that has ended.
      hung: How many calls have hung. Others are not waited for as long, then.
      over: Whether nobody wants an answer any more.
    """

    timeout: float
    slowest: float = 0.0
    hung: int = 0
    over: bool = False

    def of_call(self, larger: float = 1.0, filled: int = 0) -> float:
        """Seconds for a call that computes, with inputs so many times as large as usual, that has filled some bytes."""
        shortest = self.timeout
        if self.hung:
            shortest = min(shortest, 2.0 if self.hung < 3 else 1.0)
        return max(shortest, 5 * self.slowest * larger) + 20 * filled / (1 << 30)


class Clock:
    """Counts how long a worker is silent, and says when that is too long.

    Time in which it waits for the processor does not count, nor that in which its parent stands still, as after Ctrl-Z.

    Attributes:
      filled: Bytes that the worker has filled in all this time: for calls, and to tell of them.
    """

    def __init__(self, patience: Patience, pulse: Pulse, watch: Watch, larger: float):
        self._patience, self._pulse, self._watch = patience, pulse, watch
        self._larger = larger
        self._changes = -1
        self.filled = 0
        self._begin()

    def _begin(self) -> None:
        self._busy = self._idle = 0.0  # of one call
        self._silent = 0.0  # where there is none
        self._still, self._at_rest = 0.0, 0.0  # of that without any sign of progress
        self._filled, self._known = 0, True  # by one call

    def end(self) -> None:
        """The call that was under way has ended."""
        seconds = self._busy + self._idle
        self._patience.slowest = max(self._patience.slowest, seconds)
        self._begin()

    def step(self, seconds: float) -> str:
        """Counts so many seconds in which nothing came: how the worker hangs, if it does."""
        patience, did = self._patience, self._watch.step(seconds)
        self.filled += did.filled
        changes, inside = self._pulse.read()
        if changes != self._changes:
            self._changes = changes
            self.end()
            return ""
        if not inside:
            return self._outside(seconds, did)
        self._known = self._known and did.computed is not None
        self._filled += did.filled
        if did.computed is False:
            self._idle += seconds
        else:
            self._busy += seconds - did.waited
        most = patience.of_call(self._larger, self._filled)
        if self._idle < patience.of_call() and self._idle + self._busy < most:
            return ""
        how = f"no answer within {self._idle + self._busy:.0f} s"
        if not self._known:
            return how
        return f"{how}: it {'waits' if self._idle > self._busy else 'computes'}"

    def _outside(self, seconds: float, did: Step) -> str:
        """As `step`, where no call is under way: a module is imported, say, or a graph is compiled."""
        passed = seconds - did.waited
        self._silent += passed
        if did.read is None or did.read > 0 or did.filled > 0:
            self._still = self._at_rest = 0.0
        else:
            self._still += passed
            self._at_rest += passed if did.computed is False else 0.0
        if self._still >= 2 * self._patience.of_call():
            does = "waits" if self._at_rest > self._still / 2 else "computes"
            return f"no answer within {self._still:.0f} s: it {does}"
        most = 8 * self._patience.timeout
        return f"no answer within {most:g} s" if self._silent >= most else ""
