"""The one list of the checks: a new one is an entry here and a function in `opcheck.checks`."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One of the checks.

    Attributes:
      name: Its name, and that of its function, whose docstring says what it does.
      module: Of `opcheck.checks`, which has the function.
      chapter: The page that explains its failures, or page#section.
      worker: The worker that it shares with others. There the function takes the Subject and the
        Findings. None: it runs in the caller's process and starts workers itself. There it takes what
        makes a `children.Child`, the `run.Call` and the Findings.
      by_name: Whether it runs only where somebody names it.
    """

    name: str
    module: str
    chapter: str
    worker: str | None = "most"
    by_name: bool = False

    @property
    def function(self) -> Callable:
        """Imports it, and with it TensorFlow."""
        module = importlib.import_module(f"opcheck.checks.{self.module}")
        return getattr(module, self.name)

    @property
    def summary(self) -> str:
        """What it does."""
        return " ".join(self.function.__doc__.split())


REFUSE = "zero_out#refuse-bad-input"
CHECKS = {
    check.name: check
    for check in (
        Check("reference", "reference", "checks#check-reference"),
        Check("eager_vs_graph", "graphs", "shape_functions"),
        Check("static_shape", "shapes", "shape_functions"),
        Check("dtypes", "dtypes", "types"),
        Check("empty", "robust", REFUSE, worker=None),
        Check(
            "gradient",
            "gradient",
            "multi_output#the-gradient-function",
            worker="gradient",
        ),
        Check("determinism", "fresh", "checks#check-determinism", worker=None),
        Check("concurrency", "threads", "runs", worker="threads"),
        Check("bounds", "robust", "checks#check-bounds", worker=None),
        Check("leaks", "threads", "checks#check-leaks", worker="threads"),
        Check("immutability", "immutability", "checks#check-immutability"),
        Check("saved_model", "fresh", "backward_compatibility", worker=None),
        Check("devices", "transforms", "gpu", worker="gpu"),
        Check("vectorize", "transforms", "multi_output"),
        Check("xla", "transforms", "checks#check-xla"),
        Check("bad_input", "robust", REFUSE, worker=None),
        Check("schema", "schema", "attrs"),
        Check(
            "large_tensors",
            "large",
            "checks#check-large-tensors",
            worker="large",
            by_name=True,
        ),
    )
}
NAMES = tuple(name for name, check in CHECKS.items() if not check.by_name)
BY_NAME = tuple(name for name, check in CHECKS.items() if check.by_name)
