"""The tables of the page on the registries of gradients: what C++ differentiates, and which ops have an entry."""

from functools import partial

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
from pictures.anchors import codes, tables_beside
from pictures.filtered import looked_up, stacked

X = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
SYMMETRIC = "tf.matmul(x, x, transpose_b=True)"
IMAGE = "x[None, :, :, None]"
CONV2D = f"tf.nn.conv2d({IMAGE}, tf.ones([2, 2, 1, 1]), 1, 'SAME')"
DILATED = CONV2D.replace("'SAME')", "'SAME', dilations=2)")
LOOP = "tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * x), [0, x])[1]"
CUSTOM = "tf.custom_gradient(lambda x: (tf.tanh(x), lambda dy: 7 * dy))(x)"
RANDOM = "x * tf.random.uniform([4])"
# The functions of each kind, and "instead": what has the same values and, where it is shown, the right gradient in C++.
KINDS = {
    kind: [[call.format(**globals()) for call in row] for row in rows]
    for kind, rows in tables_beside(__file__).items()
}
INSTEAD = dict(KINDS.pop("instead"))
CAUSES = {
    "indices[0] is out of range": "`indices[0] is out of range`: the axis is negative",
    "Retval[0] does not have value": "`Retval[0] does not have value`: no gradient for `StatelessIf`",
}
# Of a wrong gradient: what it is, why, and what has that gradient in Python.
WRONGLY = {call: known for call, *known in KINDS.pop("wrongly")}
RIGHT, WRONG = "as in Python", "wrong, without an exception"
assert_near = partial(np.testing.assert_allclose, rtol=1e-5, atol=1e-6)
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
# Ops whose gradient fails for a negative axis.
BUT = {op: ", except for a negative axis" for op in ("Mean", "Sum")}


def function(call: str):
    return eval(f"lambda x: {call}")


class Tried:
    """What came of each function, as `tried` says it."""

    def __init__(self) -> None:
        self.kinds = {
            kind: [call for row in rows for call in row] for kind, rows in KINDS.items()
        }
        calls = [call for of_kind in self.kinds.values() for call in of_kind]
        checks = {RANDOM: drawn_again, DILATED: undilated}
        self.results = {
            call: checks[call]() if call in checks else tried(function(call), X)
            for call in calls
        }
        wrong = (call for call in calls if self.results[call] != RIGHT)
        self.others = {call: instead(call) for call in wrong}
        of_wrapped = partial(tried, x=X, gradient=wrapped_gradient)
        right = self.having(RIGHT)
        self.wrapped = [x for x in right if of_wrapped(function(x)) == RIGHT]

    def having(self, *results: str) -> list[str]:
        return [call for call, result in self.results.items() if result in results]

    def failing(self) -> list[str]:
        return sorted(self.results.keys() - self.having(RIGHT, WRONG))

    def figures(self) -> dict[str, object]:
        return {
            "version": tf.__version__,
            "all": len(self.results),
            "fine": len(self.having(RIGHT)),
            "wrapped": len(self.wrapped),
            "silent": len(self.having(WRONG)),
            "failing": len(self.failing()),
        }

    def field(self) -> HTML:
        """A field that finds functions and ops, and what C++ makes of each."""
        said = {call: f"{WRONG}: {wrongly(call)}" for call in self.having(WRONG)}
        said |= {call: f"error: {says(self.results[call])}" for call in self.failing()}
        said |= dict.fromkeys(self.having(RIGHT), "right")
        for who, ops in holders().items():
            said |= {op: f"op: {PLAINLY[who]}{BUT.get(op, '')}" for op in ops}
        rows = [
            (name, each.replace("`", ""), self.others.get(name, ""))
            for name, each in said.items()
        ]
        return looked_up(
            ["Function or op", "Gradient in C++", "Instead"],
            rows,
            "A function or an op, such as tf.where or SelectV2",
            "Not listed. Try it with tried, as shown further down.",
        )

    def silent(self) -> HTML:
        calls = sorted(self.having(WRONG), key=[*WRONGLY].index)
        rows = [(code(call), wrongly(call), code(self.others[call])) for call in calls]
        return stacked(["Function", "C++ gives", "Instead"], rows)

    def errors(self, replaced: bool) -> HTML:
        """The functions with an error for which another one has the right gradient, or for which none has."""
        calls = [x for x in self.failing() if bool(self.others[x]) == replaced]
        rows = [[code(call), says(self.results[call])] for call in calls]
        if not replaced:
            return stacked(["Function", "Error"], rows)
        rows = [[*row, code(self.others[x])] for row, x in zip(rows, calls)]
        return stacked(["Function", "Error", "Instead"], rows)

    def right(self) -> HTML:
        groups = self.wrapped, {*self.having(RIGHT)} - {*self.wrapped}
        rows = [
            [kind, *(codes(filter(group.__contains__, calls)) for group in groups)]
            for kind, calls in self.kinds.items()
        ]
        return stacked(["Kind", "In both", "In a session alone"], rows)


