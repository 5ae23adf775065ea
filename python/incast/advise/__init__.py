"""Advice: what to change, how much it gains, the exact words, and the way back.

    from incast.advise import advise

    advice = advise("mine.toml", budget=20)
    for one in advice.fixes:
        print(one.fix.who, one.fix.what, one.goodput.ratio)
        print(one.fix.text)

Every fix of the catalogue (`incast.advise.fixes`) is simulated in the user's own scenario.
"""

from incast.advise.advice import Advice
from incast.advise.adviser import advise
from incast.advise.runs import Interrupted

__all__ = ["Advice", "Interrupted", "advise"]
