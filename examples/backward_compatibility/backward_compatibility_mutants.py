"""Wrong variants of what the graph of version 1 becomes, on which the test that the page shows must fail."""

from read_v1 import graph_function


def gives_another_result(graph):
    function = graph_function(graph)
    return lambda signal: 1.001 * function(signal)


MUTANTS = {
    "test_the_golden_graph_still_gives_its_result": {
        "read_v1.graph_function": [gives_another_result],
    }
}
