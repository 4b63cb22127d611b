"""Wrong variants of what the graph of version 1 becomes, on which the test that the page shows must fail."""

import tensorflow as tf
from read_v1 import graph_function, read_graph


def gives_another_result(graph):
    function = graph_function(graph)
    return lambda signal: 1.001 * function(signal)


def lacks_an_op(path):
    graph = read_graph(path)
    kept = [node for node in graph.node if node.op != "Rectify"]
    return tf.compat.v1.GraphDef(node=kept)


MUTANTS = {
    "test_the_golden_graph_still_gives_its_result": {
        "read_v1.graph_function": [gives_another_result],
        "read_v1.read_graph": [lacks_an_op],
    }
}
