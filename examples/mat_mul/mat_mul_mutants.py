"""A product with another gradient, on which the test that the page shows must fail."""

from mat_mul import mat_mul


def doubled(*arguments):
    return 2 * mat_mul(*arguments)


MUTANTS = {"test_gradient_of_the_four_cases": {"mat_mul.mat_mul": [doubled]}}
