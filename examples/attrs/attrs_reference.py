"""The ops of the chapter in NumPy; those that show their attrs, as text."""

import numpy as np

DEFAULTS = {
    "a_string": "apple",
    "an_int": "-3",
    "a_float": "0.5",
    "a_bool": "true",
    "a_type": "int32",
    "a_shape": "[2,3]",
    "a_tensor": "Tensor<type: int32 shape: [2] values: 5 4>",
    "strings": "apple, orange",
    "ints": "2, 3, 5",
    "floats": "0.5, 0.25",
    "bools": "true, false",
    "types": "int32, float",
    "shapes": "[2], <unknown>",
    "tensors": "Tensor<type: bool shape: [] values: 1>",
}


def preserve_index_reference(to_zero, index):
    """Keeps the element at `index`, counted in row-major order."""
    if index not in range(to_zero.size):
        raise ValueError("index is outside of to_zero")
    zeroed = np.zeros_like(to_zero)
    zeroed.flat[index] = to_zero.flat[index]
    return zeroed


def keep_at_reference(to_zero, index):
    """As `preserve_index_reference`, with a tensor as the index."""
    if index.ndim:
        raise ValueError("index must be a scalar")
    return preserve_index_reference(to_zero, int(index))


def text_of(attrs):
    """A line for each attr."""
    return np.array("\n".join(f"{name}: {attrs[name]}" for name in attrs), object)


def every_attr_reference(a_string, an_int, ints, floats):
    """All attrs, in the order of the interface."""
    given = {"a_string": a_string, "an_int": an_int}
    given["ints"] = ", ".join(map(str, ints))
    given["floats"] = ", ".join(f"{number:g}" for number in floats)
    return text_of({**DEFAULTS, **given})


def constrained_attrs_reference(fruit, count):
    """All attrs, where the interface allows these."""
    if fruit not in ("apple", "orange") or count < 2:
        raise ValueError("not allowed by the interface")
    attrs = {"fruit": fruit, "one_of": "int32", "number": "float", "real": "float"}
    return text_of({**attrs, "count": count, "types": "int32, float, int32"})


def own_name_reference(number):
    """The default of its attr."""
    return np.array("own_name: apple", object)
