"""A wrong variant of an op, on which the test that the page shows must fail."""

from lists import weighted_sum


def adds_backwards(inputs, weights):
    return weighted_sum(inputs[::-1], weights[::-1])


MUTANTS = {
    "test_each_product_and_each_sum_is_rounded": {
        "lists.weighted_sum": [adds_backwards]
    },
}
