"""A name that an attr cannot have: `pytest examples/attrs`."""

from pathlib import Path

import pytest
import tensorflow as tf
from op_library import load_op_library

HERE = Path(__file__).parent


def test_a_keyword_as_the_name_of_an_attr_does_not_load():
    with pytest.raises(SyntaxError, match="invalid syntax") as raised:
        tf.load_op_library(str(HERE / "libwrong_attr_name.so"))
    assert '"lambda", lambda)' in raised.value.text


def test_the_loader_of_the_book_names_it():
    with pytest.raises(ImportError, match="libwrong_attr_name.so has an attr .*lambda"):
        load_op_library(HERE / "libwrong_attr_name.so")
