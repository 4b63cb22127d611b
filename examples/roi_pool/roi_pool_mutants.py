"""Wrong variants of RoiPool, on which the test that the page shows must fail."""

from roi_pool import roi_pool, roi_pool_inference


def pools_the_negative(features, *arguments):
    pooled, argmax = roi_pool(features, *arguments)
    return -pooled, argmax


def points_to_the_next_pixel(features, *arguments):
    pooled, argmax = roi_pool(features, *arguments)
    return pooled, argmax + 1


def infers_the_negative(features, *arguments):
    return -roi_pool_inference(features, *arguments)


MUTANTS = {
    "test_equals_the_reference": {
        "roi_pool.roi_pool": [pools_the_negative, points_to_the_next_pixel],
        "roi_pool.roi_pool_inference": [infers_the_negative],
    }
}
