"""The tables of the page on the registries of gradients: what C++ differentiates, and which ops have an entry."""

import collections

import numpy as np
import tensorflow as tf
from gradient_registries import registries, tried
from IPython.display import HTML
from pictures import cc_gradients

X = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
SYMMETRIC = "tf.matmul(x, x, transpose_b=True)"
IMAGE = "x[None, :, :, None]"
KINDS = {
    "element by element": """
tf.identity(x) | tf.cast(x, tf.float64) | tf.stop_gradient(x) * x | tf.abs(x) | tf.exp(x) | tf.tanh(x)
x ** 2 | tf.sqrt(x * x + 1) | tf.maximum(x, 0) | tf.clip_by_value(x, 0, 1) | tf.atan2(x, x + 1)
tf.math.erf(x) | tf.math.lgamma(x) | tf.round(x) * x | tf.where(x > 0, x, 0.0)
""",
    "activations and losses": """
tf.nn.relu(x) | tf.nn.leaky_relu(x) | tf.nn.elu(x) | tf.nn.selu(x) | tf.nn.silu(x) | tf.nn.softplus(x)
tf.nn.softsign(x) | tf.nn.gelu(x) | tf.nn.gelu(x, approximate=True) | tf.nn.softmax(x) | tf.nn.log_softmax(x)
tf.nn.sigmoid_cross_entropy_with_logits(x * 0, x) | tf.nn.softmax_cross_entropy_with_logits(x * 0 + 0.25, x)
tf.nn.sparse_softmax_cross_entropy_with_logits([1, 0, 2], x)
""",
    "matrices": f"""
tf.matmul(x, x, transpose_b=True) | tf.tensordot(x, x, [[1], [1]]) | tf.einsum('ij,kj->ik', x, x)
tf.linalg.trace({SYMMETRIC}) | tf.linalg.cholesky({SYMMETRIC} + tf.eye(3))
tf.linalg.inv({SYMMETRIC} + tf.eye(3))
""",
    "sums and the like": """
tf.reduce_sum(x) | tf.reduce_sum(x, axis=1) | tf.reduce_sum(x, axis=-1) | tf.reduce_mean(x, axis=1)
tf.reduce_mean(x, axis=-1) | tf.reduce_max(x, axis=-1) | tf.reduce_prod(x, axis=1) | tf.reduce_logsumexp(x)
tf.norm(x) | tf.math.reduce_variance(x, axis=0) | tf.math.cumsum(x)
tf.math.unsorted_segment_sum(x, [0, 1, 0], 2)
""",
    "shapes and parts": """
tf.reshape(x, [-1]) | tf.transpose(x) | tf.concat([x, x], axis=-1) | tf.stack([x, x]) | tf.unstack(x)[0]
tf.split(x, 2, axis=1)[0] | x[1:] | x[:, None] | tf.broadcast_to(x, [2, 3, 4]) | tf.reverse(x, [0])
tf.roll(x, 1, axis=0) | tf.tile(x, [2, 1]) | tf.pad(x, [[1, 1], [0, 0]]) | tf.gather(x, [0, 2])
tf.gather_nd(x, [[0], [2]]) | tf.scatter_nd([[0], [2], [1]], x, [3, 4]) | tf.sort(x)
tf.math.top_k(x, 2).values
""",
    "images": f"""
tf.nn.conv2d({IMAGE}, tf.ones([2, 2, 1, 1]), 1, 'SAME') | tf.nn.max_pool2d({IMAGE}, 2, 1, 'SAME')
tf.nn.avg_pool2d({IMAGE}, 2, 1, 'SAME')
tf.nn.depthwise_conv2d({IMAGE}, tf.ones([2, 2, 1, 1]), [1, 1, 1, 1], 'SAME')
tf.image.resize(x[:, :, None], [6, 8])
""",
    "calls": """
tf.function(tf.tanh)(x) | tf.cond(x[0, 0] > 0, lambda: 2 * x, lambda: x)
tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * x), [0, x])[1] | tf.map_fn(tf.tanh, x)
tf.custom_gradient(lambda x: (tf.tanh(x), lambda dy: 7 * dy))(x)
""",
}
# What has the same values and, where it is shown, the right gradient in C++.
INSTEAD = {
    "tf.nn.softsign(x)": "x / (1 + tf.abs(x))",
    "tf.nn.softmax_cross_entropy_with_logits(x * 0 + 0.25, x)": "-"
    "tf.reduce_sum((x * 0 + 0.25) * tf.nn.log_softmax(x), axis=1)",
    "tf.nn.sparse_softmax_cross_entropy_with_logits([1, 0, 2], x)": "-"
    "tf.gather_nd(tf.nn.log_softmax(x), [[0, 1], [1, 0], [2, 2]])",
    "tf.einsum('ij,kj->ik', x, x)": SYMMETRIC,
    "tf.roll(x, 1, axis=0)": "tf.concat([x[-1:], x[:-1]], axis=0)",
    "tf.tile(x, [2, 1])": "tf.concat([x, x], axis=0)",
    "tf.pad(x, [[1, 1], [0, 0]])": "tf.concat([tf.zeros([1, 4]), x, tf.zeros([1, 4])], axis=0)",
    "tf.gather(x, [0, 2])": "tf.gather_nd(x, [[0], [2]])",
    "tf.reduce_sum(x, axis=-1)": "tf.reduce_sum(x, axis=1)",
    "tf.reduce_mean(x, axis=-1)": "tf.reduce_mean(x, axis=1)",
    f"tf.linalg.trace({SYMMETRIC})": f"tf.reduce_sum({SYMMETRIC} * tf.eye(3))",
}
CAUSES = {
    "indices[0] is out of range": "error: indices[0] is out of range",
    "Retval[0] does not have value": "error: Retval[0] does not have value",
    "zero": "wrong: zero, without an exception",
    "tanh": "wrong: that of tf.tanh, without an exception",
}
RIGHT, WRONG = "as in Python", "wrong, without an exception"
HOLDERS = {
    ("gradient", "gradient"): ("functions and graphs", 0),
    ("gradient", ""): ("functions alone", 0),
    ("none", ""): ("zero in functions", 0),
    ("", "gradient"): ("graphs alone", 1),
    ("", ""): ("Python alone", None),
}
PLAINLY = {
    "functions and graphs": "has one, in C++ programs, too",
    "functions alone": "has one",
    "zero in functions": "zero",
    "graphs alone": "none here, only in C++ programs",
    "Python alone": "none, only in Python",
}


