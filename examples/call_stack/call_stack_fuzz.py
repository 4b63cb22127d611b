"""Generated calls: `python -m opcheck fuzz examples/call_stack/call_stack_fuzz.py`."""

from pathlib import Path

from call_stack import call_stack, call_stack_stateful
from call_stack_reference import call_stack_reference, checked_pick_numbers_reference
from hypothesis import strategies as st
from op_library import load_op_library

from opcheck.strategies import calls, mostly, tensors

_library = load_op_library(
    Path(__file__).with_name("libchecked_pick_numbers.so"), "checked_pick_numbers"
)


def checked_pick_numbers(x, indices):
    return _library.checked_pick_numbers(x=x, indices=indices)


CALLS = calls(tensors(), expensive=st.booleans())
FUZZ = {
    "CallStack": (call_stack, CALLS, call_stack_reference),
    "CallStackStateful": (call_stack_stateful, CALLS, call_stack_reference),
    "CheckedPickNumbers": (
        checked_pick_numbers,
        calls(
            tensors(),
            mostly(tensors("int32", elements=st.integers(0, 3)), tensors("int32")),
        ),
        checked_pick_numbers_reference,
    ),
    "PickNumbers": "is run in gdb by a test, and its wrong twin too",
}
