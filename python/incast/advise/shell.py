"""Commands for hosts and switches, with the commands that undo them.

Several changes can be pasted into one shell, and undone in any order. For each setting, a shell
variable stores the value before the first command that changes the setting. The variable is unset
when the setting is restored. So undoing restores the value before the first command, and undoing
once more has no effect.
"""

import json
from collections.abc import Mapping

from incast.advise.words import Words


def sysctl(values: Mapping[str, str]) -> Words:
    """Return commands that set variables of the kernel."""
    lines, back = [], []
    for key, value in values.items():
        old = f"OLD_{key.rpartition('.')[2]}"
        lines += [_keep(old, f"sysctl -n {key}"), f'sysctl -w {key}="{value}"']
        back.append(_restore(old, f'sysctl -w {key}="${old}"'))
    return Words("\n".join(lines), "\n".join(back))


def route(option: str, value: str, towards: str) -> Words:
    """Return commands that set an option of the route to the other host.

    Only this option is stored and restored. Other options of the route stay as they are.

    Parameters
    ----------
    option, value
        The name and the value of the option, as `ip route` takes them.
    towards
        `CLIENT` or `SERVER`, the variable that the first command sets to the other host's address.
    """
    old, this = f"OLD_{option}", rf"{option} \(lock \)*[^ ]*"
    change = f"ip route change $(its_route ${towards} | sed 's/ {this}//')"
    return Words(
        f"{towards}=192.0.2.1  # an address of the {towards.lower()}s; use your own\n"
        # `ip route` prints "rto_min lock 100ms", but does not accept this "lock" as input.
        "its_route() { ip route show to match $1 | tail -n 1 | sed 's/rto_min lock/rto_min/'; }\n"
        + _keep(old, f"its_route ${towards} | sed -n 's/.* \\({this}\\).*/\\1/p'")
        + f"\n{change} {option} {value}",
        _restore(old, f"{change} ${old}"),
    )


def qdisc(kind: str) -> Words:
    """Return commands that replace the kernel's default queue at the interface."""
    return Words(
        "DEV=eth0  # the interface to the clients; use your own\n"
        f"tc qdisc replace dev $DEV root {kind}\nOLD_qdisc=default",
        _restore("OLD_qdisc", "tc qdisc del dev $DEV root"),
    )


def ceph(option: str, value: int) -> Words:
    """Return commands that set an option of Ceph's clients."""
    old = f"OLD_{option}"
    return Words(
        f"{_keep(old, f'ceph config get client {option}')}\n"
        f"ceph config set client {option} {value}",
        _restore(old, f'ceph config set client {option} "${old}"'),
    )


def _keep(old: str, now: str) -> str:
    """Return a command that stores another command's output in a variable that is not yet set."""
    return f': "${{{old}=$({now})}}"  # the present value'


def _restore(old: str, command: str) -> str:
    """Return commands that run `command` if the variable is set, and then unset the variable."""
    return f'[ -z "${{{old}+kept}}" ] || {command}\nunset {old}'


_CHECKPOINT = "before-incast"
_HAS_IT = f"sudo config list-checkpoints | grep -q {_CHECKPOINT}"


def sonic(tables: Mapping[str, object]) -> Words:
    """Return commands that load tables into the configuration of a SONiC switch."""
    fragment = json.dumps(tables, indent=2)
    return Words(
        f"cat > incast.json <<'END'\n{fragment}\nEND\n"
        f"{_HAS_IT} || sudo config checkpoint {_CHECKPOINT}\n"
        "sudo config load -y incast.json",
        f"if {_HAS_IT}; then\n    sudo config rollback {_CHECKPOINT}\n"
        f"    sudo config delete-checkpoint {_CHECKPOINT}\nfi",
    )
