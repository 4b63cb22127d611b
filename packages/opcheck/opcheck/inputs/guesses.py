"""Calls of an op that its interface suggests: names of inputs and attrs, their types, and ranks tried in turn."""

import itertools
import math
import operator
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

RANKS = (1, 2, 0, 3, 4)
_MOST = 150
# The second for square matrices; the others for paddings, sizes and the like.
_SIZES = ((3, 4, 2, 5), (3, 3, 3, 3), (2, 2, 2, 2), (1, 1, 1, 1))
# Of data, where names tell what the other inputs are.
_SHAPES = ((4,), (3, 3), (4, 3), (2, 4, 4, 3), (2, 3, 4), (), (1, 4, 4, 4, 2))
_IMAGES = re.compile("^(images?|filter|ksizes?|data_format|padding|block_s.*)$")
_PREFERRED = ("float32", "int32", "int64", "string", "float64", "bool")


@dataclass
class _Role:
    """What an input of such a name is, for data of some shape: candidates, the likeliest first."""

    name: str
    dtypes: str  # kinds of NumPy's dtypes
    make: Callable[[tuple[int, ...]], Sequence]


def _full(value, shape) -> np.ndarray:
    return np.full(shape, value)


# The first whose name and kind of dtype match.
_ROLES = (
    _Role("perm", "iu", lambda s: [np.arange(len(s))[::-1]]),
    _Role("paddings|crops", "iu", lambda s: [_full(1, (len(s), 2)), _full(0, (2, 2))]),
    _Role("block_shape", "iu", lambda s: [_full(2, 2), _full(2, 1)]),
    _Role("(num_|n)?segments?|num_(rows|cols)", "iu", lambda s: [_full(4, ())]),
    _Role(
        ".*(segment|row)_?ids|partitions",
        "iu",
        lambda s: [np.sort(np.arange(*s[:1] or [1]) % 3), np.zeros(s, int)],
    ),
    _Role(
        "(.*_)?(axis|axes|dim|dims?ension|dimension|reduction_indices)",
        "iu",
        lambda s: [_full(0, ()), _full(0, 1)],
    ),
    _Role(
        "dims|(.*_)?shape|(input|filter|image|output)_sizes?|.*_shape0?",
        "iu",
        lambda s: [np.array(s, int), np.array(s[1:3], int), _full(4, 1)],
    ),
    _Role("ksize", "iu", lambda s: [np.array([1, *[2] * (len(s) - 2), 1])]),
    _Role(
        "(crop_)?size", "iu", lambda s: [_full(2, 2), _full(1, len(s)), _full(4, ())]
    ),
    _Role(
        "begin|starts?|.*_start|pos|skip",
        "iu",
        lambda s: [_full(0, len(s)), _full(0, ())],
    ),
    _Role("end|limits?|stop", "iu", lambda s: [np.array(s, int), _full(5, ())]),
    _Role(
        "strides|deltas?|multiples|shift",
        "iu",
        lambda s: [_full(1, len(s)), _full(1, ())],
    ),
    _Role("seed2?", "iu", lambda s: [np.array([1, 2]), _full(1, ())]),
    _Role("(.*_)?splits", "iu", lambda s: [np.array([0, 1, *s[:1]])]),
    _Role("fft_length", "iu", lambda s: [_full(4, n) for n in (1, 2, 3)]),
    _Role(
        "(.*_)?(lengths?|len)", "iu", lambda s: [_full(1, s[:1]), _full(1, ()), _full(1, s)]
    ),
    _Role(
        "(.*_)?(k|n|i|num|depth|nbins|num_.*|max_.*|length|rate|quality|index|diag|width|height)",
        "iu",
        lambda s: [_full(2, ()), _full(1, 1)],
    ),
    _Role(
        "(box_)?ind(ices|ex)?",
        "iu",
        lambda s: [
            np.arange(2),
            np.arange(4)[:, None] % 2,
            np.arange(min(4, math.prod(s))).reshape(-1, 1)[:, : len(s)] * 0,
            np.zeros((3, 2), int),
            np.array(1),
        ],
    ),
    _Role("labels|targets", "iu", lambda s: [_full(1, s[:1]), _full(1, s)]),
    _Role(
        "(.*_)?(min(_.*)?|low(er)?|start|l1|l2|l2_.*)", "fc", lambda s: [_full(0.0, ())]
    ),
    _Role(
        "(.*_)?(max(_.*)?|high|upper|stop|limit)", "fc", lambda s: [_full(4.0, ())]
    ),
    _Role(
        "(.*_)?(lr|rho|epsilon|alpha|scale|factor|threshold|sigma|rate|tolerance|momentum"
        "|(default|padding|constant|fill|on|off)_values?)",
        "fciu",
        lambda s: [_full(1, ()), _full(1, s[-1:])],
    ),
    _Role("value_range", "fiu", lambda s: [np.array([0, 4])]),
    _Role("colors", "f", lambda s: [_full(0.5, (2, 3))]),
    _Role(
        "(.*_)?boxes",
        "f",
        lambda s: [
            np.array([[0.0, 0.0, 1.0, 1.0], [0.2, 0.1, 0.8, 0.6]]),
            np.full((2, 2, 4), [0.1, 0.2, 0.8, 0.9]),
        ],
    ),
    _Role("scores", "f", lambda s: [np.array([0.9, 0.4])]),
    _Role(
        "filters?",
        "fciu",
        lambda s: [_full(0.5, (*[2] * (len(s) - 2), *s[-1:], 2))]
        + [_full(0.5, (2, 2, *s[-1:]))],
    ),
    _Role(
        "bias|beta|gamma|mean|variance|offset|scale|b|m|v",
        "f",
        lambda s: [_full(0.5, s[-1:]), _full(0.5, s), _full(0.5, ())],
    ),
    _Role("sep|delimiter|(.*_)?separator|rewrite", "O", lambda s: [np.array(b" ", object)]),
    _Role("pattern", "O", lambda s: [np.array(b"[a-z]+", object)]),
    _Role("records", "O", lambda s: [np.array([b"1,2", b"3,4"], object)]),
    _Role("string_tensor", "O", lambda s: [np.array([b"1", b"2.5"], object)]),
    _Role("contents|bytes|input_bytes", "O", lambda s: [np.array(b"12345678", object)]),
)  # fmt: skip
_SPARSE = re.compile("(.*?)(indices|values|dense_shape|shapes?)$")


