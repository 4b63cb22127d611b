"""Rules by which TensorFlow vectorizes Extremes and ExtremesGrad.

Importing this module registers them.
The registry is not part of TensorFlow's public interface: any release can change it.
"""

from multi_output import extremes, extremes_grad
from tensorflow.python.ops.parallel_for import pfor


@pfor.RegisterPFor("Extremes")
def _vectorize_extremes(loop):
    """One call with all iterations' inputs, stacked along a new first axis."""
    outputs = extremes(loop.stacked_input(0))
    return [pfor.wrap(output, True) for output in outputs]


@pfor.RegisterPFor("ExtremesGrad")
def _vectorize_extremes_grad(loop):
    """As above. Inputs that are not stacked get stacked, except columns."""
    loop.stack_inputs([0, 1, 2, 3])
    stacked = [loop.stacked_input(i) for i in range(4)]
    columns = loop.unstacked_input(4)
    return pfor.wrap(extremes_grad(*stacked, columns), True)
