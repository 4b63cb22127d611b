"""The solution of the exercise: which tensors go from one device to another."""

import tensorflow as tf


def is_signal(node) -> bool:
    """Whether a node stands for a control dependency: a constant without elements, after another node."""
    after = any(name.startswith("^") for name in node.input)
    return (
        node.op == "Const"
        and after
        and tf.make_ndarray(node.attr["value"].tensor).size == 0
    )


def crossings(graphs) -> set[tuple[str, str, str]]:
    """Returns for each tensor that travels the name of its node, the device it leaves, and the one that it goes to."""
    found = set()
    for graph in graphs:
        nodes = {node.name: node for node in graph.node}
        for node in graph.node:
            if node.op in ("_Send", "_HostSend"):
                sender = nodes[node.input[0].partition(":")[0]]
                if not is_signal(sender):
                    ends = [
                        node.attr[name].s.decode()
                        for name in ("send_device", "recv_device")
                    ]
                    found.add(
                        (sender.name, *(end.rpartition("device:")[2] for end in ends))
                    )
    return found
