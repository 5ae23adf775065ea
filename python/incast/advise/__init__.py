"""Advice on a scenario: changes, their gains, the exact commands, and how to undo them.

    from incast.advise import advise

    advice = advise("mine.toml", budget=20)
    for one in advice.fixes:
        print(one.fix.who, one.fix.what, one.goodput.ratio)
        print(one.fix.text)

If the scenario sweeps a key other than the number of servers, use `advise_each`: it returns an
answer for each value of the key. Every fix of the catalogue (`incast.advise.fixes`) is simulated in
the user's scenario.
"""

from incast.advise.advice import Advice
from incast.advise.adviser import advise
from incast.advise.each import advise_each
from incast.advise.runs import Interrupted

__all__ = ["Advice", "Interrupted", "advise", "advise_each"]
