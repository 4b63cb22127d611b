"""The pictures of the chapter on ZeroOut, and the flags of its compiler."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import tensorflow as tf
from IPython import get_ipython
from IPython.display import HTML
from pictures.anchors import tables_beside
from pictures.layout import grids
from zero_out_reference import zero_out_reference

FLAGS = dict(tables_beside(__file__)["flags"])


def before_and_after(op: Callable) -> HTML:
    """Draws what ZeroOut makes of a matrix."""
    to_zero = np.int32([[5, 4, 3], [2, 1, 6]])
    return grids({"to_zero": to_zero, "zero_out(to_zero)": op(to_zero).numpy()})


def facts() -> dict[str, object]:
    """Which TensorFlow this is, and how many lines the example has."""
    source = Path(zero_out_reference.__code__.co_filename).with_name("zero_out.cc")
    return {"version": tf.__version__, "lines": len(source.read_text().splitlines())}


def flags() -> Iterator[tuple[str, str]]:
    """Each flag of the first g++ command that a cell has run, those of tf.sysconfig included, and what it is for."""
    cells = "\n".join(get_ipython().history_manager.input_hist_raw)
    command = re.search(r"^g\+\+ .*", cells, re.M)[0]
    used = set(re.findall(r"(?<= )-\w+", command)) - {"-o"}
    asked = tf.sysconfig.get_compile_flags() + tf.sysconfig.get_link_flags()
    folders = {flag[:2] for flag in asked} & {"-I", "-L"}
    used |= {flag for flag in asked if flag[:2] not in folders}
    used.add(", ".join(f"{flag}…" for flag in sorted(folders)))
    if used != FLAGS.keys():
        raise ValueError(f"flags without a reason, or not used: {used ^ FLAGS.keys()}")
    return ((f"`{flag}`", why) for flag, why in FLAGS.items())
