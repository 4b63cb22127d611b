"""No generated calls: `python -m opcheck fuzz examples/fetch_lines/fetch_lines_fuzz.py`."""

FUZZ = {
    "FetchLines": "reads a file descriptor, that of a socket: fetch_lines_test.py has servers",
    "BlockingPause": "waits",
    "Pause": "waits",
}
