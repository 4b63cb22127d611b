"""A check of one's own."""

from opcheck import Findings
from opcheck.subject import Subject


def idempotent(subject: Subject, found: Findings) -> str:
    """Called with its own outputs, the op returns them unchanged."""
    once = subject.expected()
    twice = subject.eager(once)
    if different := subject.difference(once, twice):
        found.fail(
            "the op, called with its own outputs",
            "the same outputs again",
            different,
            "elements that are moved, scaled or lost at each call",
        )
    return "called with its own outputs, it returns them"
