"""How long calls may go on, on a machine that others use too."""

import time

_AT_MOST = 3  # times as long, where others compute or the op waits


class Budget:
    """Seconds in which this process computes, so that a busy machine tries as much as a quiet one, or nearly."""

    def __init__(self, seconds: float):
        self._seconds = seconds
        self._begin, self._computed = time.monotonic(), time.process_time()

    def is_spent(self) -> bool:
        """Whether the process has computed that long, or three times as long has passed."""
        took = time.monotonic() - self._begin
        computed = time.process_time() - self._computed
        return min(took, max(computed, took / _AT_MOST)) > self._seconds
