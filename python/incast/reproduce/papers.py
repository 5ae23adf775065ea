"""The texts and their figures: every folder is a text, and every file in the folder a figure."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from incast.errors import FigureError
from incast.reproduce.data import check_stat
from incast.reproduce.figure import Base, Figure
from incast.reproduce.ledger import Ledger, Scorecard
from incast.reproduce.strict import choose, take
from incast.userfile import NotTextError, text_of

T = TypeVar("T")

_BASE = "base"
_ABOUT = (_BASE, "ledger", "scorecard")  # files about the text, which are no figures
_OWN = (
    "claims",
    "plot",
    "search",
    "title",
    "extends",
    "described",
    "orders",
)  # keys that a figure does not pass on to figures that extend it


@dataclass(frozen=True)
class Paper:
    """One text.

    Parameters
    ----------
    name
        Name of the text's folder.
    base
        The `base.toml` that the figures share.
    figures
        The figures by name, in the order of their numbers.
    reference
        The folder of another simulator's data, if there is one.
    ledger
        Decisions about the text's claims.
    scorecard
        The headlines of the text.
    """

    name: str
    base: Base
    figures: Mapping[str, Figure]
    reference: Path | None
    ledger: Ledger
    scorecard: Scorecard


@dataclass(frozen=True)
class Chosen:
    """A figure, and its text."""

    paper: Paper
    number: str
    figure: Figure

    @property
    def name(self) -> str:
        """The name that selects the figure: `text/number`."""
        return f"{self.paper.name}/{self.number}"

    @property
    def place(self) -> str:
        """The figure's place in the text: `figure 3.3`, `figures 2 to 4`, `table 1`, and so on."""
        if found := re.fullmatch(r"(section|table)-?(.+)", self.number):
            return f"{found[1]} {found[2]}"
        if found := re.fullmatch(r"([\d.]+)-([\d.]+)", self.number):
            return f"figures {found[1]} to {found[2]}"
        number, _, variant = self.number.partition("-")
        return f"figure {number}" + f", {variant}" * bool(variant)


def folder(given: Path | None = None) -> Path:
    """Return the folder of the texts: `given`, or `papers` in the working folder or the package.

    Raises
    ------
    FigureError
        The folder has no texts.
    """
    places = [given] if given else [Path("papers"), Path(__file__).parents[1] / "papers"]
    for place in places:
        if any(place.glob(f"*/{_BASE}.toml")):
            return place
    raise FigureError(f"{places[-1]}: contains no texts; a text is a folder with a {_BASE}.toml")


def load(place: Path) -> dict[str, Paper]:
    """Read every text in a folder.

    Raises
    ------
    FigureError
        A file is invalid. The message names the file and the key.
    """
    return {base.parent.name: _paper(base.parent) for base in sorted(place.glob(f"*/{_BASE}.toml"))}


def select(papers: Mapping[str, Paper], names: Iterable[str]) -> list[Chosen]:
    """Return the figures of the names `text` or `text/number`; without names, all figures.

    Raises
    ------
    FigureError
        A text or a figure does not exist. The message suggests a similar name.
    """
    found: dict[str, Chosen] = {}
    for name in [*names] or [*papers]:
        text, _, number = name.strip("/").partition("/")
        paper = choose(text, papers, "texts")
        wanted = [number] if number else [*paper.figures]
        for one in wanted:
            chosen = Chosen(paper, one, choose(one, paper.figures, f"figures of {text}"))
            found[chosen.name] = chosen
    return list(found.values())


def changed(chosen: Chosen, changes: Mapping[str, object]) -> Chosen:
    """Return a figure with keys set in every simulated curve; models keep their own scenario.

    Parameters
    ----------
    chosen
        The figure.
    changes
        Keys and their values, e.g. `{"network.clock_noise": "1us"}`. The changes replace
        the figure's values.
    """
    series = [
        replace(one, set={**one.set, **changes}) if one.simulated else one
        for one in chosen.figure.series
    ]
    return replace(chosen, figure=replace(chosen.figure, series=series))


