"""The tables of the page on shape calls: what each call is for, and what it gave to the op that made it."""

import re
from collections.abc import Sequence
from pathlib import Path

import tensorflow as tf
from measured import REPOSITORY
from pictures.anchors import entries, marked

PURPOSES = {
    "WithRank": "demands a rank",
    "WithRankAtLeast": "demands a smallest rank",
    "WithRankAtMost": "demands a largest rank",
    "WithValue": "demands a size",
    "Merge": "demands that two shapes or two sizes are equal, and gives what is known of either",
    "MergePrefix": "demands that a shape begins with another, and gives what is known of both; the columns show `out`",
    "Add": "adds sizes",
    "Subtract": "subtracts a size",
    "Multiply": "multiplies sizes",
    "Divide": "divides and rounds down; or demands that nothing is left over",
    "Min": "the smaller of two sizes",
    "Max": "the larger of two sizes",
    "Concatenate": "one shape behind the other",
    "Subshape": "some of the dimensions: from a start, up to an end, in steps; negative numbers count from the end",
    "ReplaceDim": "exchanges one dimension",
    "Scalar": "the shape of a scalar",
    "Vector": "a shape of one dimension",
    "Matrix": "a shape of two dimensions",
    "MakeShape": "a shape of the dimensions that you list",
    "UnknownShape": "a shape of which nothing is known",
    "UnknownShapeOfRank": "a shape of which only the rank is known",
    "MakeDim": "a dimension of a size",
    "UnknownDim": "a dimension whose size is not known",
    "MakeShapeFromTensorShape": "from the class of wholly known shapes",
    "MakeShapeFromPartialTensorShape": "from the class of partly known shapes, where −1 is not known",
    "MakeShapeFromShapeProto": "from the form in which graphs and attrs hold shapes",
    "num_inputs": "how many input tensors the op has",
    "num_outputs": "how many output tensors it has",
    "input": "the shape of an input",
    "RankKnown": "whether the rank is known",
    "Rank": "the rank, or −1",
    "Dim": "one dimension; negative numbers count from the end",
    "ValueKnown": "whether a size is known",
    "Value": "a size, or −1",
    "FullyDefined": "whether the rank and all sizes are known",
    "NumElements": "the product of all sizes, as a dimension",
    "DebugString": "the text of a shape, for a message or the log",
    "input_tensor": "the value itself, or a null pointer where not all of it is known",
    "MakeShapeFromShapeTensor": "the value as a shape",
    "MakeShapeFromShapeTensorTreatScalarAsUnknownShape": "the same; a scalar −1 is a shape of which nothing is known",
    "MakeDimForScalarInput": "the value as a size",
    "MakeDimForScalarInputWithNegativeIndexing": "the value as the number of a dimension, here of three, or negative",
}
READY = """
UnchangedShape | Sigmoid | the shape of the first input
MergeBothInputsShapeFn | ReluGrad | the shape of both inputs, which must be the same
BroadcastBinaryOpShapeFn | AddV2 | the broadcast shape of two inputs, as in `x + y`
ScalarShape | TensorMapSize | the shape of a scalar
NoOutputs | WriteScalarSummary | nothing: there is no output
UnknownShape | PyFunc | a shape of which nothing is known
ExplicitShape | VariableV2 | the shape in the attr `shape`
RandomShape | RandomUniform | the shape that the first input holds
ReductionShape | Sum | the input, reduced over the dimensions that the second input holds; the attr `keep_dims` \
keeps them as 1
ConcatV2Shape | ConcatV2 | the inputs, joined along the dimension that the last input holds
SliceShape | Slice | a part of the input; the second and third input hold where it begins and its size
GatherNdShape | GatherNd | elements or slices of the input; the second input holds their places
SegmentReductionWithNumSegmentsShapeFn | UnsortedSegmentSum | slices reduced by segment; the third input holds how \
many
MatMulShape | MatMul | the product of two matrices, with `transpose_a` and `transpose_b`
BatchMatMulV2Shape | BatchMatMulV2 | products of matrices, with `adj_x` and `adj_y`; the batch dimensions are \
broadcast
EinsumShape | Einsum | what the attr `equation` says
BiasAddShape | BiasAdd | the first input; the second is a vector as long as its channels
"""
# An op of the book, the calls that make its output, and what this is: the others are checks of its own.
IN_THE_BOOK = """
Extremes | WithRankAtLeast Subshape | the input without its last dimension
MedianFilter | WithRankAtLeast Dim Subtract ReplaceDim | the input with another last dimension
ExtremesGrad | MakeDimForScalarInput Vector Concatenate | the input with one more dimension, whose size is the \
value of an input
CropOrPad | MakeShapeFromShapeTensor | the shape that is the value of an input
CrossFeatures | WithRank Dim Merge Multiply Matrix | two matrices with equally many rows; the columns are multiplied
WeightedSum | num_inputs Merge | a list of inputs of one shape
KeepRows | UnknownDim WithRankAtLeast RankKnown ReplaceDim | a list of outputs, of which nobody knows the number of \
rows
"""
ON_EACH = ["`s` is `[2,3]`", "`s` is `[?,3]`", "`s` is `?`"]
VECTORS = ["(2, 3)", "(2, -1)", "(2, ?)", "a vector of two"]
SCALARS = ["4", "-1", "a scalar", "nothing"]
library = tf.load_op_library("examples/shape_functions/libshape_calls.so")

