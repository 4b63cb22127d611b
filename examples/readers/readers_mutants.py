"""Wrong solutions of the exercise on TFRecord, on which the test that the page shows must fail."""

import io
import struct

from record_file import records


def stops_at_the_damage(content):
    file = io.BytesIO(content)
    file.name = "content"
    try:
        yield from records(file)
    except ValueError:
        return


def checks_nothing(content):
    at = 0
    while at + 16 <= len(content):
        (length,) = struct.unpack_from("<Q", content, at)
        yield content[at + 12 : at + 12 + length]
        at += 16 + length


MUTANTS = {
    "test_the_solution_on_records": {
        "solution_salvage.salvage": [stops_at_the_damage, checks_nothing]
    }
}
