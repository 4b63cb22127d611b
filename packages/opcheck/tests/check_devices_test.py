"""The check `devices`."""

import tensorflow as tf
from broken_twins import caught
from python_ops import adds_noise, adds_one, counts_calls, normal

import opcheck
from opcheck.checks import transforms
from opcheck.subject import Subject

# The broken ops that it must find, and words of the explanation.
CAUGHT = {
    "prefix_sum_other_on_gpu": "GPU",
}
test_a_broken_op_is_caught = caught("devices", CAUGHT)


def test_another_result_on_the_gpu_is_a_finding(monkeypatch):
    """A device that is not there is the CPU again, where this op gives another result at each call."""
    monkeypatch.setattr(tf.config, "get_visible_devices", lambda kind: [kind])
    ops = [(counts_calls, "fail"), (adds_noise, "fail"), (adds_one, "pass")]
    for op, verdict in ops:
        found = opcheck.Findings("devices", "")
        subject = Subject(op, [normal(2)], {}, {"op_types": ["Identity"]})
        transforms.devices(subject, found)
        assert found.result().verdict == verdict
        assert "by less than 1 %" not in found.result().cause
