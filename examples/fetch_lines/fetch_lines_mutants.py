"""Wrong variants of FetchLines, on which the tests that the page shows must fail."""

import tensorflow as tf


def ends_at_once(port, timeout_ms):
    message = f"port {port}: the answer did not end in time"
    raise tf.errors.DeadlineExceededError(None, None, message)


def answers_at_once(port, timeout_ms):
    return tf.constant(["ann"])


MUTANTS = {
    "test_the_timeout_ends_a_wait": {"fetch_lines.fetch_lines": [ends_at_once]},
    "test_the_caller_can_cancel_a_wait": {"fetch_lines.fetch_lines": [answers_at_once]},
}
