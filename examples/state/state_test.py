"""Tests of the ops that keep a table of keys: `pytest examples/state`."""

import gc
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from op_library import load_op_library
from state import KeyTable, library, number_keys
from state_reference import number_keys_reference
from stock_key_table import GuardedKeyTable, StockKeyTable, numbers_given_twice
from watch_table import table_is_alive, watch

from opcheck.testing import op_test

HERE = Path(__file__).parent
SIZE = load_op_library(HERE / "libsolution_table_size.so", "table_size").table_size
VARIABLE = tf.Variable(1.0)
KEYS = tf.TensorSpec([None], tf.string)

test_number_keys_keeps_its_promises = op_test(
    number_keys, np.int64([[3, 4], [4, 7]]), reference=number_keys_reference
)


def strings(*values: str) -> tf.Tensor:
    return tf.constant(values, tf.string)


@pytest.mark.parametrize("add", [True, False])
@pytest.mark.parametrize(
    "keys",
    [
        np.int64([5, -1, 5, 2**62]),
        np.int64(7),
        np.zeros([0, 3], np.int64),
        np.array([[b"a", b""], [b"a\0b", b"a"]], object),
        np.array([b"longer than what a string holds itself", b"\xff"], object),
    ],
)
def test_equals_the_reference(mode, keys, add):
    numbers = mode(lambda keys: number_keys(keys, add=add))(tf.constant(keys))
    np.testing.assert_array_equal(
        numbers, number_keys_reference(keys, add), strict=True
    )


def test_a_table_remembers(mode):
    table = KeyTable()
    number = mode(lambda keys: table(keys))
    assert number(strings("ann", "bob", "ann")).numpy().tolist() == [0, 1, 0]
    assert number(strings("cid", "bob")).numpy().tolist() == [2, 1]
    assert number(tf.constant([["dan"]])).numpy().tolist() == [[3]]
    assert table(["zoe", "dan"], add=False).numpy().tolist() == [-1, 3]
    assert table.keys().numpy().tolist() == [b"ann", b"bob", b"cid", b"dan"]
    table.set_keys(["zoe"])
    assert table(["ann", "zoe"]).numpy().tolist() == [1, 0]


def test_python_numbers_are_int64():
    assert KeyTable(tf.int64)([2**40, 3, 2**40]).numpy().tolist() == [0, 1, 0]


@pytest.mark.parametrize("dtype, keys", [(tf.int64, [2**40, 3]), (tf.string, ["ann"])])
def test_lists_have_the_dtype_of_the_table(mode, dtype, keys):
    table = KeyTable(dtype)
    for listed in keys, []:
        mode(lambda keys=listed: [table.set_keys(keys)][:0])()
        numbers = mode(lambda keys=listed: number_keys(keys, table))()
        assert numbers.numpy().tolist() == [*range(len(listed))]
        assert len(table.keys()) == len(listed)


def test_a_table_goes_with_its_last_handle():
    table = KeyTable()
    alive = watch(table)
    function = tf.function(lambda keys, table=table: table(keys), autograph=False)
    function(strings("ann"))
    assert table.keys() == [b"ann"]
    handle = table.resource_handle
    del table, function
    gc.collect()
    assert alive()
    assert library.number_keys(handle, ["bob"]).numpy() == 1
    del handle
    gc.collect()
    assert not alive()


def test_a_named_table_stays_until_it_is_destroyed(mode):
    name = f"a table, {mode}"
    for number, key in enumerate(["ann", "bob"]):
        table = KeyTable(shared_name=name)
        assert mode(table)(strings(key)).numpy() == number
    other = KeyTable(tf.int64, name)
    assert other([7]).numpy() == 0, "another type, another table"
    alive = [watch(table), watch(other)]
    del table, other
    gc.collect()
    assert all(each() for each in alive)
    for dtype in (tf.string, tf.int64):
        table = KeyTable(dtype, name)
        tf.raw_ops.DestroyResourceOp(resource=table.resource_handle)
        with pytest.raises(tf.errors.NotFoundError, match="KeyTable.*does not exist"):
            table.keys()
    assert not any(each() for each in alive)


def test_an_empty_name_is_none():
    tables = KeyTable(shared_name=""), KeyTable(shared_name="")
    numbers = [int(table(key)) for table, key in zip(tables, ["ann", "bob"])]
    assert numbers == [0, 0]


def test_calls_of_one_table_keep_their_order():
    table, other = KeyTable(), KeyTable()

    @tf.function
    def function(keys):
        return table(keys), other(keys), table.keys(), table.keys(), table(keys[::-1])

    traced = function.get_concrete_function(strings("ann", "bob"))
    ops = [op for op in traced.graph.get_operations() if "Keys" in op.type]
    waits = [[before.name for before in op.control_inputs] for op in ops]
    assert waits == [[], [], ["NumberKeys"], ["ReadKeys"], ["ReadKeys_1"]]
    assert traced(strings("ann", "bob"))[2].numpy().tolist() == [b"ann", b"bob"]


