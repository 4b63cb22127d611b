"""The tables of the page on the checks and options of opcheck, made of its own code."""

import ast
import inspect
import re
from collections.abc import Callable

import opcheck
from opcheck import CHECKS, fuzzing, strategies
from pictures.anchors import entries, marked

# Of each check, a bug that somebody has reported: where, and what.
BUGS = """
reference | OpenNMT/CTranslate2/issues/351 | wrong in the last, shorter block of a vectorized loop
eager_vs_graph | NVIDIA-Merlin/distributed-embeddings/pull/6 | Python around the ops computes with `.shape`, which \
holds `None` in a graph
static_shape | tensorflow/tensorflow/issues/31361 | `UniqueV2` infers rank 1 whatever the input's
dtypes | tensorflow/tensorflow/issues/2225 | `Log` is documented for `int32` and has no kernel for it
empty | tensorflow/tensorflow/issues/42248 | `reverse` of a tensor without rows ends the process
gradient | tensorflow/tensorflow/issues/11091 | the second derivative of `2 * elu(-x)` is half of the right one
determinism | tensorflow/tensorflow/issues/39751 | `unsorted_segment_sum` on the GPU: other sums at every run
concurrency | tensorflow/tensorflow/issues/22750 | a kernel stores a pointer to its input in a member
bounds | tensorflow/tensorflow/issues/64642 | `AvgPoolGrad` reads past the end of its input
leaks | tensorflow/tensorflow/issues/17155 | each `unique` on the GPU takes more memory
immutability | tensorflow/tensorflow/pull/43577 | a fused convolution writes into an input that other ops read, too
saved_model | tensorflow/recommenders/issues/297 | a model loads in the script that saved it, and in no other
devices | tensorflow/tensorflow/issues/57170 | an index out of range: an error on the CPU, a result on the GPU
vectorize | tensorflow/tensorflow/issues/43322 | `vectorized_map` over `abs` fails for `complex128`
xla | tensorflow/tensorflow/issues/118178 | another result with `jit_compile=True`
bad_input | tensorflow/tensorflow/issues/45770 | `histogram_fixed_width` of a NaN ends the process
schema | tensorflow/models/issues/5400 | a published model does not load: an attr is missing
"""
GROUPS = {
    "values": "reference eager_vs_graph dtypes vectorize xla devices",
    "shapes": "static_shape gradient",
    "errors": "empty bad_input bounds",
    "calls": "concurrency determinism immutability leaks",
    "models": "saved_model schema",
}
# From what somebody wants to the options of `opcheck.check`.
RECIPES = {
    "A function in NumPy does the same": "reference=np.cumsum",
    "My op is random": "nondeterministic=True",
    "It adds in another order than the reference": 'tolerances={"float32": (1e-4, 1e-6)}',
    "For NaN and infinities it may return anything": "special_values=False",
    "It must have a gradient": "gradient=True",
    "Its gradient is only approximate": "gradient_tolerance=0.1",
    "It runs on the GPU": "gpu=True",
    "It takes inputs of several kinds": "samples=[(x, 1), (y, 2)]",
    "One of its attrs is called like an option": 'attrs={"timeout": 3}',
    "My function calls several ops; check this one": 'op_types=["KeepFirst"]',
    "Graphs with its last version must load": "old_op_def=old",
    "It need not pass this check": 'skip={"xla": "no jit_compile in our models"}',
    "I know this bug, and will fix it later": 'expected_failures={"xla": "not compilable"}',
    "It promises something that no check asks": "extra=[idempotent]",
    "It computes for minutes": "timeout=600",
    "It needs 20 GiB of memory": "memory=20 << 30",
    "I want a first look": "fast=True",
    "I want one check alone": 'checks=["gradient"]',
    "I want to stop in the kernel with a debugger": "isolate=False",
}
# And what is none of these options.
ELSEWHERE = [
    (
        "It takes only numbers from 0 to 1",
        "[`opcheck.Sample(…)`](#samples) as an input",
    ),
    (
        "I want a test for each check in pytest",
        "[`test_x = opcheck.testing.op_test(x, *inputs)`](opcheck.md)",
    ),
    ("I want thousands of other inputs", "[`opcheck.fuzz(…)`](#generated-calls-fuzz)"),
]
CHECK_OPTIONS = {
    "which": "checks skip expected_failures fast raise_on_failure",
    "what": "attrs samples",
    "right": "reference tolerances nondeterministic special_values gradient gradient_tolerance delta old_op_def",
    "how": "repeats concurrency_seconds timeout memory gpu isolate",
    "own": "op_types extra",
}
FUZZ_OPTIONS = (
    "examples seconds variations thorough seed reference tolerances nondeterministic skip timeout memory "
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


def recipes() -> Table:
    """What to write for an op of some kind, with a link to what it is.

    Raises:
      TypeError: `opcheck.check` has no such option.
    """
    rows = []
    for want, options in RECIPES.items():
        call = ast.parse(f"check(op, {options})", mode="eval").body
        names = [keyword.arg for keyword in call.keywords]
        if unknown := set(names) - inspect.signature(opcheck.check).parameters.keys():
            raise TypeError(f"opcheck.check has no option {unknown}")
        anchor = f"option-{names[0].replace('_', '-')}"
        rows.append((want, f'<a href="#{anchor}">`{options}`</a>'))
    return ["When", "Write"], [*rows, *ELSEWHERE]


def checks(group: str) -> Table:
    """The checks of a group, with a bug of the kind where one is known.

    Raises:
      ValueError: A check is in no group.
    """
    if CHECKS.keys() != set(" ".join(GROUPS.values()).split()):
        raise ValueError(f"GROUPS has other checks than opcheck: {' '.join(CHECKS)}")
    rows, bugs = [], {name: bug for name, *bug in entries(BUGS)}
    for name in GROUPS[group].split():
        says = folded(CHECKS[name].summary)
        if name in bugs:
            address, what = bugs[name]
            owner, repository, _, number = address.split("/")
            where = "" if repository == "tensorflow" else f"{owner}/{repository} "
            link = f"[{where}#{number}](https://github.com/{address})"
            says += f"{'' if says.endswith('>') else '<br>'}*Once: {what}* ({link})"
        rows.append((marked(f"check-{name}", f"`{name}`"), says))
    return ["Check", "What it does"], rows


def folded(text: str) -> str:
    """The first sentence, with the others to be unfolded if the text is long."""
    first, _, rest = text.partition(". ")
    if len(text) < 240:
        return text
    return f"{first}.<details><summary>More</summary>{rest}</details>"


def check_options(group: str) -> Table:
    return options(
        opcheck.check, CHECK_OPTIONS[group], " ".join(CHECK_OPTIONS.values())
    )


def fuzz_options() -> Table:
    return options(fuzzing.fuzz, FUZZ_OPTIONS, FUZZ_OPTIONS)


def options(function: Callable, shown: str, known: str) -> Table:
    """The options of a function to show, from its signature and docstring; the page has to show all that are known."""
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
            marked(
                f"{function.__name__ if function is fuzzing.fuzz else 'option'}-{name}",
                f"`{name}={gigabytes.get(defaults[name], repr(defaults[name]))}`",
            ),
            folded(" ".join(purposes[name].split())),
        )
        for name in shown.split()
    ]


def strategies_of_opcheck() -> Table:
    rows = []
    for name in ("calls", "tensors", "texts", "shapes", "mostly"):
        function = getattr(strategies, name)
        parameters = inspect.signature(function).parameters.values()
        texts = (str(x.replace(annotation=x.empty)) for x in parameters)
        purpose = inspect.getdoc(function).partition("\n")[0].rstrip(".")
        rows.append((f"`{name}({', '.join(texts)})`", purpose))
    return ["Strategy", "For"], rows
