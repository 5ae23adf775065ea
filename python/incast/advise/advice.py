"""The advice for a case: everything that is printed or shown on a page."""

from dataclasses import dataclass, field
from typing import Any

from incast.advise.case import Case
from incast.advise.elsewhere import Elsewhere
from incast.advise.envelope import Envelope
from incast.advise.goal import Goal
from incast.advise.knee import Knee
from incast.advise.limit import Limit
from incast.advise.research import Prospect
from incast.advise.search import Advised, Found, Gain, Tried
from incast.advise.unknowns import Sensitive


@dataclass(frozen=True)
class Advice:
    """The advice for a case, final or still in progress.

    Parameters
    ----------
    case
        The case.
    collapsed
        Whether the case collapses; None if a collapse is not defined for its workload.
    verdict
        Sentences on the case without any fix.
    knee
        The numbers of servers between which the read begins to collapse, if they are known.
    limit
        The limiting resource.
    envelope
        How close the case is to the cases that were validated.
    goal
        The goal by which fixes are judged.
    found
        The fixes that the search has found.
    research
        The gains of remedies that research papers propose.
    sensitive_to
        Uncertain quantities that would change the advice; None if there was no time to try them.
    seconds
        How long the advice took.
    elsewhere
        Where to look for losses if no run collapses; None if a run collapses.
    simulated, reused
        Number of runs that were simulated, and number of runs that were read from a directory.
    """

    case: Case
    collapsed: bool | None
    verdict: list[str]
    knee: Knee | None
    limit: Limit
    envelope: Envelope
    goal: Goal = field(default_factory=Goal)
    found: Found = field(default_factory=Found)
    research: list[Prospect] = field(default_factory=list)
    sensitive_to: list[Sensitive] | None = None
    seconds: float = 0.0
    elsewhere: Elsewhere | None = None
    simulated: int = 0
    reused: int = 0

    @property
    def fixes(self) -> list[Advised]:
        """The best fix of every party, in the order of advice."""
        return self.found.per_party()

    def nothing(self) -> str:
        """Return a sentence that says why no fix is advised."""
        untried = sum(one.ratio is None for one in self.found.tried)
        if untried == len(self.found.tried):
            return "The time ended before any fix was tried: increase --budget."
        return "No fix that was tried has a significant gain."

    def sentences(self) -> list[str]:
        """Return the sentences of the verdict."""
        return [*([self.knee.sentence()] if self.knee else []), *self.verdict]

    def _repr_html_(self) -> str:
        """Return the page of `--format html`, for notebooks."""
        from incast.advise.page import body

        return body([("", self)])

    def __repr__(self) -> str:
        return f"<Advice: {' '.join(self.sentences())}>"

    def to_dict(self) -> dict[str, Any]:
        """Return the advice as a dictionary, for programs."""
        knee = self.knee
        return {
            "verdict": {
                "collapsed": self.collapsed,
                "servers": self.case.here.servers,
                "collapses_between": None if knee is None else [knee.low, knee.high],
                "most_servers_tried": None if knee is None else knee.most,
                "text": " ".join(self.sentences()),
            },
            "limiting_resource": {
                "name": self.limit.name,
                "why": self.limit.sentences(),
                "facts": dict(self.limit.facts),
            },
            "goal": self.goal.name,
            "fixes": [self._fix(one) for one in self.fixes],
            "other_fixes": [self._fix(one) for one in self.found.advised if one not in self.fixes],
            "tried": [self._tried(one) for one in self.found.tried],
            "elsewhere": None if self.elsewhere is None else self.elsewhere.to_dict(),
            "research": [one.to_dict() for one in self.research],
            "sensitive_to": None
            if self.sensitive_to is None
            else [one.to_dict() for one in self.sensitive_to],
            "envelope": self.envelope.to_dict(),
            "confirmed": self.found.confirmed,
            "notes": list(self.case.notes),
            "seconds": round(self.seconds, 2),
            "runs": {"simulated": self.simulated, "reused": self.reused},
        }

    def _fix(self, one: Advised) -> dict[str, Any]:
        fix = one.fix
        return {
            "name": fix.name,
            "who": str(fix.who),
            "what": fix.what,
            "text": fix.text,
            "rollback": fix.rollback,
            "goodput_gain": _gain(one.goodput, "bps"),
            f"{self.goal.label}_gain": None if one.late is None else _gain(one.late, "s"),
            "keeps_the_bound": one.kept if self.goal.bound is not None else None,
            "price": fix.price,
            "quiet_p50_ratio": one.quiet,
            "spurious_timeouts_per_block": one.premature,
            "risk": fix.risk,
            "changes": dict(fix.changes),
        }

    def _tried(self, one: Tried) -> dict[str, Any]:
        return {
            "name": one.fix.name,
            "who": str(one.fix.who),
            "why": one.why,
            "goodput_ratio": one.ratio,
            f"{self.goal.label}_ratio": one.late,
        }


def _gain(gain: Gain, unit: str) -> dict[str, Any]:
    """Return a gain as a dictionary: the ratio after / before, its interval, and both values."""
    return {
        "ratio": gain.ratio,
        "ratio_ci95_low": gain.low,
        "ratio_ci95_high": gain.high,
        f"before_{unit}": gain.before,
        f"after_{unit}": gain.after,
        "seeds": gain.seeds,
    }
