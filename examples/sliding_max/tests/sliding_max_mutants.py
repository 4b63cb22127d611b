"""The op with other positions, on which the test that the page shows must fail."""

from sliding_max import sliding_max


def in_the_window(x, window, name=None):
    y, position = sliding_max(x, window, name)
    return y, position % window


MUTANTS = {
    "test_sliding_max_keeps_its_promises": {"sliding_max.sliding_max": [in_the_window]}
}
