"""The style of all pictures: legible in print, in grey, and with colour blindness."""

from collections.abc import Iterable, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, NullLocator

from incast import units
from incast.plots.sheet import Sheet
from incast.results.causes import CAUSES, OTHER_STALLS, UNKNOWN
from incast.results.series import SERVERS, written
from incast.scenario.resolved import Resolved

# Okabe and Ito's colours, ordered so that neighbours also differ in lightness. Curves also differ
# in marker and dash, and areas in hatch, so that both can be distinguished without colour.
COLOURS = ("#0072B2", "#E69F00", "#000000", "#56B4E9", "#D55E00", "#009E73", "#CC79A7")
MARKERS = "osD^vP*X<>phd8"
DASHES: Sequence[Any] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))

_STAR = 9.5  # points: a star is larger than other markers, because its edge covers its rays
_LETTERS_PER_INCH = 14.5  # in the facts, so that their lines fit
_TITLE_LETTERS_PER_INCH = 9.8
_MOST_LINES = 3  # maximum of a title, and of the facts
_NAMES_PER_ROW = 4  # maximum in a legend
_LETTERS_PER_NAME = 80  # maximum in a legend
_LETTERS_PER_TICK = 18  # maximum per line of a label under an axis
_LETTERS_PER_AXIS = 80  # maximum of all horizontal labels under an axis together
_LETTERS_PER_HANDLE = 6  # width of the line beside a name, and of the gap to the next name
GUIDE = "0.45"  # grey level of lines that show no data: rates, limits
IDLE = "0.88"  # grey level of times in which the link is idle

# The colour and hatch of each cause of a timeout.
CAUSE_LOOKS = {
    cause: (colour, hatch)
    for cause, colour, hatch in zip(
        CAUSES,
        ("#D55E00", "#E69F00", "#56B4E9", "#F0E442", "#000000", "#CC79A7"),
        ("", "//", "\\\\", "..", "", "xx"),
        strict=True,
    )
}
# The colour and hatch of each cause of a stall without a timeout.
STALL_LOOKS = {
    cause: (colour, hatch)
    for cause, colour, hatch in zip(
        OTHER_STALLS,
        ("#009E73", "#CC79A7", "0.75", "#56B4E9", "white", "0.55"),
        ("||", "--", "xx", "oo", "..", "//"),
        strict=True,
    )
}
UNKNOWN_LOOKS = dict.fromkeys(UNKNOWN, ("#D55E00", "xx"))


def sheet(
    title: str, facts: str, panels: int = 1, size: tuple[float, float] = (6.4, 4.2), **layout: Any
) -> tuple[Figure, list[Axes]]:
    """Return an empty figure with a title above lines of facts, and the panels of the figure.

    Parameters
    ----------
    title
        The scenario's title.
    facts
        Facts needed to read the numbers.
    panels
        The number of panels, which are below each other unless `layout` says otherwise.
    size
        Width and height in inches.
    **layout
        Passed to `Figure.subplots`, or to `Figure.subplot_mosaic` if it has a `mosaic`.
    """
    width, height = size
    lines = _lines(facts, width * _LETTERS_PER_INCH)
    titles = _lines(title, width * _TITLE_LETTERS_PER_INCH) or [""]
    below = 0.33 + 0.19 * (len(titles) - 1)  # inches from the top to the facts
    figure = Sheet(figsize=size)
    top = 1 - (0.09 + below + 0.17 * len(lines)) / height
    figure.set_layout_engine("constrained", rect=(0, 0, 1, top))
    if "mosaic" in layout:
        axes = list(figure.subplot_mosaic(**layout).values())
    else:
        shape = {"nrows": panels, "ncols": 1, "squeeze": False, **layout}
        axes = figure.subplots(**shape).ravel().tolist()
    text: dict[str, Any] = {"ha": "left", "va": "top"}
    bold = {**text, "fontsize": 11.5, "fontweight": "bold"}
    figure.text(0.1 / width, 1 - 0.1 / height, "\n".join(titles), **bold)
    figure.text(0.1 / width, 1 - below / height, "\n".join(lines), fontsize=9, color="0.3", **text)
    return figure, axes


def literal(text: str) -> str:
    """Return text that matplotlib does not interpret as markup."""
    return units.plain(text).replace("$", r"\$")


def _lines(text: str, letters: float) -> list[str]:
    kept = units.lines(units.plain(text), int(letters), most=_MOST_LINES)
    return [literal(line) for line in kept]