READ_ONLY = """
import tensorflow as tf
from tensorflow.python.framework import auto_control_deps_utils
from state import KeyTable
auto_control_deps_utils.register_read_only_resource_op("{op}")
table = KeyTable()
traced = tf.function(lambda: ({call}, {call})).get_concrete_function()
ops = [op for op in traced.graph.get_operations() if op.type == "{op}"]
print([len(op.control_inputs) for op in ops])
"""


@pytest.mark.parametrize(
    ("op", "call"), [("ReadKeys", "table.keys()"), ("NumberKeys", 'table(["ann"])')]
)
def test_ops_that_are_registered_as_reads_keep_no_order(in_process, op, call):
    assert in_process(READ_ONLY.format(op=op, call=call)) == "[0, 0]\n"


def test_calls_through_two_objects_of_one_name_keep_no_order():
    table, same = KeyTable(shared_name="users"), KeyTable(shared_name="users")
    function = tf.function(lambda keys: (table(keys), same(keys)), autograph=False)
    traced = function.get_concrete_function(strings("ann"))
    ops = [op for op in traced.graph.get_operations() if op.type == "NumberKeys"]
    assert [op.control_inputs for op in ops] == [[], []]


def test_a_checkpoint_holds_the_table(tmp_path):
    table = KeyTable()
    table(["ann", "bob"])
    path = tf.train.Checkpoint(table=table).save(tmp_path / "checkpoint")
    restored = KeyTable()
    restored(["zoe"])
    tf.train.Checkpoint(table=restored).restore(path).assert_consumed()
    assert restored(["cid", "bob"]).numpy().tolist() == [2, 1]
    empty = KeyTable(tf.int64)
    path = tf.train.Checkpoint(table=empty).save(tmp_path / "empty")
    tf.train.Checkpoint(table=empty).restore(path).assert_consumed()
    assert empty([5]).numpy() == 0


def saved(table: KeyTable, folder: Path) -> tf.Module:
    module = tf.Module()
    module.table = table
    module.number = tf.function(table, input_signature=[KEYS])
    tf.saved_model.save(module, folder)
    return module


@pytest.mark.parametrize("shared_name", [None, "saved and loaded"])
def test_a_saved_model_holds_the_table(tmp_path, shared_name):
    table = KeyTable(shared_name=shared_name)
    table.set_keys(["ann", "bob"])
    saved(table, tmp_path / "model")
    loaded = tf.saved_model.load(tmp_path / "model")
    assert loaded.number(strings("cid", "bob")).numpy().tolist() == [2, 1]
    assert len(table.keys()) == 2, "the loaded table is another one"
    tf.saved_model.save(loaded, tmp_path / "again")
    again = tf.saved_model.load(tmp_path / "again")
    assert again.number(strings("dan", "cid")).numpy().tolist() == [3, 2]
    assert loaded.number(strings("eve")).numpy() == 3, (
        "another table than that of `again`"
    )


@pytest.mark.parametrize(
    "shared_name, numbers", [(None, [0, 0, 0]), ("served", [2, 3, 2])]
)
def test_a_session_keeps_only_named_tables(tmp_path, shared_name, numbers):
    table = KeyTable(shared_name=shared_name)
    table.set_keys(["ann", "bob"])
    saved(table, tmp_path)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        loaded = tf.compat.v1.saved_model.load(session, ["serve"], str(tmp_path))
        signature = loaded.signature_def["serving_default"]
        [keys], [given] = signature.inputs.values(), signature.outputs.values()
        for key, number in zip(["cid", "dan", "cid"], numbers):
            assert session.run(given.name, {keys.name: [key]}) == [number]


def test_named_tables_end_with_their_session(tmp_path):
    table = KeyTable(shared_name="of a session")
    table.set_keys(["ann"])
    saved(table, tmp_path)
    for _ in range(2):  # the second one begins again
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            loaded = tf.compat.v1.saved_model.load(session, ["serve"], str(tmp_path))
            signature = loaded.signature_def["serving_default"]
            [keys], [given] = signature.inputs.values(), signature.outputs.values()
            for key, number in [("zed", 1), ("yan", 2)]:
                assert session.run(given.name, {keys.name: [key]}) == [number]


def test_sessions_of_a_server_share_named_tables():
    server = tf.compat.v1.train.Server.create_local_server()
    with tf.Graph().as_default():
        table = library.named_key_table(T=tf.string, shared_name="of a server")
        for target, numbers in [(server.target, [0, 1]), ("", [0, 0])]:
            for key, number in zip(["ann", "bob"], numbers):
                with tf.compat.v1.Session(target) as session:
                    called = library.number_keys(table, [key])
                    assert session.run(called) == [number]


def test_four_threads_give_no_number_twice():
    table = KeyTable()
    assert numbers_given_twice(table) == 0
    assert len(table.keys()) == 80_000


def test_a_critical_section_gives_no_number_twice():
    table = GuardedKeyTable()
    assert numbers_given_twice(table) == 0
    assert len(table.keys()) == 80_000


