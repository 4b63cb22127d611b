"""A wrong bridge to the gradients in C++, on which the tests of the function that the page shows must fail."""

from cc_gradients import cpp_gradient


def doubles_the_gradients(*arguments):
    return [2 * gradient for gradient in cpp_gradient(*arguments)]


MUTANTS = {
    "test_gradient_by_cpp_gradient_alone": {
        "cc_gradients.cpp_gradient": [doubles_the_gradients]
    }
}
