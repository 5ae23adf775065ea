"""`incast explain`: the meaning of a key, a part or a column."""

import json
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incast.cli import aliases
from incast.cli.complete import explained

if TYPE_CHECKING:
    from incast.cli.console import Paper
    from incast.scenario.schema import Key

_LIKE = 0.7  # minimum similarity of a name that is suggested
_COLUMNS = "columns"
# For each registry, the key of a scenario that takes its parts.
_PLACES = {
    "topologies": "network.topology",
    "queues": "network.queue",
    "buffers": "network.buffer",
    "congestion-controls": "transport.congestion_control",
    "recoveries": "transport.recovery",
    "remedies": "transport.remedies",
}


def explain(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[KEY]",
            help="A key (transport.rto_min, or rto_min), a table (network), a part (plato), "
            "a column of results (goodput_bps), or the word columns for a list of all columns.",
            show_default=False,
            autocompletion=explained,
        ),
    ] = None,
) -> None:
    """Describe a key: values, range, default per profile, source.

    Without KEY, list the tables of a scenario. Examples: incast explain network.buffer;
    incast explain transport; incast explain plato; incast explain columns
    """
    from incast.cli.console import Paper

    paper = Paper()
    if name is None:
        _overview(paper)
        return
    if name == _COLUMNS:
        from incast.results.traces import KINDS

        for table in ("rows", *(kind.table for kind in KINDS.values())):
            paper.heading(table)
            paper.listing(_columns(table))
        return
    asked = ".".join(part for part in name.split(".") if not part.isdigit())
    asked = asked.replace("background.transport.", "transport.")
    found, alias = _found(asked), aliases.find(asked)
    if not found.any() and alias is None:
        found = _found(asked.lower())  # e.g. PLATO, as the paper writes it
    if not found.any() and alias is None:
        raise typer.BadParameter(f"there is no {name!r}{_hint(asked)}", param_hint="KEY")
    if alias is not None and not (found.keys or found.columns):
        _alias(paper, alias)
    _tell(paper, found)


@dataclass(frozen=True)
class _Found:
    """The meanings of a name: keys, parts with their kinds, parameters of parts, and columns."""

    keys: "list[Key]"
    entries: list[tuple[str, dict[str, Any]]]
    parameters: list[tuple[str, str, dict[str, Any]]]
    columns: list[tuple[str, str, str]]

    def any(self) -> bool:
        return bool(self.keys or self.entries or self.parameters or self.columns)


def _found(asked: str) -> _Found:
    from incast.scenario import schema

    keys = [key for key in schema.all_keys() if key.name == asked]
    keys = keys or [key for key in schema.all_keys() if key.name.endswith(f".{asked}")]
    entries = [] if keys and "." in asked else _entries(asked)
    return _Found(keys, entries, [] if keys else _parameters(asked), _named(asked))


def _tell(paper: "Paper", found: _Found) -> None:
    for key, variants in _merged(found.keys):
        _key(paper, key, variants)
    for column, unit, meaning in found.columns:
        paper.heading(f"{column}: a column of results")
        paper.entry("  means     ", meaning)
        paper.entry("  unit      ", unit or "a number, a ratio or a string")
    for kind, entry in found.entries:
        _entry(paper, kind, entry)
    same: dict[str, tuple[str, list[str], dict[str, Any]]] = {}
    for place, part, about in found.parameters:
        same.setdefault(f"{place} {json.dumps(about)}", (place, [], about))[1].append(part)
    for place, parts, about in same.values():
        paper.heading(f"{place}: a parameter of {', '.join(parts)}")
        paper.entry("  means     ", str(about.get("description", "")))
        paper.entry("  takes     ", _takes(about))


def _alias(paper: "Paper", alias: "aliases.Alias") -> None:
    """Print the meaning of a term, and its names in incast."""
    paper.heading(f"{alias.name}: a term of the literature or of a switch")
    paper.entry("  means     ", alias.means)
    paper.entry("  from      ", alias.source)
    if alias.here:
        paper.entry("  here      ", ", ".join(alias.here))


def _named(asked: str) -> list[tuple[str, str, str]]:
    """Return the columns with this name; as in `--columns`, the unit may be left out."""
    from incast.errors import ColumnError
    from incast.results.columns import known, resolve

    told = _columns("rows")
    exact = [column for column in told if column[0] == asked]
    if exact:
        return exact
    try:
        whole = resolve(asked, known())
    except ColumnError:
        return []
    return [column for column in told if column[0] == whole]


