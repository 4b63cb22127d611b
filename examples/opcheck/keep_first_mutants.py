"""Wrong variants of KeepFirst, on which the tests that the page shows must fail."""

from keep_first import keep_first


def keeps_one_more(values, count=1):
    return keep_first(values, count + 1)


MUTANTS = {
    "test_keep_first": {"keep_first.keep_first": [keeps_one_more]},
    "test_keep_first_survives_generated_calls": {
        "keep_first.keep_first": [keeps_one_more]
    },
}
