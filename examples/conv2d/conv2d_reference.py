"""The ops of the chapter in NumPy: the patches of images, and what is multiplied with them."""

import numpy as np


def output_size(size, taps, stride, dilation, padding):
    """How many windows lie along one side of an image, and how many zeros are before the image.

    Args:
      taps: How many elements the filter has along this side.
      padding: "SAME", "VALID", or how many zeros are before the image and after it.
    """
    if min(taps, stride, dilation) < 1:
        raise ValueError("a window, a step and a dilation are at least 1")
    reach = (taps - 1) * dilation + 1
    if padding == "SAME":
        windows = -(-size // stride)
        return windows, max((windows - 1) * stride + reach - size, 0) // 2
    before, after = (0, 0) if padding == "VALID" else padding
    if min(before, after, before + size + after - reach) < 0:
        raise ValueError("the filter does not fit into the image")
    return (before + size + after - reach) // stride + 1, before


def windows_along(x, axis, at):
    """Takes the pixels of windows from an axis, of which it makes two: windows, and the elements of one.

    Args:
      at: For each window its pixels. Those outside of the image are zeros.
    """
    size = x.shape[axis]
    x = np.insert(x, size, 0, axis)  # one more row, of zeros
    return np.take(x, np.where((at >= 0) & (at < size), at, size), axis)


def sides(x_sizes, filter_sizes, strides=1, padding="VALID", dilations=1):
    """For rows and for columns, what `output_size` wants."""
    strides, dilations = np.broadcast_to(strides, 2), np.broadcast_to(dilations, 2)
    paddings = [padding] * 2 if isinstance(padding, str) else padding
    if max(*x_sizes[1:3], *filter_sizes[:2]) > 2**24:
        raise ValueError("too many rows or columns")
    return [*zip(x_sizes[1:3], filter_sizes, strides, dilations, paddings)]


def image_patches(x, filter_sizes, **layout):
    """The patches: [batch, rows of windows, columns of windows, rows, columns, channels]."""
    for axis, side in zip((1, 3), sides(x.shape, filter_sizes, **layout)):
        _, taps, stride, dilation, _ = side
        count, before = output_size(*side)
        start = np.arange(count)[:, None] * stride - before
        x = windows_along(x, axis, start + np.arange(taps) * dilation)
    return np.moveaxis(x, 2, 3)


def conv2d_reference(x, filter, **layout):
    """Each patch times the filter."""
    _check(x.shape, filter.shape)
    patches = image_patches(x, filter.shape, **layout)
    return _products("nhwijc,ijco->nhwo", patches, filter)


def conv2d_backprop_input_reference(x_sizes, filter, dy, **layout):
    """Each number of dy times the filter, added to the pixels of its window; pixel 0 lies beside all images."""
    _check(x_sizes, filter.shape, dy, layout)
    numbers = 1 + np.arange(np.prod(x_sizes)).reshape(x_sizes)
    pixels = image_patches(numbers, filter.shape, **layout)
    dx = np.zeros(1 + numbers.size, np.result_type(dy, np.float32))
    np.add.at(dx, pixels, _products("nhwo,ijco->nhwijc", dy, filter))
    return dx[1:].reshape(x_sizes).astype(dy.dtype)


def conv2d_backprop_filter_reference(x, filter_sizes, dy, **layout):
    """Each element of the filter gets all that it was multiplied with."""
    _check(x.shape, filter_sizes, dy, layout)
    patches = image_patches(x, filter_sizes, **layout)
    return _products("nhwijc,nhwo->ijco", patches, dy)


def _products(indices, left, right):
    """Products, added up where an index has no place in the result; those of 16 bits as float32."""
    wide = (x.astype(np.result_type(x, np.float32)) for x in (left, right))
    return np.einsum(indices, *wide).astype(left.dtype)


def _check(x_sizes, filter_sizes, dy=None, layout=None):
    if not len(x_sizes) == len(filter_sizes) == 4 or x_sizes[3] != filter_sizes[2]:
        raise ValueError("the channels differ, or there are not four dimensions")
    if min(*x_sizes, *filter_sizes) < 0:
        raise ValueError("a negative size")
    if dy is not None:
        each = sides(x_sizes, filter_sizes, **layout)
        windows = (output_size(*side)[0] for side in each)
        if dy.shape != (x_sizes[0], *windows, filter_sizes[3]):
            raise ValueError("dy has not the shape of the result")
