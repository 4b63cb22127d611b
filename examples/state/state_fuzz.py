"""Generated calls: `python -m opcheck fuzz examples/state/state_fuzz.py`."""

from hypothesis import strategies as st
from state import number_keys
from state_reference import number_keys_reference

from opcheck.strategies import calls, tensors

OF_A_TABLE = "needs the handle of a table"
OF_A_SAMPLE = "needs the handle of a sample"
FUZZ = {
    "NumberKeys": (
        number_keys,
        calls(tensors(st.sampled_from(["string", "int64"])), add=st.booleans()),
        number_keys_reference,
    ),
    "AnonymousKeyTable": "makes a table, for NumberKeys",
    "NamedKeyTable": "names a table",
    "ReadKeys": OF_A_TABLE,
    "WriteKeys": OF_A_TABLE,
    "TableSize": OF_A_TABLE,
    "WatchTable": OF_A_TABLE,
    "TableIsAlive": OF_A_TABLE,
    "AnonymousSample": "makes a sample",
    "NamedSample": "names a sample",
    "AddToSample": OF_A_SAMPLE,
    "ReadSample": OF_A_SAMPLE,
    "WriteSample": OF_A_SAMPLE,
    "MemberNumberKeys": "wrong on purpose",
    "ForgetfulNumberKeys": "wrong on purpose",
    "SilentNumberKeys": "has no kernel",
}
