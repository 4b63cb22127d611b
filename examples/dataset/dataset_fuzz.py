"""Why there are no generated calls: `python -m opcheck fuzz examples/dataset/dataset_fuzz.py`."""

FUZZ = {
    "NpyDataset": "reads a file: dataset_test.py makes files, whole, changed and cut",
    "LogfmtDataset": "reads a file: logfmt_dataset_test.py makes files",
}
