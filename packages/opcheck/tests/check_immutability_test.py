"""The check `immutability`."""

from broken_twins import caught, check

# The broken ops that it must find, and words of the explanation.
CAUGHT = {
    "sort_each_row_in_place": "input[0, 0]",
    "add_to_variable_in_place": "input 0[0, 0]",
}
test_a_broken_op_is_caught = caught("immutability", CAUGHT)


def test_a_write_to_an_input_does_not_reach_the_sample(broken_ops):
    checks = ["eager_vs_graph", "immutability"]
    report = check(broken_ops, "sort_each_row_in_place", checks)
    detail = report["immutability"].detail
    assert detail.startswith("tensors of an eager call"), str(report)
