import datetime

import numpy as np
import tensorflow as tf


def load(path):
    lib = tf.load_op_library(path)
    tf.no_gradient("UbDayCount")

    def day_count(start, end):
        """30/360 days from start to end, both int32 yyyymmdd of one shape."""
        return lib.ub_day_count(start, end)

    return day_count


def sample():
    start = np.array([20230115, 20230131, 20240229, 20221231], np.int32)
    end = np.array([20230715, 20230331, 20250228, 20230131], np.int32)
    return [start, end], {}


def _date(packed):
    packed = int(packed)
    if packed < 0:
        raise ValueError("no date")
    return datetime.date(packed // 10000, packed // 100 % 100, packed % 100)


def reference(start, end):
    start, end = np.asarray(start), np.asarray(end)
    if start.shape != end.shape:
        raise ValueError("end must have the shape of start")
    out = np.zeros(start.shape, np.int32)
    for i in np.ndindex(start.shape):
        a, b = _date(start[i]), _date(end[i])
        d1 = min(a.day, 30)
        d2 = 30 if b.day == 31 and d1 == 30 else b.day
        out[i] = 360 * (b.year - a.year) + 30 * (b.month - a.month) + d2 - d1
    return out
