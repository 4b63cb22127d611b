"""A random sample of all values seen, which checkpoints hold with its random numbers."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

library = load_op_library(
    Path(__file__).with_name("libstate_sample.so"),
    "anonymous_sample",
    "named_sample",
    "add_to_sample",
    "read_sample",
    "write_sample",
)
SAVED = ("values", "priorities", "seen", "seed")


class Sample(tf.saved_model.experimental.TrackableResource):
    """Keeps a random sample of the values that are added, each as likely as any other.

    Args:
      capacity: How many values it keeps, at least 1.
      seed: Of the random numbers. Restoring a checkpoint replaces it.
    """

    def __init__(self, capacity: int, seed: int = 0) -> None:
        super().__init__(device="CPU")
        self.capacity, self.seed = capacity, seed
        _ = self.resource_handle  # makes the sample

    def _create_resource(self) -> tf.Tensor:
        return library.anonymous_sample(capacity=self.capacity, seed=self.seed)

    def add(self, values) -> tf.Operation | None:
        """Shows float32 values of any shape to the sample."""
        return library.add_to_sample(self.resource_handle, values)

    def values(self) -> tf.Tensor:
        """The values that it keeps, in random order."""
        return library.read_sample(self.resource_handle).values

    def _serialize_to_tensors(self) -> dict[str, tf.Tensor]:
        return library.read_sample(self.resource_handle)._asdict()

    def _restore_from_tensors(self, restored: dict[str, tf.Tensor]):
        return library.write_sample(
            self.resource_handle, *[restored[name] for name in SAVED]
        )