def _parameters(asked: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Return the parameters with this name: the key in a scenario, the part, and the schema."""
    from incast.scenario import schema

    above, _, last = asked.rpartition(".")
    return [
        (f"{place}.{last}", entry["name"], entry["parameters"][last])
        for kind, place in _PLACES.items()
        for entry in schema.registry(kind)
        if last in entry["parameters"] and (not above or f"{place}".endswith(above))
    ]


def _overview(paper: "Paper") -> None:
    from incast.scenario import schema

    properties = schema.schema()["properties"]
    paper.listing([(name, about["description"]) for name, about in properties.items()])
    paper.sentence(
        "incast explain TABLE lists the keys of a table, incast explain KEY describes a key, "
        "incast explain columns lists the columns of results, and incast list lists the parts."
    )


def _merged(keys: "list[Key]") -> "list[tuple[Key, list[str]]]":
    """Return each key once, with the tables in which it has the same description."""
    found: dict[str, tuple[Key, list[str]]] = {}
    for key in keys:
        same = f"{key.name} {json.dumps(key.about, sort_keys=True)}"
        found.setdefault(same, (key, []))[1].append(key.variant)
    return [(key, [name for name in variants if name]) for key, variants in found.values()]


def _key(paper: "Paper", key: "Key", variants: list[str]) -> None:
    from incast.scenario import schema

    paper.heading(f"{key.name} ({', '.join(variants)})" if variants else key.name)
    means = str(key.about.get("description", ""))
    paper.entry("  means     ", means)
    paper.entry("  takes     ", schema.accepts(key.about))
    if schema.bounds(key.about):
        paper.entry("  range     ", schema.bounds(key.about))
    below = [one for one in schema.all_keys() if one.name.rpartition(".")[0] == key.name]
    table = schema.accepts(key.about) in {"table", "list of tables", "table or list of tables"}
    if not table and (default := _default(key)):
        paper.entry("  default   ", default)
    if sources := schema.sources(means):
        paper.entry("  source    ", ", ".join(sources))
    choices = schema.choices(key.about)
    if any(meaning for _, meaning in choices):
        paper.sentence("  names")
        for name, meaning in choices:
            paper.entry(f"    {name:18} ", meaning)
    elif choices:
        paper.entry("  names     ", ", ".join(name for name, _ in choices))
    rows = []
    for one, of in _merged(below):
        about = f" ({', '.join(of)})" if of else ""
        name = one.name.removeprefix(f"{key.name}.")
        rows.append((name, f"{schema.accepts(one.about)}{about}", one.about, _default(one)))
    _parts(paper, rows)


def _default(key: "Key") -> str:
    """Return the default, for each profile if they differ; an empty string if there is none."""
    from incast.scenario import schema

    # Profiles set no key of a variant, such as a transport of another family.
    of = {} if key.variant else schema.of_profiles(key.name)
    if set(of.values()) and len(of) == len(schema.profiles()):
        values: dict[str, list[str]] = {}
        for profile, value in of.items():
            values.setdefault(value, []).append(profile)
        if len(values) == 1:
            return next(iter(values))
        return "; ".join(f"{value} ({', '.join(names)})" for value, names in values.items())
    return schema.default(key.about)


def _parts(paper: "Paper", rows: list[tuple[str, str, dict[str, Any], str]]) -> None:
    """Print the keys of a table or a part; a row has name, kind of value, schema and default."""
    if not rows:
        return
    paper.sentence("  keys")
    told = []
    for name, takes, about, default in rows:
        text = str(about.get("description", ""))
        given = f" Default: {default}." if default and "efault" not in text else ""
        told.append((f"    {name}", f"{takes}: {text}{given}"))
    paper.listing(told)


def _entry(paper: "Paper", kind: str, entry: dict[str, Any]) -> None:
    from incast.scenario import schema

    what = "a kind of picture" if kind == "plots" else f"one of the {kind}"
    paper.heading(f"{entry['name']}: {what}")
    paper.entry("  means     ", entry["summary"])
    if kind == "plots":
        paper.entry("  draw it   ", f"incast plot DIR --kind {entry['name']}")
    if sources := schema.sources(entry["summary"]):
        paper.entry("  source    ", ", ".join(sources))
    parameters = entry["parameters"].items()
    _parts(
        paper,
        [(name, _takes(about), about, schema.default(about)) for name, about in parameters],
    )


def _takes(about: dict[str, Any]) -> str:
    """Return the kind of value that a parameter takes; `answer` for a number from a model."""
    from incast.scenario import schema

    return schema.accepts(about) or "answer"


def _entries(name: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the parts with this name; leave out a transport whose summary is another part's."""
    from incast.cli.names import KINDS, entries

    found = [(kind, entry) for kind in KINDS for entry in entries(kind) if entry["name"] == name]
    own = [(kind, entry) for kind, entry in found if kind != "transports"]
    summaries = {entry["summary"] for _, entry in own}
    return own + [one for one in found if one not in own and one[1]["summary"] not in summaries]


def _columns(table: str) -> list[tuple[str, str, str]]:
    from incast import _core
    from incast.results.added import DESCRIPTIONS

    told = json.loads(_core.columns(table))
    found = [(each["name"], each["unit"], each["description"]) for each in told]
    return [*found, *DESCRIPTIONS] if table == "rows" else found


def _hint(asked: str) -> str:
    """Suggest the most similar name; a name with the same letters in another order is similar."""
    names = explained("")
    last = asked.rpartition(".")[2]

    def likeness(name: str) -> float:
        own = name.rpartition(".")[2]
        return max(
            SequenceMatcher(None, asked, name).ratio(),
            SequenceMatcher(None, last, own).ratio(),
            0.99
            * SequenceMatcher(
                None, sorted(last.replace("_", "")), sorted(own.replace("_", ""))
            ).ratio(),
        )

    best = max(names, key=likeness)
    if likeness(best) >= _LIKE:
        return f"; did you mean {best!r}?"
    return "; incast explain lists the tables, and incast list lists the parts"
