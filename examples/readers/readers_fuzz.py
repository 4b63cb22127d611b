"""Why there are no generated calls: `python -m opcheck fuzz examples/readers/readers_fuzz.py`."""

FUZZ = {
    "IdxReader": "reads a file: readers_test.py makes files, whole, changed and cut"
}
