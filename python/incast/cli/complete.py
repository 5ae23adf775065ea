"""Shell completion."""

import json
from collections.abc import Iterable
from pathlib import Path


def scenarios(incomplete: str) -> list[str]:
    """Offer the shipped scenarios, TOML files, and folders, which may hold TOML files."""
    from incast.scenario import shipped

    folder, _, begun = incomplete.rpartition("/")
    found = [] if folder else shipped.names()
    try:
        inside = sorted(Path(folder or ("/" if incomplete[:1] == "/" else ".")).iterdir())
    except OSError:
        inside = []
    prefix = incomplete.removesuffix(begun)
    found += [f"{prefix}{path.name}" for path in inside if path.suffix == ".toml"]
    found += [f"{prefix}{path.name}/" for path in inside if path.is_dir()]
    return _beginning(found, incomplete)


def changes(incomplete: str) -> list[str]:
    """Offer the keys of a scenario; after `KEY=`, offer the names that the key takes."""
    from incast.scenario import schema

    key, equals, _ = incomplete.partition("=")
    if not equals:
        return _beginning(
            [f"{one.name}=" for one in schema.all_keys() if "." in one.name], incomplete
        )
    names = [
        name
        for one in schema.all_keys()
        if one.name == key
        for name, _ in schema.choices(one.about)
    ]
    return _beginning([f"{key}={name}" for name in names], incomplete)


def explained(incomplete: str) -> list[str]:
    """Offer the keys, parts and columns that `incast explain` describes."""
    from incast import _core
    from incast.cli.aliases import ALIASES
    from incast.cli.names import KINDS, entries
    from incast.scenario import schema

    names = [key.name for key in schema.all_keys()]
    names += [entry["name"] for kind in KINDS for entry in entries(kind)]
    names += [alias.name for alias in ALIASES]
    names += ["columns", *(column["name"] for column in json.loads(_core.columns("rows")))]
    return _beginning(names, incomplete)


def kinds(incomplete: str) -> list[str]:
    """Offer the kinds of names that `incast list` lists."""
    from incast.cli.names import KINDS

    return _beginning(KINDS, incomplete)


def models(incomplete: str) -> list[str]:
    """Offer the models."""
    from incast.models import MODELS

    return _beginning(MODELS, incomplete)


def plots(incomplete: str) -> list[str]:
    """Offer the kinds of pictures."""
    from incast.plots import KINDS

    return _beginning(KINDS, incomplete)


def figures(incomplete: str) -> list[str]:
    """Offer the papers and their figures."""
    from incast.reproduce import papers

    texts = papers.load(papers.folder())
    names = [*texts, *(one.name for one in papers.select(texts, []))]
    return _beginning(names, incomplete)


def columns(incomplete: str) -> list[str]:
    """Offer a column after the columns that are already given."""
    from incast.results.columns import known

    before, comma, _ = incomplete.rpartition(",")
    return _beginning([f"{before}{comma}{name}" for name in known()], incomplete)


def conditions(incomplete: str) -> list[str]:
    """Offer the conditions that have a name."""
    return _beginning(["collapse", "unfinished"], incomplete)


def traces(incomplete: str) -> list[str]:
    """Offer a trace after the traces that are already given."""
    from incast.results.traces import KINDS

    before, comma, _ = incomplete.rpartition(",")
    return _beginning([f"{before}{comma}{name}" for name in KINDS], incomplete)


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]
