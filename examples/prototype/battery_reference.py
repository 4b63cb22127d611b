"""Battery in NumPy: the prototype computes with it, and the op is compared with it."""

import numpy as np


def battery_reference(flow, capacity):
    """The level of a battery after each hour: never below 0, never above capacity."""
    if not capacity >= 0:
        raise ValueError("capacity must not be negative")
    level, last = np.zeros_like(flow), np.zeros(flow.shape[:-1], flow.dtype)
    for hour in range(flow.shape[-1]):
        last = np.clip(last + flow[..., hour], 0, capacity)
        level[..., hour] = last
    return level


def battery_grad_reference(level_grad, level, capacity):
    """Goes back hour by hour; a battery that is full or empty passes nothing on to the hours before."""
    flow_grad, capacity_grad = np.zeros_like(level), np.zeros_like(capacity)
    later = np.zeros(level.shape[:-1], level.dtype)
    for hour in reversed(range(level.shape[-1])):
        later = later + level_grad[..., hour]
        full, empty = level[..., hour] >= capacity, level[..., hour] <= 0
        capacity_grad += np.sum(later, where=full)
        later = np.where(full | empty, 0, later)
        flow_grad[..., hour] = later
    return flow_grad, capacity_grad
