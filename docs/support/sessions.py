"""Calls as one would type them, with what Python answers: for results and errors that belong side by side."""

import ast
import re
import textwrap
from collections.abc import Mapping

from IPython import get_ipython


def session(calls: Mapping[str, str], whole: bool = False) -> None:
    """Runs lines of Python and prints each as the prompt would, with its value or the error that it raises.

    Args:
      calls: From each line to a regular expression that has to match in the answer.
      whole: Whether to print all of an error's message, not only what is wrong.
    """
    for line, expected in calls.items():
        answer = answer_to(line, whole)
        print(f">>> {line}", *filter(None, [answer]), sep="\n")
        words = " ".join(answer.split())
        assert re.search(expected, words), f"{line} answers {words}, not {expected}"
        assert expected or not answer, f"{line} answers {words}: expect something of it"


def answer_to(line: str, whole: bool = False) -> str:
    """What Python's prompt answers to a line; of an error, its type and what is wrong, or the whole message."""
    names = get_ipython().user_ns
    try:
        if not isinstance(ast.parse(line).body[0], ast.Expr):
            exec(line, names)
            return ""
        value = eval(line, names)
        return "" if value is None else repr(value)
    except Exception as error:
        message = str(error) if whole else what_is_wrong(error)
        lines = f"{type(error).__name__}: {message}".expandtabs(4).splitlines()
        look = {"subsequent_indent": "    ", "break_long_words": False}
        return "\n".join(textwrap.fill(each, 84, **look) for each in lines)


def what_is_wrong(error: Exception) -> str:
    """The line of an error's message that says what is wrong, without where in the program that was."""
    message = getattr(error, "message", None) or str(error)
    message = re.sub(r"\{\n.*?\n\}", "{…}", message, flags=re.DOTALL)
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    chosen = lines[0]
    if chosen == "in user code:":
        chosen = lines[-1].removeprefix(f"{type(error).__name__}: ")
    elif chosen.startswith("Graph execution error"):
        remote = [
            i for i, line in enumerate(lines) if line.startswith("Additional GRPC")
        ]
        places = [i for i, line in enumerate(lines) if "{{node " in line]
        chosen = lines[(remote[:1] or places[-1:] or [2])[0] - 1]
        chosen = re.sub(r"^\(\d\) [A-Z_]+: +", "", chosen)
    chosen = re.sub(r"\{\{function_node .*?\}\} ", "", chosen)
    chosen = re.sub(r" Note that if you are loading .* accessed\.", " …", chosen)
    chosen = re.sub(r" \[Op:.*", "", chosen)
    chosen = re.sub(r" In general every operation must have .*", " …", chosen)
    chosen = re.sub(r"\[_XlaMustCompile=.*?\]", "[…]", chosen)
    chosen = re.sub(r"( for)? '\{\{node .*|, KernelDef: .*", " …", chosen)
    return f"{chosen} …" if chosen.endswith(":") and len(lines) > 1 else chosen
