"""The files of examples/template, as copier makes them: copier.yml says what it asks for."""

import shutil
import tempfile
from pathlib import Path

import yaml
from book import EXAMPLES, ROOT

SETTINGS = yaml.safe_load((ROOT / "copier.yml").read_text())
TEMPLATE = EXAMPLES / "template"
GENERATED = shutil.ignore_patterns("__pycache__")


def source(folder: Path) -> Path:
    """A folder with what copier reads of the repository, as it is here: of a repository it takes the last commit."""
    shutil.copy(ROOT / "copier.yml", folder)
    shutil.copytree(TEMPLATE, folder / TEMPLATE.relative_to(ROOT), ignore=GENERATED)
    return folder


def project(**answers: object) -> dict[str, str]:
    """From the path of each file of a project to its text; a question without an answer has its default."""
    from copier import run_copy  # takes a second

    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "made")
        run_copy(str(source(Path(folder))), made, answers, defaults=True, quiet=True)
        paths = sorted(path for path in made.rglob("*") if path.is_file())
        return {path.relative_to(made).as_posix(): path.read_text() for path in paths}
