"""The tables of the page on the registries of gradients: what C++ differentiates, and which ops have an entry."""

import numpy as np
import tensorflow as tf
from gradient_registries import (
    imported_gradient,
    registries,
    saved_graph,
    tried,
    wrapped_gradient,
)
from IPython.display import HTML
from pictures.anchors import entries
from pictures.filtered import looked_up, stacked

X = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
SYMMETRIC = "tf.matmul(x, x, transpose_b=True)"
IMAGE = "x[None, :, :, None]"
CONV2D = f"tf.nn.conv2d({IMAGE}, tf.ones([2, 2, 1, 1]), 1, 'SAME')"
DILATED = CONV2D.replace("'SAME')", "'SAME', dilations=2)")
LOOP = "tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * x), [0, x])[1]"
CUSTOM = "tf.custom_gradient(lambda x: (tf.tanh(x), lambda dy: 7 * dy))(x)"
RANDOM = "x * tf.random.uniform([4])"
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
{CONV2D} | {DILATED} | tf.nn.max_pool2d({IMAGE}, 2, 1, 'SAME')
tf.nn.avg_pool2d({IMAGE}, 2, 1, 'SAME')
tf.nn.depthwise_conv2d({IMAGE}, tf.ones([2, 2, 1, 1]), [1, 1, 1, 1], 'SAME')
tf.image.resize(x[:, :, None], [6, 8])
""",
    "random numbers": f"{RANDOM} | x * tf.random.stateless_uniform([4], [1, 0])",
    "calls": f"""
