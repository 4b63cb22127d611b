"""Generated calls: `python -m opcheck fuzz examples/types/types_fuzz.py`."""

from hypothesis import strategies as st
from running_sum import running_sum
from solution_cumulative_max import cumulative_max
from types_reference import cumulative_max_reference, running_sum_reference

from opcheck.strategies import calls, tensors


def cumulative_max_of_numpy_types(values):
    if values.dtype.kind == "V":
        raise NotImplementedError("bfloat16 is not NumPy's own")
    return cumulative_max_reference(values)


FLOATS = ["float32", "float64", "float16", "bfloat16"]
REAL = [*FLOATS, "int32", "int8", "uint8", "int64", "uint64"]
REAL += ["int16", "uint16", "uint32"]
FUZZ = {
    "RunningSum": (
        running_sum,
        calls(tensors(st.sampled_from(FLOATS))),
        running_sum_reference,
    ),
    "FloatRunningSum": "registered for one type on purpose",
    "CumulativeMax": (
        cumulative_max,
        calls(tensors(st.sampled_from(REAL))),
        cumulative_max_of_numpy_types,
    ),
    "TypeLists": "without inputs",
    "TypesOverlap": "registered wrongly on purpose",
    "TypesMisnamed": "registered wrongly on purpose",
}
