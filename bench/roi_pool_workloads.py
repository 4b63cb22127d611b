"""What bench/roi_pool.py gives to RoiPool and to its peers."""

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Workload:
    """Shapes, and how the regions are drawn: with corners that are uniform over the image, or, where `sides` is given,
    with log-uniform sides between two lengths in pixels of the image.
    """

    batch: int
    height: int
    width: int
    channels: int
    num_rois: int
    pooled: int
    scale: float
    sides: tuple[int, int] | None = None

    def __str__(self) -> str:
        """For the first lines of a table."""
        sides = "corners uniform"
        if self.sides:
            sides = "sides log-uniform in {} to {} pixels".format(*self.sides)
        return (
            f"features {self.batch} x {self.height} x {self.width} x {self.channels}, {self.num_rois} regions, "
            f"{self.pooled} x {self.pooled} bins, scale 1/{1 / self.scale:g}, {sides}"
        )

    def rois(self) -> np.ndarray:
        """Regions as `RoiPool` takes them, float32 [num_rois, 5], in the order of the images, always the same."""
        random = np.random.default_rng(0)
        limits = np.array([self.width, self.height]) / self.scale
        shape = (self.num_rois, 2)
        if self.sides is None:
            corners = np.sort(random.uniform(0, limits, (2, *shape)), axis=0)
        else:
            sides = np.exp(random.uniform(*np.log(self.sides), shape))
            first = random.uniform(0, limits - sides, shape)
            corners = np.stack([first, first + sides])
        image = np.arange(self.num_rois) * self.batch // self.num_rois
        last = limits - 1
        columns = [image[:, None], *np.minimum(corners, last)]
        return np.concatenate(columns, axis=1).astype(np.float32)

    def features(self) -> np.ndarray:
        """Normally distributed values, float32 [batch, height, width, channels]."""
        shape = (self.batch, self.height, self.width, self.channels)
        return np.random.default_rng(1).standard_normal(shape, np.float32)

    def gradient(self) -> np.ndarray:
        """What flows back: float32 [num_rois, pooled, pooled, channels]."""
        shape = (self.num_rois, self.pooled, self.pooled, self.channels)
        return np.random.default_rng(2).standard_normal(shape, np.float32)

    def pooled_bytes(self) -> int:
        """The size of the output."""
        return 4 * self.num_rois * self.pooled**2 * self.channels

    def read_bytes(self) -> tuple[int, int]:
        """The size of those pixels that lie in any region, once and for each region."""
        regions = np.zeros((self.batch, self.height, self.width), int)
        for roi in self.rois():
            x1, y1, x2, y2 = np.floor(roi[1:] * self.scale + 0.5).astype(int)
            regions[int(roi[0]), y1 : y2 + 1, x1 : x2 + 1] += 1
        pixel = 4 * self.channels
        return pixel * int((regions > 0).sum()), pixel * int(regions.sum())


def scaled(workload: Workload, batch: int) -> Workload:
    """The workload with so many images, and as many regions in each."""
    rois = workload.num_rois * batch // workload.batch
    return replace(workload, batch=batch, num_rois=rois)


WORKLOADS = {
    "a": Workload(1, 38, 50, 512, 300, 7, 1 / 16),
    "b": Workload(2, 38, 50, 512, 256, 14, 1 / 16),
    "c": Workload(1, 200, 304, 256, 1000, 7, 1 / 4, sides=(16, 512)),
}