def size(curves: int) -> tuple[float, float]:
    """Return width and height in inches of a figure with one panel and a legend of curves."""
    rows = -(-curves // _NAMES_PER_ROW)
    return 6.4, 4.2 + 0.17 * max(rows - 2, 0)


def shorten(text: str, letters: int) -> str:
    """Shorten a text to at most this many letters."""
    return text if len(text) <= letters else text[: letters - 1] + "…"


def legend(figure: Figure, handles: Sequence[Any], columns: int = _NAMES_PER_ROW) -> None:
    """Put the legend under the panels, where it hides no data."""
    if handles:
        for handle in handles:
            handle.set_label(literal(shorten(handle.get_label(), _LETTERS_PER_NAME)))
        longest = max(len(handle.get_label()) for handle in handles) + _LETTERS_PER_HANDLE
        fitting = int(figure.get_figwidth() * _LETTERS_PER_INCH / longest)
        columns = max(1, min(columns, fitting))
        figure.legend(handles=handles, loc="outside lower center", ncols=columns)


def curve(index: int) -> dict[str, Any]:
    """Return the style of the n-th curve; when colours are used again, markers are hollow."""
    colour = COLOURS[index % len(COLOURS)]
    hollow = index // len(COLOURS) % 2 == 1
    larger = {"markersize": _STAR} if MARKERS[index % len(MARKERS)] == "*" else {}
    return larger | {
        "color": colour,
        "marker": MARKERS[index % len(MARKERS)],
        "linestyle": DASHES[index % len(DASHES)],
        "markerfacecolor": "white" if hollow else colour,
        "markeredgecolor": colour if hollow else "white",
        "markeredgewidth": 1.1 if hollow else 0.6,
    }


def crosses(axes: Axes, x: Sequence[float], y: float, label: str) -> None:
    """Mark times of losses."""
    if x:  # an empty set of unclipped marks would confuse the layout
        axes.plot(x, [y] * len(x), "x", color=COLOURS[4], label=label, clip_on=False)


def looks(name: str) -> tuple[str, str]:
    """Return colour and hatch of a cause of timeouts or stalls, by its column in the rows."""
    return (CAUSE_LOOKS | STALL_LOOKS | UNKNOWN_LOOKS)[name]


def cause(name: str, prefix: str = "") -> Patch:
    """Return the legend entry of a cause of timeouts or stalls, by its column in the rows."""
    colour, hatch = looks(name)
    label = prefix + (CAUSES | OTHER_STALLS | UNKNOWN)[name]
    return Patch(facecolor=colour, hatch=hatch, edgecolor="0.15", linewidth=0.4, label=label)


def guide(axes: Axes, y: float, text: str, *, left: bool = False) -> None:
    """Draw a horizontal guide line, with its name at its right or left end."""
    axes.axhline(y, color=GUIDE, linewidth=1.1, linestyle=(0, (4, 2)), zorder=1.5)
    axes.annotate(
        text,
        (0.0 if left else 1.0, y),
        xycoords=("axes fraction", "data"),
        xytext=(4 if left else -2, 5),
        textcoords="offset points",
        ha="left" if left else "right",
        color="0.3",
        fontsize=8.5,
        bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "alpha": 0.7, "linewidth": 0},
    )


def lines(points: Iterable[Resolved]) -> dict[float, str]:
    """Return the line rates in bit/s that limit the goodput of these points, with their names."""
    return {point.limit: point.line for point in points}


def name_of(key: str | None) -> str:
    """Return the name of a swept key for an axis."""
    return "servers" if key == SERVERS else key or ""


def positions(axes: Axes, key: str | None, values: Sequence[Any]) -> list[float]:
    """Set up the horizontal axis for the swept values; return the position of each value.

    Numbers that span more than a factor of ten have a logarithmic axis. Strings are evenly spaced,
    in the order of the sweep.
    """
    axes.set_xlabel(name_of(key))
    distinct = list(dict.fromkeys(values))
    if not all(isinstance(value, int | float) for value in distinct):
        names = ["\n".join(_wrapped(written(value))) for value in distinct]
        longest = max(len(line) for name in names for line in name.split("\n"))
        axes.set_xticks(range(len(distinct)), names)
        if longest * len(distinct) > _LETTERS_PER_AXIS:  # side by side they would overlap
            axes.tick_params(axis="x", labelrotation=90)
        axes.margins(x=0.06)
        return [float(distinct.index(value)) for value in values]
    low, high = min(distinct), max(distinct)
    if low > 0 and high / low > 10:  # noqa: PLR2004 (a decade)
        axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(_thinned(sorted(distinct), axes)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    return [float(value) for value in values]


def _wrapped(text: str) -> list[str]:
    """Return the lines of a label under an axis."""
    kept = units.lines(units.plain(text), _LETTERS_PER_TICK, most=_MOST_LINES)
    return [literal(line) for line in kept] or [""]


def _thinned(values: list[float], axes: Axes) -> list[float]:
    """Leave out values whose labels would touch, keeping the ends."""
    scale = axes.get_xaxis().get_transform()
    where = [float(scale.transform([value])[0]) for value in values]
    gap = 0.045 * (where[-1] - where[0])
    kept = [0]
    for i in range(1, len(values)):
        if where[i] - where[kept[-1]] >= gap:
            kept.append(i)
    if kept[-1] != len(values) - 1:
        kept[-1] = len(values) - 1
    return [values[i] for i in kept]
