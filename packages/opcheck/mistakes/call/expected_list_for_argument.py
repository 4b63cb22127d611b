from your_ops import your_concat

# [wrong]
your_concat(3.0)
# [cured]
your_concat([3.0, 4.0])
