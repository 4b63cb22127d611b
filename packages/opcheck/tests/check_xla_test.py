"""The check `xla`."""

from broken_twins import caught

# The broken ops that it must find, and words of the explanation.
CAUGHT = {
    "doubled_xla": "jit_compile=True",
}
test_a_broken_op_is_caught = caught("xla", CAUGHT)
