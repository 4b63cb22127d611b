"""Connected components of an undirected graph."""

import numpy as np
import tensorflow as tf


def load(path):
    """Loads the library and returns the op as a function."""
    lib = tf.load_op_library(path)

    def component_labels(edges, *, num_nodes):
        """Returns the smallest node of the component of each node, and the number of components."""
        return lib.ua_component_labels(edges, num_nodes=num_nodes)

    return component_labels


def sample():
    """A typical call."""
    edges = np.array([[0, 1], [1, 2], [3, 4], [4, 5], [6, 6]], np.int64)
    return [edges], {"num_nodes": 8}


def reference(edges, *, num_nodes):
    """The same in NumPy."""
    edges = np.asarray(edges)
    if edges.ndim != 2 or edges.shape[1] != 2 or num_nodes < 0:
        raise ValueError("edges must be [num_edges, 2]")
    if ((edges < 0) | (edges >= num_nodes)).any():
        raise ValueError("edges out of range")
    labels = np.arange(num_nodes, dtype=np.int64)
    for _ in range(num_nodes):
        before = labels.copy()
        for u, v in edges:
            labels[u] = labels[v] = min(labels[u], labels[v])
        if (before == labels).all():
            break
    return labels, np.int64(len(set(labels)))