@dataclass(frozen=True)
class _Input:
    """An input of the op.

    Attributes:
      name: Its name.
      dtypes: The dtype of each tensor.
      is_list: Whether it is a list.
    """

    name: str
    dtypes: tuple[str, ...]
    is_list: bool


def guesses(op_def, ranks: Sequence | None = None) -> Iterator[tuple[list, dict]]:
    """Inputs and attrs with which the op may be called, of all ranks, the simplest first.

    Args:
      op_def: Of the op.
      ranks: The ranks to try for each input; the same for all by default.

    Raises:
      LookupError: With the reason why nothing can be guessed.
    """
    inputs, attrs = _interface(op_def)
    both = itertools.product(_SIZES, _ranks(ranks or [RANKS] * len(inputs)))
    for sizes, some in itertools.islice(both, 2 * _MOST):
        generator = np.random.default_rng(0)
        shapes = [sizes[:rank] for rank in some]
        yield _made(inputs, shapes, generator), attrs


def _made(inputs: Sequence[_Input], shapes: Sequence, generator) -> list:
    made = []
    for one, shape in zip(inputs, shapes):
        tensors = [array(dtype, shape, generator) for dtype in one.dtypes]
        made.append(tensors if one.is_list else tensors[0])
    return made


def named(op_def) -> Iterator[tuple[list[list], dict]]:
    """For data of several shapes, what the names of inputs and attrs suggest.

    Yields:
      Candidates for each input, the likeliest first, and attrs.

    Raises:
      LookupError: With the reason why nothing can be guessed.
    """
    inputs, attrs = _interface(op_def)
    names = {one.name for one in op_def.input_arg} | {x.name for x in op_def.attr}
    shapes = list(_SHAPES)
    if any(map(_IMAGES.match, names)):
        shapes.sort(key=lambda shape: len(shape) < 4)
    sparse = _sparse([one.name for one in inputs])
    if sparse:
        shapes = [(4, 3), *shapes]
    for shape in shapes:
        generator = np.random.default_rng(0)
        candidates = [
            _candidates(one, shape, sparse.get(one.name, ""), generator)
            for one in inputs
        ]
        yield candidates, attrs | _named_attrs(op_def, attrs, shape)


