"""The commands or code of fixes, and how to undo them."""

from typing import NamedTuple


class Words(NamedTuple):
    """Commands or code, and how to restore the previous state."""

    text: str
    rollback: str


def python(code: str) -> Words:
    """Return a change of the application's own code; the previous code undoes the change."""
    return Words(code, "Restore the previous code.")


SWITCH = "on the switch; name your port and queue"
HOSTS = "on the servers and on the clients"


def at(place: str, words: Words) -> Words:
    """Return commands with a comment that says where to run them."""
    return Words(f"# {place}\n{words.text}", f"# {place.partition(';')[0]}\n{words.rollback}")


def both(*parts: Words) -> Words:
    """Return several changes as one; they are undone in the opposite order."""
    return Words(
        "\n".join(part.text for part in parts),
        "\n".join(part.rollback for part in reversed(parts)),
    )
