"""The files of examples/template, as copier makes them: copier.yml says what it asks for."""

import fnmatch
from pathlib import Path

import jinja2
import yaml
from book import ROOT

SETTINGS = yaml.safe_load((ROOT / "copier.yml").read_text())
PROJECT = ROOT / SETTINGS["_subdirectory"]
_SUFFIX = SETTINGS["_templates_suffix"]
_JINJA = jinja2.Environment(undefined=jinja2.StrictUndefined, **SETTINGS["_envops"])


def project(**answers: object) -> dict[str, str]:
    """From the path of each file of a project to its text; a question without an answer has its default."""
    for question, asked in SETTINGS.items():
        if not question.startswith("_") and question not in answers:
            answers[question] = _default(asked, answers)
    excluded = [_rendered(pattern, answers) for pattern in SETTINGS["_exclude"]]
    files = {}
    for path in sorted(PROJECT.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            name = _rendered(path.relative_to(PROJECT).as_posix(), answers)
            text = path.read_text()
            if name.endswith(_SUFFIX):
                name, text = name.removesuffix(_SUFFIX), _rendered(text, answers)
            if not any(fnmatch.fnmatch(Path(name).name, each) for each in excluded):
                files[name] = text
    return files


def _rendered(text: str, answers: dict[str, object]) -> str:
    return _JINJA.from_string(text).render(answers)


def _default(question: dict, answers: dict[str, object]) -> object:
    default = question["default"]
    if isinstance(default, str):
        default = _rendered(default, answers)
    return default if question["type"] == "str" else yaml.safe_load(str(default))
