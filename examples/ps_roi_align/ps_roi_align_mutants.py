"""Wrong variants of PsRoiAlign, on which the test that the page shows must fail."""

import tensorflow as tf
from ps_roi_align import ps_roi_align, ps_roi_align_grad
from ps_roi_align_fuzz import row_median


def is_half_a_pixel_off(features, rois, *arguments):
    return ps_roi_align(features, rois + [0, 0.5, 0.5, 0.5, 0.5], *arguments)


def gives_it_to_another_image(gradient, rois, shape, **attrs):
    return tf.reverse(ps_roi_align_grad(gradient, rois, shape, **attrs), [0])


def forgets_the_last_row(rows):
    medians = row_median(rows)
    return tf.concat([medians[:-1], medians[:1]], 0)


MUTANTS = {
    "test_median_of_many_rows": {
        "ps_roi_align_fuzz.row_median": [forgets_the_last_row],
    },
    "test_equals_torchvision": {
        "ps_roi_align.ps_roi_align": [is_half_a_pixel_off],
        "ps_roi_align.ps_roi_align_grad": [gives_it_to_another_image],
    },
}
