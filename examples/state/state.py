"""The Python side: a table that numbers keys, which checkpoints and SavedModels hold."""

from pathlib import Path

import tensorflow as tf
from op_library import load_op_library

library = load_op_library(
    Path(__file__).with_name("libstate.so"),
    "anonymous_key_table",
    "named_key_table",
    "number_keys",
    "read_keys",
    "write_keys",
)


class KeyTable(tf.saved_model.experimental.TrackableResource):
    """Numbers keys in the order in which they come first: 0, 1, 2 …

    Args:
      dtype: Of the keys: tf.string or tf.int64.
      shared_name: None or empty: the table goes away with its last handle. A name: all
        objects of this name and dtype in a process are one table, which stays until it is
        destroyed. `tf.saved_model.load` changes the name: each loaded model has a table of
        its own.
    """

    def __init__(self, dtype=tf.string, shared_name: str | None = None) -> None:
        super().__init__(device="CPU")
        self.dtype = tf.as_dtype(dtype)
        self._shared_name = shared_name
        _ = self.resource_handle  # makes the table

    def _create_resource(self) -> tf.Tensor:
        if not self._shared_name:
            return library.anonymous_key_table(T=self.dtype)
        return library.named_key_table(T=self.dtype, shared_name=self._shared_name)

    def __call__(self, keys, add: bool = True) -> tf.Tensor:
        """The number of each key, see `number_keys`."""
        # Python numbers become int64, not int32; an empty list becomes what the table holds.
        keys = tf.convert_to_tensor(keys, dtype_hint=self.dtype)
        return library.number_keys(self.resource_handle, keys, add=add)

    def keys(self) -> tf.Tensor:
        """All keys, in the order of their numbers: a vector.

        Raises:
          tf.errors.NotFoundError: The table had only a name, and was destroyed.
        """
        return library.read_keys(self.resource_handle, T=self.dtype)

    def set_keys(self, keys) -> tf.Operation | None:
        """Replaces all keys by those of a vector without duplicates.

        Raises:
          tf.errors.InvalidArgumentError: `keys` is not a vector, or has duplicates.
        """
        keys = tf.convert_to_tensor(keys, dtype_hint=self.dtype)
        return library.write_keys(self.resource_handle, keys)

    def _serialize_to_tensors(self) -> dict[str, tf.Tensor]:
        return {"keys": self.keys()}

    def _restore_from_tensors(self, restored: dict[str, tf.Tensor]):
        return self.set_keys(restored["keys"])


def number_keys(keys, table: KeyTable | None = None, add: bool = True) -> tf.Tensor:
    """The number of each key in a table.

    Args:
      keys: A tensor, or what converts to one: any shape; string or int64, as the table.
      table: None: a new one, which nobody else sees.
      add: Whether a key that is not there is added, with the next number; else it gets -1.

    Returns:
      int64, of the shape of `keys`.

    Raises:
      tf.errors.InvalidArgumentError: Keys of another dtype than the table's.
      tf.errors.NotFoundError: The table had only a name, and was destroyed.
    """
    if table is None:
        keys = tf.convert_to_tensor(keys, dtype_hint=tf.int64)
        table = KeyTable(keys.dtype)
    return table(keys, add)


tf.no_gradient("NumberKeys")