def combined(candidates: Sequence[Sequence], most: int = 24) -> Iterator[list]:
    """Candidates of all inputs together: the first of each, then others, few at a time."""
    choices = [range(len(some)) for some in candidates]
    if math.prod(map(len, choices)) <= 4096:
        orders = sorted(itertools.product(*choices), key=sum)
    else:
        first = [0] * len(choices)
        orders = [first] + [
            [*first[:i], n, *first[i + 1 :]]
            for i, some in enumerate(choices)
            for n in some[1:]
        ]
    for order in orders[:most]:
        yield [some[n] for some, n in zip(candidates, order)]


def _sparse(names: Sequence[str]) -> dict[str, str]:
    """The parts of sparse tensors among the inputs: from their names to indices, values or shape."""
    parts = {}
    for name in names:
        if match := _SPARSE.match(name):
            parts.setdefault(match[1], {})[name] = match[2].split("_")[-1].rstrip("s")
    found = {}
    for some in parts.values():
        if {"indice", "shape"} <= set(some.values()):
            found |= some
    return found


def _candidates(one: _Input, shape: tuple, part: str, generator) -> list:
    """What a single input may be for data of a shape."""
    dtype = one.dtypes[0]
    first = array(dtype, (), generator)
    found = []
    if part == "indice":
        found = [np.array([[0, 0], [1, 2], [2, 1]])]
    elif part == "shape":
        found = [np.array([4, 3])]
    elif part == "value":
        found = [array(dtype, (3,), generator)]
    else:
        for role in _ROLES:
            if first.dtype.kind in role.dtypes and re.fullmatch(role.name, one.name):
                found = list(role.make(shape))
                break
        found.append(array(dtype, shape, generator))
        if shape:
            found.append(array(dtype, shape[-1:], generator))
            found.append(array(dtype, (), generator))
            found.append(array(dtype, shape[:1], generator))
    unique = {}
    for x in found:
        x = np.asarray(x).astype(first.dtype)
        unique.setdefault((x.shape, x.tobytes()), x)
    if not one.is_list:
        return list(unique.values())
    return [
        [x if d == dtype else array(d, x.shape, generator) for d in one.dtypes]
        for x in unique.values()
    ]


def _named_attrs(op_def, attrs: dict, shape: tuple) -> dict:
    """Attrs without default that depend on the rank of the data, or whose names tell what they are."""
    rank, found = len(shape), {}
    for attr in (one for one in op_def.attr if one.name in attrs):
        spatial = max(rank - 2, 0)
        if attr.type == "list(int)":
            if re.fullmatch("k_?sizes?", attr.name):
                found[attr.name] = [1, *[2] * spatial, 1]
            elif re.fullmatch("strides|rates|dilations", attr.name):
                found[attr.name] = [1] * rank
        elif attr.type == "list(float)" and attr.name == "pooling_ratio":
            found[attr.name] = [1.0, *[1.5] * spatial, 1.0]
        elif attr.type == "shape":
            found[attr.name] = list(shape)
        elif attr.type == "string" and not attr.allowed_values.list.s:
            if attr.name.endswith("encoding"):
                found[attr.name] = "UTF-8"
            elif attr.name == "padding":
                found[attr.name] = "VALID"
    return found


