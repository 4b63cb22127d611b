"""What a line prints beside what the op gives: what was expected, and of many elements only the one that differs."""

import re

_MOST = 1000  # elements, of which NumPy prints all
_DIFFERENT = re.compile(
    r"(?:the )?((?:out|in)put(?: (\d+))?(\[[\d, ]*\])?) is (.+) instead of (.+) \(\d+ of (\d+) elements differ\)"
)
_OTHER_KIND = re.compile(
    r"(?:the )?(output(?: \d+)?) has (shape|dtype) (.+) instead of (.+)"
)
_ENDED = re.compile(
    r"((eager: )?\w+(Error|Exception|Warning)\b|the process |no answer within )"
)
_OF_OUTPUTS = re.compile(r"print\((?!\*|\[|opcheck\.)")
_TELLS = re.compile(r"findings\.shown import (slope|repeated);")
_NUMPY = "import numpy as np; "
_TENSORFLOW = "import tensorflow as tf; "
_ALL_DIGITS = f"{_NUMPY}np.set_printoptions(precision=17); "


def with_expected(text: str, seen: str, expected: str = "") -> str:
    """A line that prints outputs or inputs, with what was expected, and all digits where a value is near.

    Args:
      text: The line.
      seen: What is wrong; a difference as `compare.difference` tells it.
      expected: What a line says that shows no single value.
    """
    if not text or _TELLS.search(text):
        return text
    if different := _DIFFERENT.fullmatch(seen):
        place, number, index, got, wanted, count = different.groups()
        of_output = place.startswith("output")
        if of_output and int(count) > _MOST:
            text = _of_element(text, f"[{number or 0}]{index or ''}")
        if of_output and not _prints_outputs(text):
            return text
        if _are_near(got, wanted):
            text = f"{_ALL_DIGITS}{text.replace(_NUMPY, '')}"
        told = f"expected {place}: {wanted}"
    elif not _prints_outputs(text) or _ENDED.match(seen):
        return text
    elif other := _OTHER_KIND.fullmatch(seen):
        told = f"expected {other[1]}: {other[2]} {other[4]}"
    elif expected:
        told = f"expected: {expected}"
    else:
        return text
    return f"{text[:-1]}, {quoted(told)})"


def _prints_outputs(text: str) -> bool:
    return bool(_OF_OUTPUTS.match(text, last_print(text)))


def _of_element(text: str, place: str) -> str:
    """A line that prints one element of each result, where there are so many that Python leaves most of them out."""
    begin = last_print(text) + len("print(")
    if text.startswith(("[", "opcheck."), begin) or "zip(*inputs)" in text:
        return text
    given = text[begin:-1]
    shown = f"tf.nest.flatten({given}){place}"
    if given.startswith("*"):
        shown = f"*(tf.nest.flatten(y){place} for y in {given[1:]})"
    imported = "" if _TENSORFLOW.strip() in text else _TENSORFLOW
    return f"{imported}{text[:begin]}{shown})"


def last_print(text: str) -> int:
    """Where the last call of print begins, which is not that of an op such as fingerprint."""
    places = [one.start() for one in re.finditer(r"(?<!\w)print\(", text)]
    return places[-1] if places else len(text)


def _are_near(*numbers: str) -> bool:
    try:
        one, other = map(float, numbers)
    except ValueError:
        return False
    return abs(one - other) < 1e-4 * abs(one)


def quoted(value: str | bytes) -> str:
    """A literal without single quotes, so that a shell's can be put around the line."""
    prefix, body = re.fullmatch("(b?)['\"](.*)['\"]", repr(value[:])).groups()
    other = {"'": r"\x27", r"\'": r"\x27", '"': r"\""}
    body = re.sub(r"\\.|['\"]", lambda found: other.get(found[0], found[0]), body)
    return f'{prefix}"{body}"'
