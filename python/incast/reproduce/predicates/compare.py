"""`compare`: a relation between two numbers."""

from dataclasses import dataclass
from math import isinf
from typing import Literal

from incast.reproduce.data import Curves, Unjudged
from incast.reproduce.predicates.finding import Finding
from incast.reproduce.quantity import Quantity


@dataclass(frozen=True)
class Compare:
    """Whether two numbers have the relation `op`.

    Parameters
    ----------
    left, right
        The numbers.
    op
        `>`, `>=`, `<`, `<=`, or `~` for "about equal".
    tolerance
        Tolerance of the comparison, as a share of `right`. The claim also holds if it is true for
        `right` plus or minus this share of `right`. For a number that the text gives with "about",
        the share is 0.1.
    """

    left: Quantity
    op: Literal[">", ">=", "<", "<=", "~"]
    right: Quantity
    tolerance: float = 0.0

    def series(self) -> set[str]:
        """Return the labels of the curves of both sides."""
        return self.left.labels() | self.right.labels()

    def judge(self, curves: Curves) -> Finding:
        """Compare the two numbers."""
        left, right = self.left.of(curves), self.right.of(curves)
        if isinf(left) and isinf(right):
            raise Unjudged("both numbers are beyond the last point")
        slack = 0.0 if isinf(right) else self.tolerance * abs(right)
        holds = {
            ">": left > right - slack,
            ">=": left >= right - slack,
            "<": left < right + slack,
            "<=": left <= right + slack,
            "~": abs(left - right) <= slack,
        }[self.op]
        return Finding(holds, f"{self.left.text(curves)} {self.op} {self.right.text(curves)}")
