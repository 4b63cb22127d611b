"""Frexp of float32 under six other names, which have no gradient yet."""

from pathlib import Path

from op_library import load_op_library

library = load_op_library(
    Path(__file__).with_name("libfrexp_copies.so"), "frexp_without_gradient"
)
