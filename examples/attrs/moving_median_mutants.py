"""Wrong variants of MovingMedian, on which the test that the page shows must fail."""

from moving_median import moving_median


def takes_even_windows(signal, window=3):
    return moving_median(signal, window | 1)


def does_not_say_the_window(signal, window=3):
    raise ValueError("window must be odd")


MUTANTS = {
    "test_an_even_window_is_refused": {
        "moving_median.moving_median": [takes_even_windows, does_not_say_the_window]
    }
}
