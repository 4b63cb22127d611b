"""How long calls may go on, on a machine that others use too."""

import time


class Budget:
    """Seconds in which this process computes, so that a busy machine tries as much as a quiet one, or nearly.

    Args:
      seconds: Of computing.
      at_most: How many times as long it may take, where others compute or the op waits.
    """

    def __init__(self, seconds: float, at_most: float = 3):
        self._seconds, self._at_most = seconds, at_most
        self._begin, self._computed = time.monotonic(), time.process_time()

    def is_spent(self) -> bool:
        """Whether the process has computed that long, or the time that it may take has passed."""
        took = time.monotonic() - self._begin
        computed = time.process_time() - self._computed
        return min(took, max(computed, took / self._at_most)) > self._seconds
