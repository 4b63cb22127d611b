"""Generated calls: `python -m opcheck fuzz examples/serving/serving_fuzz.py`."""

from hypothesis import strategies as st
from serving import byte_ngrams
from serving_reference import byte_ngrams_reference

from opcheck.strategies import calls, tensors

FUZZ = {
    "ByteNgrams": (
        byte_ngrams,
        calls(
            tensors("string", elements=st.binary(max_size=40)),
            n=st.integers(1, 5),
            buckets=st.integers(1, 9),
        ),
        byte_ngrams_reference,
    )
}
