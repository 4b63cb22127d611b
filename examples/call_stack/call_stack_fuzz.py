"""Generated calls: `python -m opcheck fuzz examples/call_stack/call_stack_fuzz.py`."""

from call_stack import call_stack, call_stack_stateful
from call_stack_reference import call_stack_reference
from hypothesis import strategies as st

from opcheck.strategies import calls, tensors

CALLS = calls(tensors(), expensive=st.booleans())
FUZZ = {
    "CallStack": (call_stack, CALLS, call_stack_reference),
    "CallStackStateful": (call_stack_stateful, CALLS, call_stack_reference),
    "PickNumbers": "is run in gdb by a test, and its wrong twin too",
}
