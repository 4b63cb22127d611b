"""Let others run ops in this process."""

import tensorflow as tf

servers = []  # which last as long as the process


def serve() -> str:
    """Starts a server on a port that the system chooses.

    Returns:
      Its address, such as "localhost:40443".
    """
    server = tf.distribute.Server.create_local_server()
    servers.append(server)
    return server.target.removeprefix("grpc://")


def load(library: str) -> None:
    """Loads a library of ops, for all who use this process.

    Args:
      library: Its path.
    """
    tf.load_op_library(library)
