"""Why there are no generated calls: `python -m opcheck fuzz examples/workers/workers_fuzz.py`."""

FUZZ = {"FileRows": "reads a file: workers_test.py makes files, whole, changed and cut"}