def _interface(op_def) -> tuple[list[_Input], dict]:
    """The inputs, and the attrs that have no default."""
    import tensorflow as tf

    inferred = {
        name
        for arg in op_def.input_arg
        for name in (arg.type_attr, arg.number_attr, arg.type_list_attr)
        if name
    }
    attrs, types, lengths = {}, _types(op_def), {}
    for attr in op_def.attr:
        if attr.name in inferred:
            least = attr.minimum if attr.has_minimum else 1
            lengths[attr.name] = max(int(least), 2)
        elif not attr.HasField("default_value"):
            attrs[attr.name] = _value(attr, types)
    inputs = []
    for arg in op_def.input_arg:
        if arg.is_ref:
            raise LookupError(f"{arg.name} is a reference to a variable")
        name = types[arg.type_attr] if arg.type_attr else ""
        if arg.type:
            name = tf.as_dtype(arg.type).name
        if arg.type_list_attr:
            inputs.append(_Input(arg.name, ("float32", "float32"), True))
            continue
        if name in ("resource", "variant"):
            raise LookupError(f"{arg.name} is a {name}")
        count = lengths[arg.number_attr] if arg.number_attr else 1
        inputs.append(_Input(arg.name, (name,) * count, bool(arg.number_attr)))
    return inputs, attrs


def _types(op_def) -> dict[str, str]:
    """A dtype for each attr that is one, for all of which a kernel is registered if possible."""
    import tensorflow as tf
    from tensorflow.python.framework import kernels

    some = {}
    for attr in (attr for attr in op_def.attr if attr.type == "type"):
        allowed = [tf.as_dtype(x).name for x in attr.allowed_values.list.type]
        first = [x for x in _PREFERRED if x in allowed or not allowed]
        if attr.HasField("default_value"):
            first.insert(0, tf.as_dtype(attr.default_value.type).name)
        some[attr.name] = list(dict.fromkeys(first + allowed))
    served = []
    for kernel in kernels.get_registered_kernels_for_op(op_def.name).kernel:
        limits = {
            one.name: [tf.as_dtype(x).name for x in one.allowed_values.list.type]
            for one in kernel.constraint
        }
        types = {
            name: next((x for x in names if x in limits.get(name, names)), None)
            for name, names in some.items()
        }
        if kernel.device_type == "CPU" and None not in types.values():
            served.append(types)
    return min(
        served or [{name: names[0] for name, names in some.items()}],
        key=lambda types: sum(some[name].index(x) for name, x in types.items()),
    )


def _ranks(allowed: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    same = [(rank,) * len(allowed) for rank in RANKS]
    same = [some for some in same if all(map(operator.contains, allowed, some))]
    if math.prod(map(len, allowed)) <= _MOST:
        others = itertools.product(*allowed)
    else:  # some of everything
        choose_one = random.Random(0).choice
        others = (tuple(map(choose_one, allowed)) for _ in range(_MOST))
    yield from itertools.islice(dict.fromkeys(itertools.chain(same, others)), _MOST)


def _value(attr, types: dict):
    allowed = attr.allowed_values.list
    least = max(int(attr.minimum), 1) if attr.has_minimum else 2
    if attr.type == "type":
        import tensorflow as tf

        return tf.as_dtype(types[attr.name])
    if attr.type == "list(type)":
        import tensorflow as tf

        return [tf.float32] * least
    values = {
        "int": least,
        "float": 0.5,
        "bool": False,
        "string": allowed.s[0].decode() if allowed.s else "a",
        "shape": [2],
        "list(int)": [1] * least,
        "list(float)": [0.5] * least,
        "list(bool)": [False] * least,
        "list(string)": [allowed.s[0].decode() if allowed.s else "a"] * least,
        "list(shape)": [[2]] * least,
    }
    if attr.type not in values:
        raise LookupError(f"attr {attr.name} is a {attr.type}")
    return values[attr.type]


def array(dtype: str, shape: tuple, generator: np.random.Generator) -> np.ndarray:
    import tensorflow as tf

    if dtype == "string":
        texts = [b"one two", b"three", b"Four. 5"]
        array = np.array([texts[i % 3] for i in range(int(np.prod(shape)))], object)
        return array.reshape(shape)
    target = tf.as_dtype(dtype)
    if target.is_quantized:
        raise LookupError(f"an input is {dtype}")
    if target.is_bool:
        return generator.integers(0, 2, shape).astype(bool)
    if target.is_integer:
        return generator.integers(0, 3, shape).astype(target.as_numpy_dtype)
    return generator.random(shape).astype(target.as_numpy_dtype)
