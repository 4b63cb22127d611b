"""What the picture of a region that moves is to show: RoiPool itself says it."""

import sys

import numpy as np
from book import EXAMPLES


def pooled_by_the_op(settings: dict, corners: np.ndarray) -> list[list]:
    """What RoiPool gives for the map of the picture: pooled and argmax, flat, for each row of x1, y1, x2, y2.

    A process of its own runs this, with `in_fork`.
    """
    sys.path[:0] = [str(EXAMPLES / "common"), str(EXAMPLES / "roi_pool")]
    from roi_pool import roi_pool

    features = np.array(settings["map"], np.float32)[None, :, :, None]
    rois = np.insert(np.array(corners, np.float32), 0, 0, axis=1)
    outputs = roi_pool(features, rois, *settings["pooled"], settings["scale"])
    return [output.numpy().reshape(len(rois), -1).tolist() for output in outputs]
