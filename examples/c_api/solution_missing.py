"""The ops of a model that a process lacks: the solution of the chapter's exercise."""

from pathlib import Path

from tensorflow.core.protobuf.saved_model_pb2 import SavedModel


def missing(folder: Path, known: set[str]) -> set[str]:
    """The names of the ops that a SavedModel needs and that are not known."""
    model = SavedModel.FromString((folder / "saved_model.pb").read_bytes())
    described = (graph.meta_info_def for graph in model.meta_graphs)
    return {op.name for one in described for op in one.stripped_op_list.op} - known