def code(call: str) -> str:
    return f"`{call}`" if call else ""


def says(result: str) -> str:
    """An error, in short."""
    missing = result.removeprefix("none for ")
    return f"no gradient for {missing}" if missing != result else CAUSES[result]


def wrongly(call: str) -> str:
    """What a wrong gradient is, and why."""
    given, why, *others = WRONGLY[call]
    for like in others:
        assert_near(imported_gradient(function(call), X), by_tape(like, X))
    return f"{given}: {why}"


def by_tape(call: str, x: np.ndarray) -> tf.Tensor:
    with tf.GradientTape() as tape:
        tape.watch(start := tf.constant(x))
        end = function(call)(start)
    return tf.convert_to_tensor(tape.gradient(end, start))


def drawn_again(call: str = RANDOM, runs: int = 1, fed: bool = False) -> str:
    """Whether the gradient of a product with random numbers is these numbers, in each of some runs.

    Where nothing is fed, the input is a constant.
    """
    saved = saved_graph(function(call), X)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        start = tf.compat.v1.placeholder(X.dtype, X.shape) if fed else tf.constant(X)
        [end] = tf.import_graph_def(saved, {"x": start}, ["Identity:0"])
        both = [end, tf.gradients(end, start)[0]]
        found = [session.run(both, {start: X} if fed else {}) for _ in range(runs)]
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
        y, same = (function(each)(tf.constant(x)) for each in (call, other))
        assert_near(y, same)
        for gradient in (imported_gradient, wrapped_gradient):
            assert_near(gradient(function(other), x), by_tape(call, x))
    return other


def holders() -> dict[str, list[str]]:
    """The ops with a gradient in Python's registry, by what those in C++ hold."""
    held = {name: [] for name in HOLDERS.values()}
    for op, (python, functions, graphs) in sorted(registries().items()):
        if python == "gradient" and hasattr(tf.raw_ops, op):
            name = HOLDERS[functions, "" if functions == "none" else graphs]
            held[name].append(op)
    return held


def unlisted() -> list[str]:
    """The ops with a gradient for C++ programs and none in Python's registry."""
    return [
        op
        for op, (python, _, graphs) in sorted(registries().items())
        if graphs == "gradient" != python and hasattr(tf.raw_ops, op)
    ]


def ops() -> HTML:
    """How many ops with a gradient in Python's registry C++ holds, and their names, folded."""
    rows, counts = [], ""
    for name, of in holders().items():
        count, names = len(of), ", ".join(sorted(of, key=str.lower))
        rows.append((f"{PLAINLY[name]} (*{name}*: {count})", names))
        counts += f"<li>{count}: {PLAINLY[name]}</li>"
    table = stacked(["In an imported function, the op", "Ops"], rows).data
    details = f"<details><summary>Their names</summary>{table}</details>"
    return HTML(f"<ul>{counts}</ul>{details}")
