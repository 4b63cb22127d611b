"""Pictures of the chapter on Eigen, each drawn from what ops return."""

import numpy as np
import tensorflow as tf
from IPython.display import HTML
from pictures.drawing import COLOURS, ORANGE, bold, line, picture
from pictures.layout import CELL, arrow, at, box, column, grid, layers
from wrong_threads import play_backwards_by


def asked(signal: np.ndarray, gain: float, result: np.ndarray) -> HTML:
    """What happens for the first element of PlayBackwards: each part of the expression asks the next one.

    Args:
      signal: What is played backwards.
      gain: What it is multiplied by.
      result: What the op has made of them.
    """
    last = len(signal) - 1
    louder = f"{result[0]:g}"
    questions = [f"element {place}" for place in (0, last, last)]
    answers = [louder, louder, f"{signal[last]:g}"]
    names = "output = …", ".reverse(turned)", f"… * {gain:g}", "signal"
    boxes = [box(name, width=150, height=30) for name in names]
    arrows, said = [], []
    for i, (question, answer) in enumerate(zip(questions, answers)):
        arrows.append(arrow(boxes[i], boxes[i + 1], f"{question}?", shift=-45))
        arrows.append(arrow(boxes[i + 1], boxes[i], bold(answer), shift=45))
        asks = f"{names[i]} asks {names[i + 1]} for {question} and gets {answer}"
        said.append(asks)
    label = f"From the assignment down to the signal: {'; '.join(said)}."
    return picture(layers(column(*boxes, gap=40), *arrows), label)


def turned(before: np.ndarray, after: np.ndarray) -> HTML:
    """A signal that was turned around in its own place: where each number of the result was read."""
    size, down = len(before), CELL + 62
    wrong = after != before[::-1]
    shapes = [
        at(-14, CELL / 2, "before", "e"),
        at(-14, down + CELL / 2, "after", "e"),
        grid(before),
        at(0, down, grid(after, wrong, colour=ORANGE, shade=0.5)),
    ]
    for i in range(size):
        x1, x2 = (CELL * (place + 0.5) for place in (size - 1 - i, i))
        look = {"colour": COLOURS[int(wrong[i])], "width": 2 if wrong[i] else 1}
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

    def call(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return play_backwards_by(x, "taken over")

    def needed_later() -> tuple[tf.Tensor, ...]:
        x = 2 * eight
        return *call(x), x

    calls = {
        "eagerly": lambda: call(2 * eight),
        "in a graph, input is a variable": tf.function(lambda: call(variable)),
        "in a graph, while another op still needs the input": tf.function(needed_later),
        "in a graph, input is used by this op alone": tf.function(
            lambda: call(2 * eight)
        ),
    }
    found = []
    for name, function in calls.items():
        backwards, taken, *_ = function()
        right = np.array_equal(backwards, 2 * eight[::-1])
        found.append((name, *("yes" if fact else "no" for fact in (taken, right))))
    return found