STOCK = """
import tensorflow as tf
tf.config.threading.set_inter_op_parallelism_threads(4)  # on one core, too
from stock_key_table import StockKeyTable, numbers_given_twice
print(any(numbers_given_twice(StockKeyTable()) for _ in range(1000)))
"""


def test_ops_one_after_the_other_give_numbers_twice(in_process):
    assert in_process(STOCK) == "True\n"


def test_the_stock_table_is_right_for_one_thread():
    table = StockKeyTable()
    assert table(strings("ann", "bob", "ann")).numpy().tolist() == [0, 1, 0]
    assert table(strings("cid", "bob")).numpy().tolist() == [2, 1]


def test_a_named_table_is_made_once():
    """By four threads at once, as when servers start."""
    assert numbers_given_twice(_Named()) == 0
    handle = KeyTable(shared_name="made once").resource_handle
    tf.raw_ops.DestroyResourceOp(resource=handle)


class _Named:
    """Looks its table up at each call."""

    def __call__(self, keys):
        return KeyTable(shared_name="made once")(keys)

    def keys(self):
        return KeyTable(shared_name="made once").keys()


def function_of_bytes(data: tf.Tensor) -> tf.Tensor:
    return library.number_keys(tf.io.parse_tensor(data, tf.resource), ["ann"])


REFUSED = [
    (
        lambda: KeyTable(tf.int64)(["ann"]),
        tf.errors.InvalidArgumentError,
        r"of type 'op_by_op::KeyTable<long>'.* as type 'op_by_op::KeyTable<tsl::tstring>'",
    ),
    (
        lambda: library.number_keys(VARIABLE.handle, ["ann"]),
        tf.errors.InvalidArgumentError,
        "points to a resource .* of type 'tensorflow::Var'",
    ),
    (
        lambda: function_of_bytes(tf.io.serialize_tensor(KeyTable().resource_handle)),
        tf.errors.NotFoundError,
        "Container Anonymous does not exist|Resource Anonymous/.* does not exist",
    ),
    (
        lambda: [KeyTable().set_keys(["ann", "bob", "ann"])][:0],
        tf.errors.InvalidArgumentError,
        "keys must be unique, got ann twice",
    ),
    (
        lambda: [KeyTable().set_keys([b"\xff", b"\xff"])][:0],
        tf.errors.InvalidArgumentError,
        r"keys must be unique, got \\xff twice",
    ),
    (
        lambda: [KeyTable(tf.int64).set_keys(np.int64([5, 5]))][:0],
        tf.errors.InvalidArgumentError,
        "keys must be unique, got 5 twice",
    ),
]


@pytest.mark.parametrize("call, error, message", REFUSED)
def test_what_is_refused(mode, call, error, message):
    with pytest.raises(error, match=message):
        mode(call)()


def test_the_shape_function_refuses_what_the_kernel_refuses():
    handle = KeyTable().resource_handle
    calls = [
        (lambda x: library.number_keys(x, ["ann"]), [handle, handle], "table"),
        (lambda x: library.read_keys(x, T=tf.string), [handle, handle], "table"),
        (lambda x: library.write_keys(handle, x), "ann", "keys"),
        (lambda x: library.write_keys(handle, x), [["ann"]], "keys"),
    ]
    for function, wrong, name in calls:
        tensor = tf.stack(wrong) if name == "table" else tf.constant(wrong)
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=f"{name} must be a .*got shape"
        ):
            function(tensor)
        with pytest.raises(ValueError, match="Shape must be rank"):
            tf.function(function, autograph=False)(tensor)


def test_what_is_no_number_of_a_table_is_refused():
    errors = tf.errors.InvalidArgumentError, ValueError
    for number, match in [
        (-1, "number must be of a table, got -1"),
        (2**40, f"number must be of a table, got {2**40}"),
        ([0], r"number must be a scalar, got shape \[1\]|rank 0"),
        ([], r"number must be a scalar, got shape \[0\]|rank 0"),
    ]:
        for call in table_is_alive, tf.function(table_is_alive):
            with pytest.raises(errors, match=match):
                call(tf.constant(number, tf.int64))


def test_the_dtype_is_one_of_two(mode):
    with pytest.raises(
        (tf.errors.InvalidArgumentError, TypeError),
        match="allowed values|string, int64",
    ):
        mode(number_keys)(tf.constant([1.5]))


ELSEWHERE = """
import tensorflow as tf
[cpu] = tf.config.list_physical_devices("CPU")
two = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(cpu, two)
from state import KeyTable
table = KeyTable()
with tf.device("CPU:1"):
    print(tf.constant(0).device[-5:], table(["ann"]).device[-5:])
"""


def test_an_op_runs_where_its_table_is(in_process):
    assert in_process(ELSEWHERE) == "CPU:1 CPU:0\n"


def test_the_solution_of_the_exercise(mode):
    table = KeyTable(tf.int64)

    def before_and_after(keys):
        before = SIZE(table.resource_handle, T=tf.int64)
        table(keys)
        return before, SIZE(table.resource_handle, T=tf.int64)

    sizes = mode(before_and_after)(tf.constant([5, 6, 5], tf.int64))
    assert [int(size) for size in sizes] == [0, 2]
