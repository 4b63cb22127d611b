"""Check whether saved models are safe with the ops that this process has loaded."""

from pathlib import Path
from typing import NamedTuple

from op_library import load_op_library
from tensorflow.core.framework.op_def_pb2 import OpDef
from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

_library = load_op_library(
    Path(__file__).with_name("libop_def_check.so"), "check_op_def"
)


class Verdict(NamedTuple):
    """The complaint of each check, empty where there is none."""

    compatible: str
    defaults: str
    added_defaults: str


def check_op_def(old: OpDef, between: OpDef | None = None) -> Verdict:
    """Compares an older definition of an op with the one that is registered.

    Args:
      old: The op as it was.
      between: The op as it was in a version after that, if there was one.

    Raises:
      tf.errors.NotFoundError: No op of that name is registered.
      tf.errors.InvalidArgumentError: A definition is not valid, or they are of two ops.
    """
    messages = _library.check_op_def(
        old.SerializeToString(), (between or old).SerializeToString()
    )
    return Verdict(*(message.numpy().decode() for message in messages))


def op_defs(saved_model: Path) -> dict[str, OpDef]:
    """The definitions of a SavedModel's ops when it was written, by name."""
    model = SavedModel.FromString((saved_model / "saved_model.pb").read_bytes())
    ops = model.meta_graphs[0].meta_info_def.stripped_op_list.op
    return {op.name: op for op in ops}