def function(call: str):
    return eval(f"lambda x: {call}")


class Tried:
    """What came of each function, as `tried` says it."""

    def __init__(self) -> None:
        self.kinds = {
            kind: [
                call.strip()
                for line in lines.split("\n")
                for call in line.split(" | ")
                if call
            ]
            for kind, lines in KINDS.items()
        }
        calls = [call for of_kind in self.kinds.values() for call in of_kind]
        self.results = {call: tried(function(call), X) for call in calls}

    def having(self, *results: str) -> list[str]:
        return [call for call, result in self.results.items() if result in results]

    def figures(self) -> dict[str, object]:
        fine, silent = len(self.having(RIGHT)), len(self.having(WRONG))
        return {
            "version": tf.__version__,
            "all": len(self.results),
            "fine": fine,
            "silent": silent,
            "failing": len(self.results) - fine - silent,
        }

    def substitutes(self) -> list[tuple[str, str]]:
        """The functions without a gradient for which another one has the right one."""
        failing = sorted(self.results.keys() - self.having(RIGHT, WRONG))
        found = [(call, instead(call)) for call in failing]
        return [(f"`{call}`", f"`{other}`") for call, other in found if other]

    def every_row(self) -> list[tuple[str, str, str]]:
        """Each function, what C++ says, and what to call instead, the worst first; then each op, and who has it."""
        rows = []
        for kind in self.kinds.values():
            for call in kind:
                result = self.results[call]
                said = "right" if result == RIGHT else says(call, result)
                rows.append((call, said, "" if result == RIGHT else instead(call)))
        worst = ["wrong", "error", "right"]
        rows.sort(key=lambda row: worst.index(row[1].partition(":")[0]))
        return rows + ops()


def says(call: str, result: str) -> str:
    if result == WRONG:
        return CAUSES["tanh" if "custom" in call else "zero"]
    if result.startswith("none for"):
        return f"error: no gradient {result.removeprefix('none ')}".replace("`", "")
    return CAUSES[result]


def instead(call: str) -> str:
    """What computes the same as a call, and has the right gradient in C++."""
    if not (other := INSTEAD.get(call)):
        return ""
    np.testing.assert_allclose(
        function(call)(X), function(other)(X), rtol=1e-5, atol=1e-6
    )
    return other if tried(function(other), X) == RIGHT else ""


def known_to_python() -> dict[str, tuple[str, str]]:
    """Of each op with a gradient in Python's registry, what those in C++ hold: functions, graphs."""
    return {
        op: cpp
        for op, (python, *cpp) in registries().items()
        if python == "gradient" and hasattr(tf.raw_ops, op)
    }


def squares() -> HTML:
    """A square for each op with a gradient in Python's registry, by what those in C++ hold."""
    counted = collections.Counter(tuple(cpp) for cpp in known_to_python().values())
    counted["none", ""] = sum(
        counted.pop(key) for key in [*counted] if key[0] == "none"
    )
    return cc_gradients.squares(
        {
            f"{name}: {counted[key]}": (counted[key], colour)
            for key, (name, colour) in HOLDERS.items()
        }
    )


def ops() -> list[tuple[str, str, str]]:
    """The ops with a gradient in Python's registry, and what those in C++ hold."""
    rows = []
    for op, (functions, graphs) in sorted(known_to_python().items()):
        name, _ = HOLDERS[functions, "" if functions == "none" else graphs]
        rows.append((op, f"op: {PLAINLY[name]}", ""))
    return rows
