"""For whom a kernel has run, by its call stack."""

from call_stack import Stack, layers


def origin(stack: Stack) -> str:
    """Returns "eager call", "graph", "optimizer" or "input pipeline"."""
    through = layers(stack)
    if "optimizer" in through:
        return "optimizer"
    if stack.thread.startswith("tf_data"):
        return "input pipeline"
    return "eager call" if "Python" in through else "graph"
