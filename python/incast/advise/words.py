"""Commands and fragments that several fixes share, with the commands that undo them."""

import json
from collections.abc import Mapping
from typing import NamedTuple


class Words(NamedTuple):
    """Commands, and those that restore the state before."""

    text: str
    rollback: str


def route(option: str, towards: str) -> Words:
    """Return how to add an option to the route towards the other side.

    Parameters
    ----------
    option
        Name and value, as `ip route` takes them.
    towards
        Whose address stands in the first line: `CLIENT` or `SERVER`.
    """
    find = f"{towards}=192.0.2.1  # an address of the {towards.lower()}s; use your own"
    # `ip route` prints "rto_min lock 100ms" and does not read the word "lock" there.
    plain = "sed 's/rto_min lock/rto_min/'"
    keep = f"ROUTE=$(ip route show to match ${towards} | tail -n 1 | {plain})"
    return Words(
        f"{find}\n{keep}\nip route change $ROUTE {option}",
        "ip route change $ROUTE",
    )


def sysctl(values: Mapping[str, str]) -> Words:
    """Return how to set variables of the kernel; the old values are kept in the shell."""
    lines, back = [], []
    for number, (key, value) in enumerate(values.items()):
        old = f"OLD_{number}" if len(values) > 1 else "OLD"
        lines += [f"{old}=$(sysctl -n {key})", f'sysctl -w {key}="{value}"']
        back.append(f'sysctl -w {key}="${old}"')
    return Words("\n".join(lines), "\n".join(back))


def sonic(tables: Mapping[str, object]) -> Words:
    """Return how to load tables into the configuration of a SONiC switch."""
    fragment = json.dumps(tables, indent=2)
    return Words(
        f"cat > incast.json <<'END'\n{fragment}\nEND\n"
        "sudo config checkpoint before-incast\nsudo config load -y incast.json",
        "sudo config rollback before-incast",
    )


def python(code: str) -> Words:
    """Return a change of the application's own code, which is undone by the code before."""
    return Words(code, "Return to the code before.")


SWITCH = "on the switch; name your port and queue"
HOSTS = "on the servers and on the clients"


def at(place: str, words: Words) -> Words:
    """Return words that say where they are to be given."""
    return Words(f"# {place}\n{words.text}", f"# {place.partition(';')[0]}\n{words.rollback}")


def both(*parts: Words) -> Words:
    """Return several changes one after the other, undone in the opposite order."""
    return Words(
        "\n".join(part.text for part in parts),
        "\n".join(part.rollback for part in reversed(parts)),
    )
