"""A name that an attr cannot have: `pytest examples/attrs`."""

from pathlib import Path

import pytest
import tensorflow as tf

HERE = Path(__file__).parent


def test_a_keyword_as_the_name_of_an_attr_does_not_load():
    with pytest.raises(SyntaxError, match="invalid syntax") as raised:
        tf.load_op_library(str(HERE / "libwrong_attr_name.so"))
    assert '"lambda", lambda)' in raised.value.text
