"""The solution of the exercise: importing this module registers a rule for Frexp."""

from frexp import frexp
from tensorflow.python.ops.parallel_for import pfor


@pfor.RegisterPFor("Frexp")
def _vectorize_frexp(loop):
    """Each number is taken apart alone, so the stacked inputs are just more numbers."""
    return [pfor.wrap(output, True) for output in frexp(loop.stacked_input(0))]