tf.function(tf.tanh)(x) | tf.cond(x[0, 0] > 0, lambda: 2 * x, lambda: x)
{LOOP} | tf.map_fn(tf.tanh, x) | {CUSTOM}
""",
}
# What has the same values and, where it is shown, the right gradient in C++.
INSTEAD = {
    LOOP: "x * x * x",
    "tf.map_fn(tf.tanh, x)": "tf.stack([tf.tanh(row) for row in tf.unstack(x)])",
    "tf.cond(x[0, 0] > 0, lambda: 2 * x, lambda: x)": "tf.compat.v1.where(x[0, 0] > 0, 2 * x, x)",
    "tf.where(x > 0, x, 0.0)": "tf.compat.v1.where(x > 0, x, tf.zeros_like(x))",
    "tf.nn.leaky_relu(x)": "tf.compat.v1.where(x > 0, x, 0.2 * x)",
    "tf.nn.elu(x)": "tf.compat.v1.where(x < 0, tf.math.expm1(tf.minimum(x, 0)), x)",
    "tf.nn.softplus(x)": "tf.nn.sigmoid_cross_entropy_with_logits(tf.zeros_like(x), x)",
    "tf.reduce_logsumexp(x)": "tf.reduce_max(x) + tf.math.log(tf.reduce_sum(tf.exp(x - tf.reduce_max(x))))",
    "tf.math.cumsum(x)": "tf.matmul([[1.0, 0, 0], [1, 1, 0], [1, 1, 1]], x)",
    "tf.math.unsorted_segment_sum(x, [0, 1, 0], 2)": "tf.matmul([[1.0, 0, 1], [0, 1, 0]], x)",
    "tf.scatter_nd([[0], [2], [1]], x, [3, 4])": "tf.matmul([[1.0, 0, 0], [0, 0, 1], [0, 1, 0]], x)",
    "tf.nn.softsign(x)": "x / (1 + tf.abs(x))",
    "tf.nn.softmax_cross_entropy_with_logits(x * 0 + 0.25, x)": "tf.negative("
    "tf.reduce_sum((x * 0 + 0.25) * tf.nn.log_softmax(x), axis=1))",
    "tf.nn.sparse_softmax_cross_entropy_with_logits([1, 0, 2], x)": "tf.negative("
    "tf.gather_nd(tf.nn.log_softmax(x), [[0, 1], [1, 0], [2, 2]]))",
    "tf.einsum('ij,kj->ik', x, x)": SYMMETRIC,
    "tf.roll(x, 1, axis=0)": "tf.concat([x[-1:], x[:-1]], axis=0)",
    "tf.tile(x, [2, 1])": "tf.concat([x, x], axis=0)",
    "tf.pad(x, [[1, 1], [0, 0]])": "tf.concat([tf.zeros([1, 4]), x, tf.zeros([1, 4])], axis=0)",
    "tf.gather(x, [0, 2])": "tf.gather_nd(x, [[0], [2]])",
    "tf.reduce_sum(x, axis=-1)": "tf.reduce_sum(x, axis=1)",
    "tf.reduce_mean(x, axis=-1)": "tf.reduce_mean(x, axis=1)",
    f"tf.linalg.trace({SYMMETRIC})": f"tf.reduce_sum(tf.gather_nd({SYMMETRIC}, [[0, 0], [1, 1], [2, 2]]))",
}
CAUSES = {
    "indices[0] is out of range": "`indices[0] is out of range`: the axis is negative",
    "Retval[0] does not have value": "`Retval[0] does not have value`: no gradient for a branch",
}
# Of a wrong gradient: what it is, why, and what has that gradient in Python.
WRONGLY = {
    LOOP: ("zero", "C++ never reaches the ops of a loop", "0 * x"),
    "tf.map_fn(tf.tanh, x)": ("zero", "this is a loop, too", "0 * x"),
    CUSTOM: (
        "that of `tf.tanh`",
        "C++ ignores yours and differentiates what is inside",
        "tf.tanh(x)",
    ),
    RANDOM: (
        "other random numbers",
        "C++ runs the function again, and it draws anew",
        "",
    ),
    DILATED: (
        "that without `dilations`",
        "TensorFlow's C++ gradient leaves this attr out",
        CONV2D,
    ),
}
RIGHT, WRONG = "as in Python", "wrong, without an exception"
HOLDERS = {
    ("gradient", "gradient"): "functions and graphs",
    ("gradient", ""): "functions alone",
    ("none", ""): "zero in functions",
    ("", "gradient"): "graphs alone",
    ("", ""): "Python alone",
}
PLAINLY = {
    "functions and graphs": "has a gradient; C++ programs have one, too",
    "functions alone": "has a gradient; C++ programs have none",
    "zero in functions": "has a gradient of zero",
    "graphs alone": "has no gradient; only C++ programs have one",
    "Python alone": "has no gradient; only Python has one",
}


def function(call: str):
    return eval(f"lambda x: {call}")


class Tried:
    """What came of each function, as `tried` says it."""

    def __init__(self) -> None:
        self.kinds = {
            kind: [call for line in entries(lines) for call in line]
            for kind, lines in KINDS.items()
        }
        calls = [call for of_kind in self.kinds.values() for call in of_kind]
        checks = {RANDOM: drawn_again, DILATED: undilated}
        self.results = {
            call: checks[call]() if call in checks else tried(function(call), X)
            for call in calls
        }
        self.others = {
            call: instead(call) for call in calls if self.results[call] != RIGHT
        }

    def having(self, *results: str) -> list[str]:
        return [call for call, result in self.results.items() if result in results]

    def failing(self) -> list[str]:
        return sorted(self.results.keys() - self.having(RIGHT, WRONG))

    def figures(self) -> dict[str, object]:
        return {
            "version": tf.__version__,
            "all": len(self.results),
            "fine": len(self.having(RIGHT)),
            "silent": len(self.having(WRONG)),
            "failing": len(self.failing()),
        }

    def field(self) -> HTML:
        """A field that finds functions and ops, and what C++ makes of each."""
        said = {call: f"{WRONG}: {wrongly(call)}" for call in self.having(WRONG)}
        said |= {call: f"error: {says(self.results[call])}" for call in self.failing()}
        said |= dict.fromkeys(self.having(RIGHT), "right")
        for who, ops in holders().items():
            said |= dict.fromkeys(ops, f"op: {PLAINLY[who]}")
        return looked_up(
            ["Function or op", "Gradient in C++", "Instead"],
            [
                (name, each.replace("`", ""), self.others.get(name, ""))
                for name, each in said.items()
            ],
            "A function or an op",
            "Not listed. Try it with tried, as shown further down.",
        )

    def silent(self) -> HTML:
        calls = sorted(self.having(WRONG), key=[*WRONGLY].index)
        rows = [(code(call), wrongly(call), code(self.others[call])) for call in calls]
        return stacked(["Function", "C++ gives", "Instead"], rows)

    def errors(self, replaced: bool) -> HTML:
        """The functions with an error for which another one has the right gradient, or for which none has."""
        rows = [
            (code(call), says(self.results[call]), code(self.others[call]))[
                : 2 + replaced
            ]
            for call in self.failing()
            if bool(self.others[call]) == replaced
        ]
        return stacked(["Function", "Error", "Instead"][: 2 + replaced], rows)

    def right(self) -> HTML:
        fine, rows = self.having(RIGHT), []
        for kind, calls in self.kinds.items():
            rows.append((kind, ", ".join(code(call) for call in calls if call in fine)))
        return stacked(["Kind", "Functions"], rows)


def code(call: str) -> str:
    return f"`{call}`" if call else ""


def says(result: str) -> str:
    """An error, in short."""
    missing = result.removeprefix("none for ")
    return f"no gradient for {missing}" if missing != result else CAUSES[result]


def wrongly(call: str) -> str:
    """What a wrong gradient is, and why."""
    given, why, like = WRONGLY[call]
    if like:
        dx = imported_gradient(function(call), X)
        np.testing.assert_allclose(dx, by_tape(like, X), rtol=1e-5, atol=1e-6)
    return f"{given}: {why}"


def by_tape(call: str, x: np.ndarray) -> tf.Tensor:
    with tf.GradientTape() as tape:
        tape.watch(start := tf.constant(x))
        end = function(call)(start)
    return tf.convert_to_tensor(tape.gradient(end, start))


def drawn_again(call: str = RANDOM, runs: int = 1) -> str:
    """Whether the gradient of a product with random numbers is these numbers, in each of some runs."""
    saved = saved_graph(function(call), X)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        start = tf.constant(X)
        [end] = tf.import_graph_def(saved, {"x": start}, ["Identity:0"])
        both = [end, tf.gradients(end, start)[0]]
        found = [session.run(both) for _ in range(runs)]
    return RIGHT if all(np.allclose(y, X * dx) for y, dx in found) else WRONG


def undilated() -> str:
    """Whether the gradient of a dilated convolution is the right one, which a tape lacks on a CPU.

    The function is linear, so the derivative by an element is the sum of its values where this alone is 1.
    """
    alone = np.eye(X.size, dtype=np.float32).reshape(-1, *X.shape)
    expected = [tf.reduce_sum(function(DILATED)(each)) for each in alone]
    dx = imported_gradient(function(DILATED), X)
    return RIGHT if np.allclose(dx, np.reshape(expected, X.shape)) else WRONG


def instead(call: str) -> str:
    """What computes the same as a call, and has the right gradient in C++, in a `wrap_function` too."""
    if not (other := INSTEAD.get(call)):
        return ""
    for x in (X, 0 * X, 1e30 * X):
        near = {"rtol": 1e-5, "atol": 1e-6}
        y, same = (function(each)(tf.constant(x)) for each in (call, other))
        np.testing.assert_allclose(y, same, **near)
        for gradient in (imported_gradient, wrapped_gradient):
            dx = gradient(function(other), x)
            np.testing.assert_allclose(dx, by_tape(call, x), **near)
    return other


def holders() -> dict[str, list[str]]:
    """The ops with a gradient in Python's registry, by what those in C++ hold."""
    held = {name: [] for name in HOLDERS.values()}
    for op, (python, functions, graphs) in sorted(registries().items()):
        if python == "gradient" and hasattr(tf.raw_ops, op):
            held[HOLDERS[functions, "" if functions == "none" else graphs]].append(op)
    return held


def ops() -> HTML:
    """The ops with a gradient in Python's registry, by what those in C++ hold."""
    rows = [
        (
            f"{PLAINLY[name]} (*{name}*: {len(ops)})",
            ", ".join(sorted(ops, key=str.lower)),
        )
        for name, ops in holders().items()
    ]
    return stacked(["In an imported function, the op", "Ops"], rows)
