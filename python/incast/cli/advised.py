"""Advice for people: the verdict, a table of fixes, and the commands of each fix."""

from incast import units
from incast.advise import Advice
from incast.advise.search import Advised, Gain, Tried
from incast.cli.console import Paper
from incast.grid import Column, narrowed
from incast.scenario.facts import words

_MOST_NAMED = 8  # maximum number of rejected fixes that are named for one reason


def render(advice: Advice, paper: Paper) -> None:
    """Print the whole page."""
    case = advice.case
    paper.heading(case.scenario.plan.title or "Untitled scenario")
    paper.sentence(words([case.here]))
    for text in (*case.notes, *advice.sentences()):
        paper.sentence(text)
    paper.sentence(f"Limiting resource: {advice.limit.name}. {advice.limit.sentences()}")
    paper.print()
    if advice.fixes:
        _fixes(advice, paper)
    else:
        paper.sentence(advice.nothing())
    _tried(advice, paper)
    _elsewhere(advice, paper)
    _more(advice, paper)


def _more(advice: Advice, paper: Paper) -> None:
    """Print the gain of remedies from research, what to measure first, and the envelope."""
    if advice.research:
        paper.print()
        paper.heading("What remedies from research would gain")
        for prospect in advice.research:
            times = units.number(prospect.ratio, 3)
            paper.entry(f"{prospect.name}: ", f"goodput × {times} ({prospect.what})")
    if advice.sensitive_to:
        paper.print()
        paper.heading("Measure this first")
        for one in advice.sensitive_to:
            paper.entry(f"{one.name} × {one.factor:g}: ", f"{one.said}. {one.measure}")
    elif advice.sensitive_to is not None:
        paper.print()
        paper.sentence(
            "Half or twice the buffer, round trip or answer size would give the same advice."
        )
    if advice.reused:
        paper.print()
        new = units.plural(advice.simulated, "run")
        paper.sentence(f"{new} simulated; {advice.reused} were already stored.")
    paper.print()
    where = advice.envelope
    paper.sentence(f"Envelope: {where.word}. {where.why} See {where.page}.")


def brief(advice: Advice) -> list[str]:
    """Return an answer in a few lines."""
    lines = [*advice.sentences(), f"Limiting resource: {advice.limit.name}."]
    return [
        *lines,
        *(
            f"{one.fix.who}: {one.fix.name}, goodput × {_times(one.goodput)}"
            + (f", {advice.goal.label} × {_late(one)}" if one.late is not None else "")
            for one in advice.fixes
        ),
    ]


def _fixes(advice: Advice, paper: Paper) -> None:
    fixes = advice.fixes
    unit, rate = units.rates(
        [value for one in fixes for value in (one.goodput.before, one.goodput.after)]
    )
    numbers = Column("number", "", [f"{n}." for n in range(1, len(fixes) + 1)])
    shown = [
        Column("who", "who changes", [str(one.fix.who) for one in fixes], 5),
        Column("fix", "fix", [one.fix.name for one in fixes], 0),
        Column("goodput", f"goodput\n{unit}", [rate(one.goodput.after) for one in fixes], 6),
        Column("gain", "goodput\ntimes", [_times(one.goodput) for one in fixes], 1),
        Column("interval", "95 % CI", [_ends(one.goodput) for one in fixes], 2),
        Column("late", f"block {advice.goal.label}\ntimes", [_late(one) for one in fixes], 3),
        Column("late interval", "95 % CI", [_late_ends(one) for one in fixes], 4),
    ]
    paper.table([numbers], narrowed(shown, "fix", [numbers], paper.space))
    seeds = fixes[0].goodput.seeds
    before = f"{rate(fixes[0].goodput.before)} {unit}{_late_before(advice)} without a fix"
    if advice.found.confirmed:
        fresh = "not used to choose the fixes"
        paper.sentence(f"{before}; {units.plural(seeds, 'seed')}, {fresh}.")
    else:
        more = "there was no time for other seeds: increase --budget"
        paper.sentence(
            f"{before}; {units.plural(seeds, 'seed')}, the ones used to choose the fixes; {more}."
        )
    if advice.goal.bound is not None:
        paper.sentence(_bound(advice))
    for number, one in enumerate(fixes, 1):
        paper.print()
        paper.heading(f"{number}. {one.fix.what} ({one.fix.who})")
        for line in one.fix.text.splitlines():
            paper.print(f"    {line}", markup=False, highlight=False, soft_wrap=True)
        paper.sentence("Undo:")
        for line in one.fix.rollback.splitlines():
            paper.print(f"    {line}", markup=False, highlight=False, soft_wrap=True)
        paper.entry("Price: ", " ".join(one.prices()))
        paper.entry("Risk:  ", one.fix.risk)


def _tried(advice: Advice, paper: Paper) -> None:
    """Print the fixes that are not advised, by reason."""
    reasons: dict[str, list[str]] = {}
    for one in advice.found.tried:
        if one.why.startswith("less than"):
            continue
        reasons.setdefault(one.why, []).append(f"{one.fix.name}{_changed(one, advice.goal.label)}")
    if not reasons:
        return
    paper.print()
    paper.heading("Tried, but not advised")
    for why, names in reasons.items():
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        paper.entry(f"{why}: ", ", ".join(names[:_MOST_NAMED]) + more)


def _elsewhere(advice: Advice, paper: Paper) -> None:
    """Print where to look for losses that happen elsewhere than at the switch's port."""
    if advice.elsewhere is None:
        return
    paper.print()
    paper.sentence(advice.elsewhere.sentence())
    for one in advice.elsewhere.places:
        paper.print(f"    {one.command}", markup=False, highlight=False, soft_wrap=True)
        paper.sentence(f"{one.name[0].upper()}{one.name[1:]}: {one.shows}")


def _times(gain: Gain) -> str:
    return units.number(gain.ratio, 3)


def _ends(gain: Gain) -> str:
    return f"{units.number(gain.low, 3)} to {units.number(gain.high, 3)}"


def _late(one: Advised) -> str:
    return units.NONE if one.late is None else _times(one.late)


def _late_ends(one: Advised) -> str:
    return units.NONE if one.late is None else _ends(one.late)


def _late_before(advice: Advice) -> str:
    """Return the percentile of the block times without a fix."""
    late = advice.fixes[0].late
    return "" if late is None else f" and a block {advice.goal.label} of {units.time(late.before)}"


def _bound(advice: Advice) -> str:
    """Name the fixes that meet the limit of the goal."""
    kept = [str(number) for number, one in enumerate(advice.fixes, 1) if one.kept]
    bound = units.time(advice.goal.bound or 0.0)
    if not kept:
        return f"No fix certainly brings {advice.goal.label} below {bound}."
    return f"Fixes that certainly bring {advice.goal.label} below {bound}: {', '.join(kept)}."


def _changed(one: Tried, label: str) -> str:
    """Return the factors by which goodput and percentile change."""
    if one.ratio is None:
        return ""
    late = "" if one.late is None else f", {label} × {units.number(one.late, 3)}"
    return f" (× {units.number(one.ratio, 3)}{late})"
