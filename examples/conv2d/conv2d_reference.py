"""The ops of the chapter in NumPy: the patches of images, and what is multiplied with them."""

import numpy as np


def output_size(size, taps, stride, dilation, padding):
    """How many windows lie along one side of an image, and how many zeros are before the image.

    Args:
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


def image_patches(x, filter_sizes, strides=1, padding="VALID", dilations=1):
    """The patches: [batch, rows of windows, columns of windows, rows, columns, channels]."""
    strides, dilations = np.broadcast_to(strides, 2), np.broadcast_to(dilations, 2)
    paddings = [padding] * 2 if isinstance(padding, str) else padding
    layout = zip(x.shape[1:3], filter_sizes, strides, dilations, paddings)
    for axis, (size, taps, stride, dilation, zeros) in zip((1, 3), layout):
        count, before = output_size(size, taps, stride, dilation, zeros)
        start = np.arange(count)[:, None] * stride - before
        x = windows_along(x, axis, start + np.arange(taps) * dilation)
    return np.moveaxis(x, 2, 3)


def conv2d_reference(x, filter, **layout):
    """Each patch times the filter."""
    _check(x.shape, filter.shape)
    patches = image_patches(x, filter.shape, **layout)
    return np.einsum("nhwijc,ijco->nhwo", patches, filter)


def conv2d_backprop_input_reference(
    x_sizes, filter, dy, strides=1, padding="VALID", dilations=1
):
    """Each patch of dy, with zeros between its pixels, times the filter turned by half a turn."""
    _check(x_sizes, filter.shape)
    layout = {"strides": strides, "padding": padding, "dilations": dilations}
    _check_dy(
        image_patches(np.empty(x_sizes), filter.shape, **layout), filter.shape, dy
    )
    paddings = [padding] * 2 if isinstance(padding, str) else padding
    strides, dilations = np.broadcast_to(strides, 2), np.broadcast_to(dilations, 2)
    for side, axis in enumerate([1, 3]):
        size, taps = x_sizes[side + 1], filter.shape[side]
        stride, dilation = strides[side], dilations[side]
        _, before = output_size(size, taps, stride, dilation, paddings[side])
        between = np.repeat(np.arange(1, dy.shape[axis]), stride - 1)
        start = np.arange(size)[:, None] + before - (taps - 1) * dilation
        spread = np.insert(dy, between, 0, axis)
        dy = windows_along(spread, axis, start + np.arange(taps) * dilation)
    return np.einsum("nhiwjo,ijco->nhwc", dy, filter[::-1, ::-1])


def conv2d_backprop_filter_reference(x, filter_sizes, dy, **layout):
    """Each element of the filter gets all that it was multiplied with."""
    _check(x.shape, filter_sizes)
    patches = image_patches(x, filter_sizes, **layout)
    _check_dy(patches, filter_sizes, dy)
    return np.einsum("nhwijc,nhwo->ijco", patches, dy)


def _check(x_sizes, filter_sizes):
    if not len(x_sizes) == len(filter_sizes) == 4 or x_sizes[3] != filter_sizes[2]:
        raise ValueError("the channels differ, or there are not four dimensions")
    if min(*x_sizes, *filter_sizes) < 0:
        raise ValueError("a negative size")


def _check_dy(patches, filter_sizes, dy):
    if dy.shape != (*patches.shape[:3], filter_sizes[3]):
        raise ValueError("dy has not the shape of the result")
