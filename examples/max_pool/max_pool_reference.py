"""The ops of the chapter in NumPy."""

import ml_dtypes
import numpy as np


def windows(shape, ksize, strides, padding):
    """How many windows there are along the height and the width, and of each its place and its pixels."""
    if len(shape) != 4:
        raise ValueError("not [batch, height, width, channels]")
    axes = []
    for size, window, stride in zip(shape[1:3], pair(ksize), pair(strides)):
        if window < 1 or stride < 1 or (padding == "VALID" and window > size):
            raise ValueError("not a window that fits")
        count = -(-(size if padding == "SAME" else size - window + 1) // stride)
        over = max((count - 1) * stride + window - size, 0)
        begins = np.arange(count) * stride - over // 2
        axes.append([slice(max(begin, 0), begin + window) for begin in begins])
    places = np.ndindex(len(axes[0]), len(axes[1]))
    return tuple(map(len, axes)), [(i, j, axes[0][i], axes[1][j]) for i, j in places]


def pair(sizes):
    return [sizes] * 2 if isinstance(sizes, int) else list(sizes)


def flat(pixels):
    """The pixels of a window one after the other."""
    batch, height, width, channels = pixels.shape
    return pixels.reshape(batch, height * width, channels)


def window_maxima(input, ksize, strides, padding):
    """The largest number of each window, which is NaN if a window has one."""
    count, each = windows(input.shape, ksize, strides, padding)
    output = np.zeros([len(input), *count, input.shape[3]], input.dtype)
    for i, j, rows, columns in each:
        output[:, i, j] = input[:, rows, columns].max(axis=(1, 2))
    return output


def max_pool_reference(input, ksize, strides, padding):
    """The same, if NaN and -infinity count as the lowest finite number."""
    lowest = ml_dtypes.finfo(input.dtype).min
    finite = np.where(input >= lowest, input, lowest)
    return window_maxima(finite, ksize, strides, padding)


max_pool_nan_reference = window_maxima  # of the exercise


def max_pool_with_argmax_reference(
    input, ksize, strides, padding, include_batch_in_index=False
):
    """The maxima with -infinity as it is, and NaN where it comes first; and where in the image each number was."""
    count, each = windows(input.shape, ksize, strides, padding)
    position = np.arange(input.size).reshape(input.shape)
    if not include_batch_in_index and len(input):
        position = np.broadcast_to(position[:1], input.shape)
    output = np.zeros([len(input), *count, input.shape[3]], input.dtype)
    argmax = np.zeros(output.shape, np.int64)
    for i, j, rows, columns in each:
        pixels, places = (flat(x[:, rows, columns]) for x in (input, position))
        ranked = np.where(np.isnan(pixels), -np.inf, pixels.astype(float))
        first = np.where(np.isnan(pixels[:, 0]), 0, ranked.argmax(axis=1))[:, None]
        output[:, i, j] = np.take_along_axis(pixels, first, 1)[:, 0]
        argmax[:, i, j] = np.take_along_axis(places, first, 1)[:, 0]
    return output, argmax


def max_pool_grad_reference(orig_input, orig_output, grad, ksize, strides, padding):
    """Adds the gradient of one window after the other to the pixel that was its maximum."""
    _, argmax = max_pool_with_argmax_reference(
        orig_input, ksize, strides, padding, include_batch_in_index=True
    )
    if not argmax.shape == orig_output.shape == grad.shape:
        raise ValueError("not a number for each window")
    output = np.zeros(orig_input.size, orig_input.dtype)
    for i, j in np.ndindex(argmax.shape[1:3]):
        output[argmax[:, i, j]] += grad[:, i, j]
    return output.reshape(orig_input.shape)


def max_pool_grad_grad_reference(
    orig_input, orig_output, grad, ksize, strides, padding
):
    """Takes the number at the first pixel that equals the maximum."""
    count, each = windows(orig_input.shape, ksize, strides, padding)
    pooled = (len(orig_input), *count, orig_input.shape[3])
    if orig_output.shape != pooled or grad.shape != orig_input.shape:
        raise ValueError("not the shapes of one pooling")
    output = np.zeros(pooled, orig_input.dtype)
    for i, j, rows, columns in each:
        equal = orig_input[:, rows, columns] == orig_output[:, i : i + 1, j : j + 1]
        equal, numbers = (flat(x) for x in (equal, grad[:, rows, columns]))
        taken = np.take_along_axis(numbers, equal.argmax(axis=1)[:, None], 1)[:, 0]
        output[:, i, j] = np.where(equal.any(axis=1), taken, 0)
    return output


def avg_pool_reference(input, ksize, strides, padding):
    """The average of the pixels of each window that are inside of the image."""
    count, each = windows(input.shape, ksize, strides, padding)
    output = np.zeros([len(input), *count, input.shape[3]], input.dtype)
    for i, j, rows, columns in each:
        output[:, i, j] = input[:, rows, columns].mean(axis=(1, 2))
    return output


def avg_pool_grad_reference(orig_input_shape, grad, ksize, strides, padding):
    """Gives each pixel of a window the same part of the window's gradient."""
    count, each = windows(orig_input_shape, ksize, strides, padding)
    if grad.shape != (orig_input_shape[0], *count, orig_input_shape[3]):
        raise ValueError("not a number for each window")
    output = np.zeros(orig_input_shape, grad.dtype)
    for i, j, rows, columns in each:
        part = output[:, rows, columns]
        part += grad[:, i : i + 1, j : j + 1] / (part.shape[1] * part.shape[2])
    return output
