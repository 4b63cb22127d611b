"""The ops of the chapter in NumPy, and numbers in text as Python reads them."""

import re

import numpy as np

INTEGER = re.compile(rb"\s*[+-]?\d+\s*")
NUMBER = re.compile(
    rb"\s*[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|nan|inf|infinity)\s*", re.I
)


def parse(text, dtype):
    """One number in ASCII. Python alone takes underscores, other digits and other white space, too."""
    if dtype.is_integer:
        limits = np.iinfo(dtype.as_numpy_dtype)
        if INTEGER.fullmatch(text) and limits.min <= int(text) <= limits.max:
            return int(text)
    elif NUMBER.fullmatch(text):
        return float(text)
    raise ValueError(f"{text} is no {dtype.name}")


def weighted_sum_reference(inputs, weights):
    """The sum of the tensors times their weights, 16-bit numbers added in float32."""
    if weights.shape != (len(inputs),):
        raise ValueError("not a weight for each input")
    wide = np.promote_types(weights.dtype, np.float32)
    products = np.stack(inputs, axis=-1).astype(wide) * weights.astype(wide)
    return products.sum(axis=-1).astype(weights.dtype)


def keep_rows_reference(tensors, keep):
    """The same rows of all tensors, and their numbers."""
    if keep.ndim != 1 or any(tensor.shape[:1] != keep.shape for tensor in tensors):
        raise ValueError("not as many rows as keep has elements")
    return [tensor[keep] for tensor in tensors], np.flatnonzero(keep)


def parse_record_reference(record, out_types):
    """The fields between commas, each of its type."""
    if record.ndim:
        raise ValueError("record must be a scalar")
    return [
        np.array(field, object)
        if dtype.name == "string"
        else np.array(parse(field, dtype), dtype.as_numpy_dtype)
        for field, dtype in zip(record.item().split(b","), out_types, strict=True)
    ]
