"""Writes what torchvision's ps_roi_align gives for small inputs: examples/ps_roi_align/torchvision.txt.

`python bench/ps_roi_align_torchvision.py` needs torchvision. Layouts in the file are those of PsRoiAlign.
"""

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch
import torchvision  # noqa: F401  registers the op

RESULT = Path(__file__).parents[1] / "examples" / "ps_roi_align" / "torchvision.txt"
ROIS = [
    [0, 0.5, 1, 5.25, 4.5],
    [1, 0, 0, 2, 5],
    [1, 3.5, 0.25, 5.5, 2],
    [0, -6, -3, 9, 20],  # over the edge
    [1, 9, 9, 12, 11],  # outside
    [0, 2, 2, 2.25, 2.25],  # a part of a pixel
]
BINS = 2, 3
ATTRS = [(1.0, -1), (0.5, 2), (0.75, -1), (1.5, 3)]


def main() -> None:
    random = np.random.default_rng(0)
    channels = 2
    shape = 2, 4, 5, *BINS, channels
    features = random.integers(-9, 10, shape)
    gradient = random.integers(-9, 10, (len(ROIS), *BINS, channels))
    rois = torch.tensor(ROIS, dtype=torch.float32)
    first = torch.tensor(features.transpose(0, 5, 3, 4, 1, 2), dtype=torch.float32)
    given = torch.tensor(gradient.transpose(0, 3, 1, 2), dtype=torch.float32)
    op, cases = torch.ops.torchvision, []
    for scale, ratio in ATTRS:
        map_ = first.reshape(2, -1, 4, 5)
        pooled, mapping = op.ps_roi_align(map_, rois, scale, *BINS, ratio)
        back = op._ps_roi_align_backward(
            given.contiguous(), rois, mapping, scale, *BINS, ratio, *map_.shape
        )
        back = back.numpy().reshape(first.shape).transpose(0, 4, 5, 2, 3, 1)
        attrs = dict(pooled_height=BINS[0], pooled_width=BINS[1])
        attrs |= dict(spatial_scale=scale, sampling_ratio=ratio)
        results = pooled.numpy().transpose(0, 2, 3, 1), back.reshape(2, 4, 5, -1)
        pooled, back = (np.round(x.astype(float), 6).tolist() for x in results)
        cases.append({"attrs": attrs, "pooled": pooled, "back": back})
    saved = {
        "torch": version("torch"),
        "torchvision": version("torchvision"),
        "features": features.reshape(2, 4, 5, -1).tolist(),
        "rois": ROIS,
        "gradient": gradient.tolist(),
        "cases": cases,
    }
    RESULT.write_text(json.dumps(saved, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
