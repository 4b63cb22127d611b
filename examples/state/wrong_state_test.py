"""State in the wrong places: `pytest examples/state`."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library
from state import KeyTable
from state_test import strings
from tensorflow.python.framework import op_def_registry

HERE = Path(__file__).parent


WRONG = load_op_library(HERE / "libwrong_state.so", "member_number_keys")


def test_a_resource_makes_an_op_stateful():
    def stateful(op):
        return op_def_registry.get(op).is_stateful

    assert stateful("SilentNumberKeys") and not stateful("ForgetfulNumberKeys")


def test_a_kernel_does_not_keep_what_is_to_be_shared():
    @tf.function
    def two(first, second):
        return WRONG.member_number_keys(first), WRONG.member_number_keys(second)

    first, second = two(strings("ann", "bob"), strings("bob"))
    assert (first[1].numpy(), second[0].numpy()) == (1, 0)
    eager = [WRONG.member_number_keys([key]).numpy() for key in ("ann", "bob")]
    assert eager == [[0], [1]], "eager calls share a kernel"


def test_nothing_orders_an_op_without_a_handle_and_a_call_that_uses_one():
    table, variable = KeyTable(), tf.Variable(0)
    uses = {
        "table": lambda keys: table(keys),
        "variable": lambda keys: tf.cast(variable.assign_add(1), tf.int64),
        "neither": WRONG.member_number_keys,
    }
    for name, used in uses.items():
        called = tf.function(used, autograph=False)

        @tf.function(autograph=False)
        def function(keys, called=called):
            return called(keys), WRONG.member_number_keys(keys)

        graph = function.get_concrete_function(strings("ann")).graph
        [op] = [op for op in graph.get_operations() if op.type == "MemberNumberKeys"]
        assert bool(op.control_inputs) == (name == "neither")


def test_an_op_without_a_resource_is_forgotten():
    @tf.function
    def function(keys):
        WRONG.forgetful_number_keys(keys, shared_name="forgotten")
        return tf.size(keys)

    function(strings("ann"))
    table = KeyTable(shared_name="forgotten")
    assert len(table.keys()) == 0
    WRONG.forgetful_number_keys(["ann"], shared_name="forgotten")
    assert len(table.keys()) == 1
