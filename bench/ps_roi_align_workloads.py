"""What the benches of PsRoiAlign give to it."""

from dataclasses import dataclass

import numpy as np
from roi_pool_workloads import Workload

BINS = 7
WORKLOADS = {
    "a": Workload(1, 38, 50, BINS**2 * 21, 300, BINS, 1 / 16),
    "b": Workload(1, 38, 50, BINS**2 * 10, 1000, BINS, 1 / 16),
    "c": Workload(1, 200, 304, BINS**2 * 10, 1000, BINS, 1 / 4, sides=(16, 512)),
}


@dataclass(frozen=True)
class SortedBySize(Workload):
    """The same regions, the smallest first."""

    def __str__(self) -> str:
        return f"{super().__str__()}, the smallest first"

    def rois(self) -> np.ndarray:
        rois = super().rois()
        area = (rois[:, 3:] - rois[:, 1:3]).prod(axis=1)
        return rois[np.argsort(area, kind="stable")]


SORTED = {"c, sorted": SortedBySize(**vars(WORKLOADS["c"]))}


def given_gradient(workload: Workload) -> np.ndarray:
    """What flows back: float32 [num_rois, bins, bins, channels of a bin]."""
    shape = workload.num_rois, BINS, BINS, workload.channels // BINS**2
    return np.random.default_rng(2).standard_normal(shape, np.float32)
