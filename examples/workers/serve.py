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


def serve_data(dispatcher: str) -> None:
    """Starts a worker of the tf.data service.

    Args:
      dispatcher: The address of its dispatcher, such as "localhost:5000".
    """
    service = tf.data.experimental.service
    config = service.WorkerConfig(dispatcher_address=dispatcher)
    servers.append(service.WorkerServer(config))


def load(library: str) -> None:
    """Loads a library of ops, for all who use this process.

    Args:
      library: Its path.
    """
    tf.load_op_library(library)
