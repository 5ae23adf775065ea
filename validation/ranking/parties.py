"""The parties that must change for each remedy, as in docs/reference/remedies.md."""

from collections.abc import Iterable

SENDER, RECEIVER, SWITCH, APPLICATION = "sender", "receiver", "switch", "application"
_MARKS = {SENDER, RECEIVER, SWITCH}

# Every remedy, and the transports in scenarios/remedies.toml that are not remedies.
PARTIES: dict[str, set[str]] = {
    "newreno": set(),
    "dctcp": _MARKS,
    "tdctcp": _MARKS,
    "tcp-fitdc": _MARKS,
    "adaptive-pacing": {SENDER},
    "adaptive-rto": {SENDER},
    "batching": {APPLICATION},
    "ccs": {RECEIVER},
    "efr": _MARKS,
    "fine-rto": {SENDER},
    "gip": {SENDER},
    "head-tail": {SENDER},
    "header-compression": {SENDER, RECEIVER},
    "ia-tcp": {RECEIVER},
    "icat": {SENDER, RECEIVER, APPLICATION},
    "ictcp": {RECEIVER},
    "nccs": {RECEIVER},
    "ocs": {RECEIVER},
    "pac": {RECEIVER},
    "plato": {SENDER, RECEIVER, SWITCH},
    "prob-rtx": {SENDER, RECEIVER},
    "rapid": {SWITCH},
    "resize": {SENDER},
    "staggering": {APPLICATION},
}

NOBODY, BOTH_HOSTS = "nobody", "sender and receiver"
GROUPS = {
    NOBODY: "Nobody",
    "sender": "The sender only",
    "receiver": "The receiver only",
    "application": "The client's application only",
    BOTH_HOSTS: "Sender and receiver",
    "switch": "The switch, alone or with hosts",
}


def group(names: Iterable[str]) -> str:
    """Return the key in `GROUPS` for remedies that are used together."""
    parties = set().union(*(PARTIES[name] for name in names))
    if SWITCH in parties:
        return SWITCH
    if len(parties) > 1:
        return BOTH_HOSTS
    return next(iter(parties), NOBODY)