def _paper(place: Path) -> Paper:
    base = take(Base, _read(place / f"{_BASE}.toml"), str(place / f"{_BASE}.toml"))
    trees = {file.stem: _read(file) for file in place.glob("*.toml") if file.stem not in _ABOUT}
    figures = {
        name: _figure(trees, name, f"{place / name}.toml") for name in sorted(trees, key=_number)
    }
    seen: dict[str, str] = {}
    for name, figure in figures.items():
        for claim in figure.claims:
            if claim.id in seen:
                where = f"{place / name}.toml: claims"
                raise FigureError(f"{where}: {claim.id} is already a claim of {seen[claim.id]}")
            seen[claim.id] = name
    _check_readings(figures, place)
    reference = place / base.reference if base.reference else None
    ledger = _about(Ledger, place / "ledger.toml")
    ledger.check(seen.keys(), str(place / "ledger.toml"))
    scorecard = _about(Scorecard, place / "scorecard.toml")
    scorecard.check(seen.keys(), str(place / "scorecard.toml"))
    return Paper(place.name, base, figures, reference, ledger, scorecard)


def _about(cls: type[T], file: Path) -> T:
    return take(cls, _read(file), str(file)) if file.exists() else cls()


def _check_readings(figures: Mapping[str, Figure], place: Path) -> None:
    principal = dict.fromkeys(
        claim.id for one in figures.values() for claim in one.claims if not claim.reading_of
    )
    for name, figure in figures.items():
        for claim in figure.claims:
            if claim.reading_of:
                where = f"{place / name}.toml: claims, {claim.id}: reading_of"
                choose(claim.reading_of, principal, where)


def _figure(trees: Mapping[str, dict[str, Any]], name: str, where: str) -> Figure:
    figure = take(Figure, _extended(trees, name, where), where)
    check_stat(figure.stat, f"{where}: stat")
    labels = [series.label for series in figure.series]
    for order in figure.orders:
        for label in order.above:
            choose(label, dict.fromkeys(labels, 0), f"{where}: orders: above")
    if len(set(labels)) != len(labels):
        raise FigureError(f"{where}: series: two curves have the same label")
    for claim in figure.claims:
        if claim.predicate is not None:
            for label in claim.predicate.series():
                choose(label, dict.fromkeys(labels), f"{where}: claims, {claim.id}: series")
    simulated = {series.label: 0 for series in figure.series if series.simulated}
    for series in figure.series:
        if series.printed and series.printed != [min(series.printed), max(series.printed)]:
            told = "must be two numbers, the lower one first"
            raise FigureError(f"{where}: series, {series.label}: printed: {told}")
        if series.measured:
            choose(series.measured, simulated, f"{where}: series, {series.label}: measured")
    if figure.kind == "timeline" and len(figure.series) > 1:
        raise FigureError(f"{where}: series: a timeline must have one curve")
    for needed in _NEEDS[figure.kind]:
        if not getattr(figure, needed):
            raise FigureError(f"{where}: {needed} is missing; the kind {figure.kind} needs it")
    return figure


_NEEDS = {
    "sweep": ("series", "plot", "x"),
    "bars": ("series", "plot", "x"),
    "gain": ("series", "plot", "x"),
    "map": ("series", "plot", "x"),
    "histogram": ("series", "plot"),
    "history": ("series", "plot"),
    "timeline": ("series", "plot", "search"),
    "claims": ("claims",),
}


def _extended(trees: Mapping[str, dict[str, Any]], name: str, where: str) -> dict[str, Any]:
    """Merge a figure with the figure that it extends, without the latter's `_OWN` keys."""
    own = dict(trees[name])
    parent = own.pop("extends", None)
    if parent is None:
        return own
    choose(parent, {other: 0 for other in trees if other != name}, f"{where}: extends")
    if "extends" in trees[parent]:
        raise FigureError(f"{where}: extends: {parent} must not extend another figure")
    under = {key: value for key, value in trees[parent].items() if key not in _OWN}
    return merged(under, own)


def merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Lay one tree over another: tables are merged, and all other values are replaced."""
    result = dict(under)
    for key, value in over.items():
        below = result.get(key)
        both = isinstance(below, Mapping) and isinstance(value, Mapping)
        result[key] = merged(below, value) if both else value  # type: ignore[arg-type]
    return result


def _number(name: str) -> tuple[tuple[int, str], ...]:
    """Return a key that sorts figure 3.10 after 3.9, and 6a before 6b."""
    parts = []
    for part in name.replace("-", ".").split("."):
        digits = "".join(c for c in part if c.isdigit())
        parts.append((int(digits) if digits else 0, part))
    return tuple(parts)


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text_of(file))
    except OSError as error:
        raise FigureError(f"{file}: {error.strerror}") from None
    except NotTextError as error:
        raise FigureError(f"{file}: {error}") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise FigureError(f"{file}: not valid TOML: {error}") from None
