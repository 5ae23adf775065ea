"""The ranking as a picture: a row per remedy, grouped by the parties that must change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incast.plots import style
from incast.plots.sheet import RC
from validation.ranking.judge import LEVELS

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from validation.ranking.judge import Ranking, Standing

_ROW = 0.215  # height of a row in inches
_LOOKS = (("o", "#0072B2", 6.0), ("|", "0.45", 8.0), ("d", "#E69F00", 5.0))


def draw(path: Path, ranking: Ranking) -> None:
    """Write the picture."""
    import matplotlib as mpl

    lines: list[tuple[str, Standing | None]] = []
    for group in ranking.groups:
        lines.append((group.title, None))
        lines += [(one.label, one) for one in group.standings]
        if len(group.standings) > 1:
            lines.append((group.best.label, group.best))
    lines += [("All", None), (ranking.best.label, ranking.best)]

    with mpl.rc_context(RC):
        figure, (axes,) = style.sheet(
            "How often does a remedy keep a read near its ideal?",
            f"Share of {len(ranking.scenarios)} random scenarios; bars are Wilson's 95 % intervals "
            "for the first level. Groups name the parties that must change.",
            size=(7.4, 1.9 + _ROW * len(lines)),
        )
        for place, (_, standing) in enumerate(lines):
            if standing is None:
                axes.axhline(place, color="0.8", lw=0.8, zorder=0)
            else:
                _mark(axes, place, standing)
        axes.set_xlim(-1, 101)
        axes.set_ylim(len(lines) - 0.4, -0.6)
        axes.set_yticks(range(len(lines)), [label for label, _ in lines])
        for text, (label, standing) in zip(axes.get_yticklabels(), lines, strict=True):
            text.set_fontweight("bold" if standing is None else "normal")
            text.set_fontstyle("italic" if label.startswith("the best of") else "normal")
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel("scenarios [%] in which the remedy keeps this share of the ideal")
        handles = [
            axes.plot([], [], ls="", label=f"at least {100 * level:.0f} %", **_look(at))[0]
            for at, level in enumerate(LEVELS)
        ]
        style.legend(figure, handles)
        figure.savefig(path, dpi=110)


def _mark(axes: Axes, place: int, standing: Standing) -> None:
    first = standing.kept[0]
    axes.hlines(place, 100 * first.low, 100 * first.high, color="black", lw=1.2, zorder=2)
    for at, kept in enumerate(standing.kept):
        axes.plot([100 * kept.share], [place], ls="", zorder=3 + (at == 0), **_look(at))


def _look(at: int) -> dict[str, object]:
    marker, colour, size = _LOOKS[at]
    fill = colour if at == 0 else "white"
    return {"marker": marker, "color": colour, "ms": size, "mfc": fill, "mew": 1.3}
