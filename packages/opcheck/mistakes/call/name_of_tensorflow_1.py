# [wrong]
import tensorflow as tf

tf.NotDifferentiable("YourOp")
# [cured]
import tensorflow as tf  # noqa: F811

tf.no_gradient("YourOp")