Table = tuple[list[str], list[list[str]]]  # header and rows


def rows(name: str) -> list[list[str]]:
    """One of the tables that the op has made."""
    values = library.shape_calls(table=name).numpy()
    return [[cell.decode() for cell in row] for row in values]


def calls(name: str) -> Table:
    """Calls on each of the three shapes."""
    return table_of(rows(name), ON_EACH)


def calls_on_values(known: Sequence[str]) -> Table:
    """Calls that ask for the value of an input, of which so much is known."""
    (call, kind, *names), *found = rows("value")
    wanted = [names.index(name) for name in known]
    if known == VECTORS:
        found = found[:3]  # the others are for scalars
    chosen = [[row[0], row[1], *(row[2 + i] for i in wanted)] for row in found]
    return table_of(
        chosen,
        [x if x.isalpha() or x[0] == "a" else f"`{x}`" for x in known],
        "vector" if known == VECTORS else "scalar",
    )


def table_of(
    found: list[list[str]], header: Sequence[str], anchors: str = "call"
) -> Table:
    """Of each call its text, what it is for, the kind of its result, and the results."""
    shown, purposes = [], dict(PURPOSES)
    for call, kind, *results in found:
        name = call.partition("(")[0]
        anchor = f"{anchors}-{name}" if name in purposes else f"{anchors}-{call}"
        purpose = purposes.pop(name, "")
        call = re.sub(r"(Divide.*, )(?=true|false)", r"\1/*evenly_divisible=*/", call)
        kind = kind if kind in ("shape", "dimension") else f"`{kind}`"
        shown.append(
            [marked(anchor, f"`{call}`"), purpose, kind, *map(styled, results)]
        )
    return ["Call", "What it is for", "Gives", *header], shown


def styled(result: str) -> str:
    """Shapes and sizes as code; an error as it is."""
    code = re.fullmatch(r"[\[\]?\d,-]+|true|false|nullptr", result)
    return f"`{result}`" if code else result


def users() -> dict[str, list[str]]:
    """From the ready shape functions to the ops that have them."""
    return {
        name.partition("(")[0].rpartition("::")[2]: ops.split()
        for name, ops in rows("ready")
    }


def ready() -> Table:
    ops = users()
    header = ["You want", "Ready shape function", "For example"]
    for name, op, _ in entries(READY):
        assert op in ops[name], name
    return header, [
        [marked(f"ready-{name}", says), f"`{name}`", f"`{op}`"]
        for name, op, says in entries(READY)
    ]


def fatal() -> Table:
    header = ["Ends the process", "Returns a status, which says"]
    return header, [
        [marked(f"fatal-{call}", f"`{call}`"), f"`{instead}`: {message}"]
        for call, words, instead, message in rows("fatal")
        if words != "goes on"
    ]


def in_the_book() -> Table:
    """Ops of the book, and the calls with which their shape functions make the output."""
    found = {}
    for path in sorted(Path("examples").glob("*/*.cc")):
        parts = re.split(
            r'^REGISTER_OP\(\s*"(?:\w+>)?(\w+)"', path.read_text(), flags=re.M
        )
        for op, text in zip(parts[1::2], parts[2::2]):
            text = text.partition("REGISTER_KERNEL")[0].partition(": public")[0]
            names = set(re.findall(r"\bcontext->\s*(\w+)\(", text))
            found[op] = [f"[`{op}`]({REPOSITORY}/{path})", names]
    header = ["You want", "The calls", "A shape function that does it"]
    rows = []
    for op, calls, wanted in entries(IN_THE_BOOK):
        link, names = found[op]
        assert names.issuperset(calls.split()), op
        shown = ", ".join(f"`{call}`" for call in calls.split())
        rows.append([marked(f"op-{op}", wanted), shown, link])
    return header, rows
