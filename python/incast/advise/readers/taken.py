"""The values that were read from a file."""

from dataclasses import dataclass, field

from incast.errors import AdviceError


@dataclass
class Taken:
    """Keys of a scenario that a file gives, and sentences on them.

    Parameters
    ----------
    changes
        Dotted keys and their values.
    took
        Sentences on the values that were taken.
    assumed
        Sentences on the assumptions.
    """

    changes: dict[str, object] = field(default_factory=dict)
    took: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)

    def take(self, said: str, **changes: object) -> None:
        """Add keys, written with `__` for a dot, and a sentence on them."""
        self.changes |= {key.replace("__", "."): value for key, value in changes.items()}
        self.took.append(said)


def refused(where: str, line: int, why: str) -> AdviceError:
    """Return the error for a line that is not understood."""
    return AdviceError(f"{where}: line {line}: {why}")
