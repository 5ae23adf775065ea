"""The predicates of claims, one file per predicate, and the list of predicates."""

from collections.abc import Mapping

from incast.reproduce.predicates.average import BelowAverage
from incast.reproduce.predicates.close import Close
from incast.reproduce.predicates.compare import Compare
from incast.reproduce.predicates.every import Every
from incast.reproduce.predicates.finding import Finding, Predicate, Unjudged
from incast.reproduce.predicates.gain import Gain
from incast.reproduce.predicates.monotone import Monotone
from incast.reproduce.predicates.ordered import Ordered

__all__ = ["PREDICATES", "Finding", "Predicate", "Unjudged"]

PREDICATES: Mapping[str, type[Predicate]] = {
    "below-average": BelowAverage,
    "close": Close,
    "compare": Compare,
    "every": Every,
    "gain": Gain,
    "monotone": Monotone,
    "ordered": Ordered,
}
