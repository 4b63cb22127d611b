"""Whether a table still exists."""

from collections.abc import Callable
from pathlib import Path

from op_library import load_op_library
from state import KeyTable

_library = load_op_library(
    Path(__file__).with_name("libwatch_table.so"), "watch_table", "table_is_alive"
)
table_is_alive = _library.table_is_alive


def watch(table: KeyTable) -> Callable[[], bool]:
    """A function that says whether the table still exists. It holds no reference to it."""
    number = _library.watch_table(table.resource_handle, T=table.dtype)
    return lambda: bool(table_is_alive(number))
