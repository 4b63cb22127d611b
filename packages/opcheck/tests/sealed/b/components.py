import numpy as np
import tensorflow as tf


def load(path):
    lib = tf.load_op_library(path)
    tf.no_gradient("UbComponents")

    def components(edges, num_nodes):
        """int64 [num_nodes] component labels of int64 [m, 2] undirected edges; num_nodes is an int64 scalar."""
        return lib.ub_components(edges, num_nodes)

    return components


def sample():
    edges = np.array([[0, 1], [1, 2], [3, 4], [6, 5]], np.int64)
    return [edges, np.array(8, np.int64)], {}


def reference(edges, num_nodes):
    edges, num_nodes = np.asarray(edges), np.asarray(num_nodes)
    if edges.ndim != 2 or edges.shape[1] != 2 or num_nodes.ndim != 0 or num_nodes < 0:
        raise ValueError(
            "edges must have shape [m, 2], num_nodes must be a scalar and not negative"
        )
    if np.any(edges < 0) or np.any(edges >= num_nodes):
        raise ValueError("edges out of range")
    labels = np.arange(int(num_nodes), dtype=np.int64)
    for u, v in edges:
        a, b = labels[u], labels[v]
        labels[(labels == a) | (labels == b)] = min(a, b)
    return labels
