"""Wrong ways to round: `pytest examples/stochastic_rounding`."""

import numpy as np
from stochastic_rounding import stochastic_round
from stochastic_rounding_test import SEED, halves
from wrong_stochastic_rounding import (
    blockwise_stochastic_round,
    different_results,
    forgetful_stochastic_round,
)

from opcheck import check


def test_an_op_that_is_not_stateful_is_merged_and_folded():
    assert different_results(stochastic_round) == (2, 3)
    assert different_results(forgetful_stochastic_round) == (1, 1)


def test_a_generator_for_each_block_is_found():
    inputs = halves(64).numpy(), np.int64(SEED)
    report = check(blockwise_stochastic_round, *inputs, checks="determinism")
    assert report["determinism"].verdict == "fail"
    assert "random numbers" in report["determinism"].cause
