"""Pictures of the chapter on Eigen, each drawn from what ops return."""

import numpy as np
import tensorflow as tf
from IPython.display import HTML
from pictures.figures import (
    BOLD,
    CELL,
    COLOURS,
    END,
    FITTING,
    MIDDLE,
    POINTED,
    SMALL,
    TIP,
    box,
    drawing,
    text,
)
from wrong_threads import play_backwards_by


def asked(signal: np.ndarray, gain: float, result: np.ndarray) -> HTML:
    """What happens for the first element of PlayBackwards: each part of the expression asks the next one.

    Args:
      signal: What is played backwards.
      gain: What it is multiplied by.
      result: What the op has made of them.
    """
    last = len(signal) - 1
    louder = gain * signal[last]
    np.testing.assert_array_equal(result[0], louder)
    asked_for = [f"element {place}?" for place in (0, last, last)]
    answers = [f"{value:g}" for value in (louder, louder, signal[last])]
    names = "output = …", ".reverse(turned)", f"… * {gain:g}", "signal"
    wide, high, gap, left = 150, 30, 40, 86
    parts = [TIP]
    for number, name in enumerate(names):
        top = 2 + number * (high + gap)
        parts.append(box(left, top, wide, high))
        parts.append(text(left + wide / 2, top + 20, name, MIDDLE))
    for number, (question, answer) in enumerate(zip(asked_for, answers)):
        top = 2 + high + number * (high + gap)
        down, up = left + 30, left + wide - 30
        parts.append(f'<path d="M{down} {top}V{top + gap - 1}" {POINTED}/>')
        parts.append(text(down - 8, top + gap / 2 + 4, question, END, SMALL))
        parts.append(f'<path d="M{up} {top + gap}V{top + 1}" {POINTED}/>')
        parts.append(text(up + 8, top + gap / 2 + 5, answer, BOLD))
    questions = "; ".join(
        f"{asker} asks {asked} for {question.rstrip('?')} and gets {answer}"
        for asker, asked, question, answer in zip(names, names[1:], asked_for, answers)
    )
    label = f"From the assignment down to the signal: {questions}."
    height = 4 * high + 3 * gap + 4
    return HTML(drawing(parts, left + wide + 60, height, label, style=FITTING))


def turned(before: np.ndarray, after: np.ndarray) -> HTML:
    """A signal that was turned around in its own place: where each number of the result was read."""
    parts, left, gap = [], 66, 62
    size = len(before)
    wrong = after != before[::-1]
    rows = ("before", before, np.zeros(size, bool)), ("after", after, wrong)
    for row, (name, values, marked) in enumerate(rows):
        y = 4 + row * (CELL + gap)
        parts.append(text(2, y + CELL / 2 + 5, name))
        for i, value in enumerate(values):
            x = left + i * CELL
            parts.append(box(x, y, CELL, CELL, 0.5 if marked[i] else 0, 1, corner=0))
            weight = [BOLD] if marked[i] else []
            parts.append(
                text(x + CELL / 2, y + CELL / 2 + 5, f"{value:g}", MIDDLE, *weight)
            )
    for i in range(size):
        x1, x2 = (left + (place + 0.5) * CELL for place in (size - 1 - i, i))
        parts.append(
            f'<path d="M{x1} {6 + CELL}L{x2} {2 + CELL + gap}" stroke="{COLOURS[int(wrong[i])]}" '
            f'stroke-width="{2 if wrong[i] else 1}" fill="none"/>'
        )
    label = (
        f"The numbers {', '.join(f'{value:g}' for value in before)} were turned around where they are, and became "
        f"{', '.join(f'{value:g}' for value in after)}: the marked ones are wrong."
    )
    return HTML(
        drawing(parts, left + 4 + size * CELL, 2 * CELL + gap + 8, label, style=FITTING)
    )


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
