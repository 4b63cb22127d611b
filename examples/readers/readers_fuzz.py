"""Why there are no generated calls: `python tools/fuzz.py examples/readers/readers_fuzz.py`."""

FUZZ = {
    "IdxReader": "reads a file: readers_test.py makes files, whole, changed and cut"
}
