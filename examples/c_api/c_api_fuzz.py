"""Generated calls: `python -m opcheck fuzz examples/c_api/c_api_fuzz.py`."""

from c_api_reference import majority_vote_reference
from hypothesis import strategies as st
from majority_vote import majority_vote

from opcheck.strategies import calls, mostly, shapes, tensors

SHAPE = st.shared(shapes(max_rank=3), key="shape")
FEW = st.integers(0, 3)
VOTES = tensors("int32", mostly(SHAPE, shapes(max_rank=2)), FEW)

FUZZ = {
    "MajorityVote": (
        majority_vote,
        calls(st.lists(VOTES, min_size=1, max_size=5)),
        majority_vote_reference,
    )
}
