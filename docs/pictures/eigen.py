"""Pictures of the chapter on Eigen, each drawn from what ops return."""

import numpy as np
import tensorflow as tf
from eigen import eigen_table, in_eigen
from IPython.display import HTML
from measured import read
from pictures.drawing import line, picture
from pictures.layout import CELL, at, grid, layers
from wrong_eigen import WAYS, row_mean
from wrong_threads import play_backwards_by

SQUARE = "1000 × 1000"
speeds = read("eigen")


def standardized() -> dict[str, float]:
    """How many milliseconds ways to standardize rows took."""
    ways = {"ours": "Standardize", "numpy": "NumPy", "loops": "loops"}
    case = {"task": "standardize", "size": SQUARE}
    found = {
        name: speeds.number("milliseconds", threads="2", way=way, **case)
        for name, way in ways.items()
    }
    alone = speeds.number("milliseconds", threads="1", way="Standardize", **case)
    return found | {"alone": alone}


def means() -> tuple[list[str], list[tuple[str, str, str]]]:
    """Of each way to the mean of a row: how wrong it is for a long one, and how long it takes."""
    x = 10 + np.random.default_rng(0).random((1, 10_000_000), np.float32)
    right = x.mean(dtype=np.float64)
    lines = "`x.mean(by_value)`", "`x.mean(by_type)`", "`x.sum(by_type) / columns`"
    rows = []
    for text, way in zip(lines, WAYS):
        wrong = abs(float(row_mean(x, way=way)[0]) - right)
        case = {"task": "mean", "size": SQUARE, "threads": "1", "way": way}
        time = speeds.number("milliseconds", **case)
        rows.append((text, f"{wrong:.6f}", f"{time:.2f} ms"))
    head = ["", "Error for 10⁷ numbers from 10 to 11", f"Time for {SQUARE} on one core"]
    return head, rows


def dictionary() -> tuple[list[str], list[tuple[str, str, str]]]:
    """The head and the rows of the table from NumPy to Eigen, after both have given the same."""
    names = {
        "np": np,
        "x": np.float32([[1, 5, -2], [7.5, 0, 3]]),
        "y": np.float32([[4, -5, 6], [7, 8, 9]]),
        "v": np.float32([10, 20, 30]),
    }
    arrays = [names[name] for name in "xyv"]
    rows, before = [], None
    for number, (group, numpy, eigen) in enumerate(eigen_table()):
        expected = np.asarray(eval(numpy, names), np.float32)
        result = in_eigen(*arrays, number)
        np.testing.assert_allclose(result, expected, rtol=1e-6, strict=True)
        title = f"*{group}*" if group != before else ""
        rows.append((title, f"`{numpy}`", f"`{eigen}`"))
        before = group
    return ["", "NumPy", "Eigen"], rows


def turned(before: np.ndarray, after: np.ndarray) -> HTML:
    """A signal that was turned around in its own place: where each number of the result was read."""
    size, down = len(before), CELL + 62
    wrong = after != before[::-1]
    shapes = [
        at(-14, CELL / 2, "before", "e"),
        at(-14, down + CELL / 2, "after", "e"),
        grid(before),
        at(0, down, grid(after, wrong, colour="orange", shade=0.5)),
    ]
    for i in range(size):
        x1, x2 = (CELL * (place + 0.5) for place in (size - 1 - i, i))
        look = {"colour": int(wrong[i]), "width": 2 if wrong[i] else 1}
        shapes.append(line((x1, CELL + 2), (x2, down - 2), **look))
    label = (
        f"The numbers {', '.join(f'{value:g}' for value in before)} were turned around where they are, and became "
        f"{', '.join(f'{value:g}' for value in after)}: the marked ones are wrong."
    )
    return picture(layers(*shapes), label)


def taken_over() -> list[tuple[str, str, str]]:
    """Of calls of PlayBackwards in memory that it may take over: how, whether it took it, and whether it was right."""
    eight = tf.range(8.0)
    variable = tf.Variable(2 * eight)

    def alone() -> tuple[tf.Tensor, ...]:
        return play_backwards_by(2 * eight, "taken over")

    def of_variable() -> tuple[tf.Tensor, ...]:
        return play_backwards_by(variable, "taken over")

    def needed_later() -> tuple[tf.Tensor, ...]:
        x = 2 * eight
        return *play_backwards_by(x, "taken over"), x

    calls = {
        "eagerly": alone,
        "in a graph, input is a variable": tf.function(of_variable),
        "in a graph, while another op still needs the input": tf.function(needed_later),
        "in a graph, input is used by this op alone": tf.function(alone),
    }
    found = []
    for name, function in calls.items():
        backwards, *facts = function()[:2]
        facts.append(np.array_equal(backwards, 2 * eight[::-1]))
        found.append((name, *("yes" if fact else "no" for fact in facts)))
    return found
