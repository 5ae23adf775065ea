"""The steps of advice: the verdict, the first fixes, then better answers while there is time."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from incast.advise.advice import Advice
from incast.advise.apps import find, throttled
from incast.advise.case import Case, case_of
from incast.advise.elsewhere import elsewhere
from incast.advise.envelope import envelope_of
from incast.advise.fixes import catalogue
from incast.advise.goal import Goal, goal_of
from incast.advise.knee import Knee, knee
from incast.advise.limit import limit_of
from incast.advise.quiet import quiet
from incast.advise.research import Prospect, prospects
from incast.advise.runs import Interrupted, Runs
from incast.advise.search import Found, Search, rounds
from incast.advise.trials import BASE, Clock, TimeUp, Trials
from incast.advise.unknowns import Sensitive, sensitive
from incast.errors import AdviceError
from incast.results.verdict import sentences
from incast.scenario import Scenario, load

BUDGET_S = 20.0
# The share of the remaining time that each step gets when it begins.
_ROUNDS, _KNEE, _CONFIRM, _QUIET, _RESEARCH = 0.35, 0.3, 0.7, 0.2, 0.3


def advise(
    scenario: Scenario | str | Path | Mapping[str, Any],
    *,
    budget: float | None = BUDGET_S,
    goal: str | None = None,
    app: str | None = None,
    throttles: Sequence[str] = (),
    notes: Sequence[str] = (),
    jobs: int | None = None,
    out: str | Path | None = None,
    listener: Callable[[Advice], None] | None = None,
) -> Advice:
    """Return what to change in a scenario.

    Parameters
    ----------
    scenario
        A scenario, or an argument of `incast.load`. If the scenario sweeps the number of servers,
        the advice is for the largest number.
    budget
        Seconds after which the best answer so far is final; None for no limit.
    goal
        The goal: "goodput", "p99", "p999", or a bound such as "p99<20ms"; by default goodput and
        the 99th percentile of the block times.
    app
        The application whose settings the advice names: one of `incast.advise.apps.APPS`.
    throttles
        Settings of the application, as `KEY=VALUE`. The settings change the scenario.
    notes
        Assumptions that were made before the call; the answer repeats them.
    jobs
        Number of parallel runs; by default the number of processors.
    out
        Directory in which the runs are kept, or the address of a directory. Runs that are already
        in the directory are not repeated. The directory may also contain runs of other
        scenarios.
    listener
        A function that is called with every new answer; later answers are better. The first answer
        has the verdict, but no fixes.

    Raises
    ------
    ScenarioError
        The scenario is not valid, or sweeps a key other than the number of servers.
    AdviceError
        No run of the scenario finishes within the budget, or the goal, the application or one of
        its settings is not known.
    ResultsError
        `out` cannot be written to, or contains files other than runs of advice.
    Interrupted
        Ctrl-C was pressed. Finished runs are kept if `out` is given.
    """
    if not isinstance(scenario, Scenario):
        scenario = load(scenario)
    wanted = goal_of(goal)
    known = find(app) if app is not None else None
    if throttles and known is None:
        raise AdviceError("--throttle: needs --app, which says what a setting means")
    if known is not None:
        scenario, told = throttled(scenario, known, throttles)
        notes = [*notes, *told]
    case = case_of(scenario, known, notes)
    store = Runs.at(out) if out is not None else Runs()
    try:
        return Adviser(case, budget, Trials(case, jobs, store), listener, wanted).work()
    except KeyboardInterrupt:
        raise Interrupted(store.simulated + store.reused) from None


class Adviser:
    """Advice in progress."""

    def __init__(
        self,
        case: Case,
        budget: float | None,
        trials: Trials,
        listener: Callable[[Advice], None] | None,
        goal: Goal | None = None,
    ) -> None:
        self.case = case
        self.start = time.monotonic()
        self.clock = Clock(math.inf if budget is None else self.start + budget)
        self.trials = trials
        self.search = Search(case, trials, catalogue(case), goal)
        self.listener = listener
        self.done = 1
        self.knee: Knee | None = None
        self.confirmed = False
        self.quiet: dict[str, float] = {}
        self.research: list[Prospect] = []
        self.sensitive: list[Sensitive] | None = None

    def work(self) -> Advice:
        """Return the best advice that the time allows."""
        if self.listener is not None:
            # A few runs of the case itself give the verdict, long before there is a fix.
            with suppress(TimeUp):
                self.search.judge(self.clock)
                self.answer()
        with suppress(TimeUp):
            self.search.round(0, self.clock)
        self.answer()
        self.done = rounds(self.search, self.clock.part(_ROUNDS))
        self.answer()
        self.knee = knee(self.case, self.trials, self.clock.part(_KNEE))
        self.answer()
        with suppress(TimeUp):
            self.search.confirm(self.clock.part(_CONFIRM))
        self.confirmed = self.search.has_fresh()
        advice = self.answer()
        self.quiet = quiet(self.case, advice.fixes, self.trials, self.clock.part(_QUIET))
        self.research = prospects(self.case, self.trials, self.clock.part(_RESEARCH))
        if self.clock.left:
            self.sensitive = sensitive(
                self.case, advice.fixes, self.trials, self.clock, self.search.goal
            )
        return self.answer()

    def found(self) -> Found:
        """Return the fixes, each with its effect on a read without incast, if it was measured."""
        found = self.search.found(self.done, confirmed=self.confirmed)
        advised = [replace(one, quiet=self.quiet.get(one.fix.name)) for one in found.advised]
        return replace(found, advised=advised)

    def answer(self) -> Advice:
        """Return the advice so far, and pass it to the listener."""
        # The table of fixes has the same seeds, so that verdict and fixes have the same baseline.
        seeds = self.search.seeds(self.done, confirmed=self.confirmed)
        summary = self.trials.summary(BASE, seeds)
        if summary is None:
            raise AdviceError(
                "advise: no run of the scenario finished; give it more time with --budget, or "
                "increase run.time_limit"
            )
        told = self.trials.collapsed(BASE, seeds)
        advice = Advice(
            self.case,
            told[0] if told is not None and self.case.here.judged else None,
            [
                text.replace("use --seeds to run more", "a longer --budget runs more")
                for text in sentences(summary, [], self.trials.results(BASE, seeds).resolved)
            ],
            self.knee,
            limit_of(self.case, summary.to_dicts()[0], told[1] if told is not None else 0.0),
            envelope_of(self.case),
            self.search.goal,
            self.found(),
            self.research,
            self.sensitive,
            time.monotonic() - self.start,
            None
            if told is None or any(told)
            else elsewhere(self.case, self.trials.results(BASE, seeds).numbered()),
            self.trials.store.simulated,
            self.trials.store.reused,
        )
        if self.listener is not None:
            self.listener(advice)
        return advice
