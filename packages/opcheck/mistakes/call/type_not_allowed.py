from your_ops import your_op

# [wrong]
your_op([1, 2])
# [cured]
your_op([1.0, 2.0])
