"""How long AbsDifference and Blend take beside compositions of TensorFlow's ops, with XLA and without.

It compiles variants of AbsDifference. All run inside of a `tf.function`; for each
number of threads there is a process of its own.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import prologue  # noqa: F401  before TensorFlow
import tensorflow as tf
from broadcasting import abs_difference, blend
from compiler import BUILD, compiled_ops
from turns import Case, compiled_by_xla, run_turns, traced

from opcheck import function_of

SOURCE = Path(__file__).parents[1] / "examples" / "broadcasting" / "abs_difference.cc"
SIZE = 1_000_000
# What broadcasting does to x and y.
TWO = {
    "equal shapes": ([1000, 1000], [1000, 1000]),
    "a row": ([1000, 1000], [1000]),
    "a column": ([1000, 1000], [1000, 1]),
    "a column and a row": ([1000, 1], [1, 1000]),
    "three channels": ([333_333, 3], [3]),
}
# An image of a million numbers, what is mixed with it, and the mask.
THREE = {
    "blend, equal shapes": ([577, 578, 3], [577, 578, 3], [577, 578, 3]),
    "blend, a mask": ([577, 578, 3], [577, 578, 3], [577, 578, 1]),
    "blend, a colour and a row": ([577, 578, 3], [3], [578, 1]),
}
PACKETS = """
  template <typename Packet>
  Packet packetOp(const Packet& x, const Packet& y) const {
    using namespace Eigen::internal;
    if constexpr (std::is_integral_v<T>) return psub(pmax(x, y), pmin(x, y));
    return pabs(psub(x, y));
  }
};
}}
template <typename T>
struct Eigen::internal::functor_traits<op_by_op::AbsDifference<T>> {
  enum {
    PacketAccess = packet_traits<T>::HasSub &&
        (std::is_integral_v<T> ? packet_traits<T>::HasMin
                               : packet_traits<T>::HasAbs),
    Cost = 2 * NumTraits<T>::AddCost
  };
};
namespace op_by_op { namespace {
// [register]"""
# From a way to the name of its op, and to what is replaced in the source.
VARIANTS = {
    "with packetOp": ("PacketDifference", "};\n\n// [register]", PACKETS),
    "without use_bcast_optimization": (
        "SlowDifference",
        "use_bcast_optimization = true",
        "use_bcast_optimization = false",
    ),
}


def variant(op: str, old: str, new: str) -> Callable:
    """AbsDifference for two of its types, with another word in its source."""
    text = SOURCE.read_text()
    types = "REGISTER5", "Eigen::half, float, double, uint8_t, int32_t"
    for part in (old, *types):
        assert part in text, f"{part} is no longer in {SOURCE.name}"
    text = text.replace(old, new).replace(types[0], "REGISTER2")
    text = text.replace(types[1], "float, uint8_t").replace("AbsDifference", op)
    copy = BUILD / f"{function_of(op)}.cc"
    copy.parent.mkdir(parents=True, exist_ok=True)
    if not copy.exists() or copy.read_text() != text:
        copy.write_text(text)
    library = compiled_ops(function_of(op), copy, [])
    return getattr(tf.load_op_library(str(library)), function_of(op))


def case(task: str, ways: dict[str, Callable], inputs: list, **more: float) -> Case:
    """Ours, variants of it and, at the end, a composition, which XLA compiles, too."""
    *_, composed = ways
    ways |= {f"{composed}, XLA": compiled_by_xla(ways[composed])}
    runs = {name: traced(way, *inputs) for name, way in ways.items()}
    return Case({"task": task}, runs, **more)


def cases(threads: int) -> Iterator[Case]:
    random = np.random.default_rng(0)
    variants = {way: variant(*parts) for way, parts in VARIANTS.items()}
    ours = {"AbsDifference": abs_difference} | variants
    for task, shapes in TWO.items():
        inputs = [tf.constant(random.normal(size=size), tf.float32) for size in shapes]
        yield case(task, {**ours, "tf.abs(x - y)": lambda x, y: tf.abs(x - y)}, inputs)
    frames = [tf.constant(random.integers(256, size=SIZE), tf.uint8) for _ in "xy"]
    subtracted = {"maximum − minimum": lambda x, y: tf.maximum(x, y) - tf.minimum(x, y)}
    yield case("uint8", ours | subtracted, frames)
    mixed = {"Blend": blend, "(1 - w) * x + w * y": lambda x, y, w: (1 - w) * x + w * y}
    for task, shapes in THREE.items():
        inputs = [tf.constant(random.uniform(size=size), tf.float32) for size in shapes]
        yield case(task, {**mixed}, inputs, rtol=1e-5, atol=1e-6)


if __name__ == "__main__":
    notes = [
        f"times of a call in a tf.function, about {SIZE} random numbers, float32 if not said: the median of the rounds",
        "XLA: the same with jit_compile=True",
        "with packetOp: so that Eigen computes several numbers at once; without use_bcast_optimization: that is false",
    ]
    run_turns(cases, notes, rounds=21, span=0.017, threads=True)
