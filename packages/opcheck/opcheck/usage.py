"""What the commands share."""

from pathlib import Path

from opcheck.locations import Location
from opcheck.processes.worker import place as place_of


class BadUse(Exception):
    """One line on what is wrong with the command."""


def load(place: str):
    """What FILE.py:name names.

    Raises:
      BadUse: There is no such file or name, or the file cannot be imported.
    """
    file, separator, name = place.rpartition(":")
    if not separator or not file or not name:
        raise BadUse(f"{place!r} is not FILE.py:name")
    path = Path(file)
    if not path.is_file():
        raise BadUse(f"there is no file {file}")
    try:
        return Location(path.stem, str(path.resolve()), name).load()
    except AttributeError as error:
        if error.name and error.name in name.split("."):
            raise BadUse(f"{file} has no {name}") from None
        raise BadUse(f"{file} cannot be imported: {shown(error)}") from None
    except (Exception, SystemExit) as error:
        raise BadUse(f"{file} cannot be imported: {shown(error)}") from None


def shown(error: BaseException) -> str:
    first, *_ = f"{type(error).__name__}: {error}".splitlines()
    where = "" if isinstance(error, SyntaxError) else place_of(error)
    return f"{first} ({where})" if where else first
