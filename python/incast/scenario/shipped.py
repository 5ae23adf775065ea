"""The shipped scenarios, each with the question that it answers."""

from difflib import get_close_matches
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "scenarios"
_SUFFIX = ".toml"


def names() -> list[str]:
    """Return the names of the shipped scenarios, in alphabetical order."""
    return sorted(file.stem for file in FOLDER.glob(f"*{_SUFFIX}"))


def question(name: str) -> str:
    """Return the question of a scenario: the first line of its file."""
    with (FOLDER / f"{name}{_SUFFIX}").open(encoding="utf-8") as file:
        return file.readline().lstrip("# ").strip()


def located(path: Path) -> Path:
    """Return the file if it exists, otherwise the shipped scenario of that name."""
    bare = path.name == str(path) and not path.suffix
    shipped = FOLDER / f"{path}{_SUFFIX}"
    return shipped if bare and not path.is_file() and shipped.is_file() else path


def instead(path: Path) -> str:
    """Return a hint for a file that does not exist."""
    if path.suffix == _SUFFIX and (FOLDER / path.name).is_file():
        return f"; the shipped scenario is named {path.stem!r}"
    if path.name != str(path) or path.suffix:
        return ""
    near = get_close_matches(str(path), names(), n=1)
    if near:
        return f"; among the shipped scenarios, did you mean {near[0]!r}?"
    return f"; shipped scenarios: {', '.join(names())}"
