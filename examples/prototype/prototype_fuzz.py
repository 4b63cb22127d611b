"""Generated calls: `python -m opcheck fuzz examples/prototype/prototype_fuzz.py`."""

from battery import _library, battery
from battery_reference import battery_grad_reference, battery_reference
from hypothesis import strategies as st
from snake import snake
from snake_reference import snake_reference

from opcheck.strategies import calls, mostly, shapes, tensors


def fits(flow, capacity):
    if flow.ndim == 0 or capacity.ndim:
        raise ValueError("hours and a scalar are expected")


def checked_battery(flow, capacity):
    fits(flow, capacity)
    return battery_reference(flow, capacity)


def checked_grad(level_grad, level, capacity):
    fits(level, capacity)
    if level_grad.shape != level.shape:
        raise ValueError("not a gradient for each level")
    return battery_grad_reference(level_grad, level, capacity)


def battery_grad(level_grad, level, capacity):
    return _library.battery_grad(level_grad, level, capacity)


DTYPE = st.shared(st.sampled_from(["float32", "float64"]), key="dtype")
SHAPE = st.shared(mostly(shapes(min_rank=1, max_rank=3), shapes()), key="shape")
SCALAR = mostly(st.just(()), shapes(max_rank=2))
CAPACITY = tensors(DTYPE, SCALAR, st.floats(-1, 9, width=32))
FLOW = tensors(DTYPE, SHAPE, st.integers(-9, 9).map(float))
FUZZ = {
    "Snake": (
        snake,
        calls(tensors(st.sampled_from(["float32", "float64"]))),
        snake_reference,
    ),
    "Battery": (battery, calls(FLOW, CAPACITY), checked_battery),
    "BatteryGrad": (battery_grad, calls(FLOW, FLOW, CAPACITY), checked_grad),
}
