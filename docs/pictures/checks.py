"""The tables of the page on the checks and options of opcheck, made of its own code."""

import inspect
import re
from collections.abc import Callable

import opcheck
from opcheck import CHECKS, fuzzing, strategies

# Of each check, a bug that somebody has reported: where, and what.
BUGS = {
    "reference": (
        "OpenNMT/CTranslate2/issues/351",
        "wrong in the last, shorter block of a vectorized loop",
    ),
    "eager_vs_graph": (
        "NVIDIA-Merlin/distributed-embeddings/pull/6",
        "Python around the ops computes with `.shape`, which holds `None` in a graph",
    ),
    "static_shape": (
        "tensorflow/tensorflow/issues/31361",
        "`UniqueV2` infers rank 1 whatever the input's",
    ),
    "dtypes": (
        "tensorflow/tensorflow/issues/2225",
        "`Log` is documented for `int32` and has no kernel for it",
    ),
    "empty": (
        "tensorflow/tensorflow/issues/42248",
        "`reverse` of a tensor without rows ends the process",
    ),
    "gradient": (
        "tensorflow/tensorflow/issues/11091",
        "the second derivative of `elu` is half of the right one",
    ),
    "determinism": (
        "tensorflow/tensorflow/issues/39751",
        "`unsorted_segment_sum` on the GPU: other sums at every run",
    ),
    "concurrency": (
        "tensorflow/tensorflow/issues/22750",
        "a kernel stores a pointer to its input in a member",
    ),
    "bounds": (
        "tensorflow/tensorflow/issues/64642",
        "`AvgPoolGrad` reads past the end of its input",
    ),
    "leaks": (
        "tensorflow/tensorflow/issues/17155",
        "each `unique` on the GPU takes more memory",
    ),
    "immutability": (
        "tensorflow/tensorflow/pull/43577",
        "a fused convolution writes into an input that other ops read, too",
    ),
    "saved_model": (
        "tensorflow/recommenders/issues/297",
        "a model loads in the script that saved it, and in no other",
    ),
    "devices": (
        "tensorflow/tensorflow/issues/57170",
        "an index out of range: an error on the CPU, a result on the GPU",
    ),
    "vectorize": (
        "tensorflow/tensorflow/issues/43322",
        "`vectorized_map` over `abs` fails for `complex128`",
    ),
    "xla": (
        "tensorflow/tensorflow/issues/118178",
        "another result with `jit_compile=True`",
    ),
    "bad_input": (
        "tensorflow/tensorflow/issues/45770",
        "`histogram_fixed_width` of a NaN ends the process",
    ),
    "schema": (
        "tensorflow/models/issues/5400",
        "a published model does not load: an attr is missing",
    ),
}
CHECK_OPTIONS = {
    "which": "checks skip expected_failures fast raise_on_failure",
    "what": "attrs samples",
    "right": "reference tolerances nondeterministic special_values gradient gradient_tolerance delta old_op_def",
    "how": "repeats concurrency_seconds timeout memory gpu isolate",
    "own": "op_types extra",
}
FUZZ_OPTIONS = (
    "examples seconds variations thorough seed reference tolerances skip timeout memory "
    "gpu progress"
)
REPORT = "ok failures summary() assert_ok()"

Table = tuple[list[str], list[tuple]]  # header and rows


def report() -> Table:
    """What a report has."""
    rows = [
        (f"`{call}`", inspect.getdoc(getattr(opcheck.Report, call.removesuffix("()"))))
        for call in REPORT.split()
    ]
    rows.append(("`line`, after `fuzz`", inspect.getdoc(fuzzing.FuzzReport.line)))
    return ["Of a report", "What it is or does"], rows


def checks(*names: str) -> Table:
    """Checks, each with a link to a bug of its kind."""
    if BUGS.keys() != CHECKS.keys():
        raise ValueError(f"without a bug, or no check: {BUGS.keys() ^ CHECKS.keys()}")
    rows = []
    for name in names:
        address, what = BUGS[name]
        owner, repository, _, number = address.split("/")
        where = "" if repository == "tensorflow" else f"{owner}/{repository} "
        link = f"[{where}#{number}](https://github.com/{address})"
        rows.append((f"`{name}`", CHECKS[name].summary, f"{what} ({link})"))
    return ["Check", "What it does", "A bug of this kind"], rows


def check_options(group: str) -> Table:
    return options(
        opcheck.check, CHECK_OPTIONS[group], " ".join(CHECK_OPTIONS.values())
    )


def fuzz_options() -> Table:
    return options(fuzzing.fuzz, FUZZ_OPTIONS, FUZZ_OPTIONS)


def options(function: Callable, shown: str, known: str) -> Table:
    """Options of a function, from its signature and docstring.

    Args:
      function: Where they are.
      shown: The names of those to show.
      known: The names of all that the page shows.

    Raises:
      ValueError: The page does not show all.
    """
    parameters = inspect.signature(function).parameters.values()
    defaults = {x.name: x.default for x in parameters if x.default is not x.empty}
    if defaults.keys() != set(known.split()):
        raise ValueError(f"not on the page: {defaults.keys() ^ set(known.split())}")
    _, _, said = inspect.getdoc(function).partition("Args:\n")
    said = re.split(r"\n\n\w+:\n", said)[0]
    purposes = dict(re.findall(r"^  \*?(\w+): (.*(?:\n    .*)*)", said, re.M))
    gigabytes = {number << 30: f"{number} << 30" for number in range(1, 9)}
    return ["Option", "For"], [
        (
            f"`{name}={gigabytes.get(defaults[name], repr(defaults[name]))}`",
            " ".join(purposes[name].split()),
        )
        for name in shown.split()
    ]


def strategies_of_opcheck() -> Table:
    rows = []
    for name in ("calls", "tensors", "shapes", "mostly"):
        function = getattr(strategies, name)
        parameters = inspect.signature(function).parameters.values()
        texts = (str(x.replace(annotation=x.empty)) for x in parameters)
        purpose = inspect.getdoc(function).partition("\n")[0].rstrip(".")
        rows.append((f"`{name}({', '.join(texts)})`", purpose))
    return ["Strategy", "For"], rows
