"""The benches whose ways take turns in TensorFlow: what their cases are, and how their tables come about."""

import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import tensorflow as tf
from measure import command_line, cores, heading_of, settings, timed_turns, write
from processes import in_process


@dataclass
class Case:
    """Ways to compute the same, which take turns.

    Attributes:
      columns: The first columns of their rows.
      ways: From names to functions of no arguments, ours first, which have their results when they return, as on a CPU.
      rtol: How far results may be from the first way's, as `np.testing.assert_allclose` has it.
      atol: Likewise. If both are 0, the results are equal.
      unlike: Names of ways that compute something else.
      expected: What the ways have to give, where that is known without them.
      nodes: How often a call computes it: its milliseconds are divided by that.
    """

    columns: Mapping[str, object]
    ways: Mapping[str, Callable]
    rtol: float = 0
    atol: float = 0
    unlike: Sequence[str] = ()
    expected: object = None
    nodes: int = 1

    def check(self) -> None:
        """Compares what the ways give.

        Raises:
          AssertionError: Some do not give the same.
        """
        alike = [name for name in self.ways if name not in self.unlike]
        found = {name: tf.nest.flatten(self.ways[name]()) for name in alike}
        expected = found[alike[0]]
        if self.expected is not None:
            expected = tf.nest.flatten(self.expected)
        for name, results in found.items():
            for x, y in zip(expected, results, strict=True):
                if self.rtol or self.atol:
                    x, y = (np.asarray(each).astype(float) for each in (x, y))
                    np.testing.assert_allclose(y, x, self.rtol, self.atol, err_msg=name)
                else:
                    np.testing.assert_array_equal(y, x, err_msg=name)

    def rows(self, rounds: int, span: float) -> list[dict]:
        """For each way a row of `timed_turns`; in each of the rounds it is called for about `span` seconds.

        What the ways return isn't read: `.numpy()` would copy it, which for large outputs takes longer than many ops.
        """
        self.check()

        def seconds(way: Callable, calls: int) -> float:
            start = time.perf_counter()
            for _ in range(calls):
                way()
            return (time.perf_counter() - start) / calls / self.nodes

        timed = {
            name: partial(
                seconds, way, max(1, round(span / seconds(way, 3) / self.nodes))
            )
            for name, way in self.ways.items()
        }
        return timed_turns(self.columns, timed, rounds)


def run_turns(
    cases: Callable[..., Iterable[Case]],
    notes: Iterable[str],
    rounds: int = 41,
    span: float = 0.05,
    threads: bool = False,
) -> None:
    """The command of a bench: measures its cases, writes the table beside the bench, and prints it.

    Args:
      cases: A function of the bench that gives its cases one by one; of a number of threads, if `threads`.
      notes: Lines above the table, on how it was measured.
      rounds: How many, unless the command line says otherwise.
      span: For how many seconds a way is called in each, likewise.
      threads: Whether to measure with one thread and with one for each core, each in a process of its own.
    """
    module = sys.modules[cases.__module__]
    bench = module.__file__
    options = command_line(bench, module.__doc__, rounds, span).parse_args()
    first_lines = heading_of(
        bench,
        options,
        [
            *notes,
            "ratio: to the first way of the case in the same round, with median, q1 and q3",
            f"settings: {settings()}",
        ],
    )
    if threads:
        rows = []
        for number in sorted({1, cores()}):
            given = cases, number, options.rounds, options.span
            rows += in_process(rows_with_threads, *given)
    else:
        rows = rows_of(cases(), options.rounds, options.span)
    write(options.output, first_lines, rows)
    print(options.output.read_text(), end="")


def rows_of(cases: Iterable[Case], rounds: int, span: float) -> list[dict]:
    return [row for case in cases for row in case.rows(rounds, span)]


def rows_with_threads(
    cases: Callable[[int], Iterable[Case]], threads: int, rounds: int, span: float
) -> list[dict]:
    """The rows with so many threads of TensorFlow, which is to have done nothing before."""
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    rows = rows_of(cases(threads), rounds, span)
    return [{"threads": threads} | row for row in rows]


def traced(way: Callable, *inputs: object) -> Callable:
    """A way in a `tf.function`, as a function of no arguments that returns a list."""
    function = tf.function(lambda *x: tf.nest.flatten(way(*x)), autograph=False)
    return partial(function.get_concrete_function(*inputs), *inputs)


def compiled_by_xla(way: Callable) -> Callable:
    """A way in a `tf.function` that XLA compiles."""
    return tf.function(way, autograph=False, jit_compile=True)


def trained(way: Callable) -> Callable:
    """A way and its gradient with respect to the first input: of the inputs and, if known, of what flows back."""

    def both(x: tf.Tensor, *more: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = way(x)
        return y, tape.gradient(y, x, *more)

    return both


def differentiated(way: Callable) -> Callable:
    """The gradient of a function of one tensor."""
    return lambda x: trained(way)(x)[1]
