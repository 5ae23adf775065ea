"""Sort the timeouts of ns-2's read by place and by duplicate ACKs, and keep the counts.

usage: python papers/ns2/causes.py

The scenario is that of kulkarni/3.8, whose causes of timeouts ns-2 does not count. The TCP of ns-2
traces `ack_`, `dupacks_` and `nrexmit_`; the script notes cwnd when a request arrives. A timeout is
at the head of a block if the first segment that is not acknowledged belongs to the block's first
window, otherwise inside. If there are duplicate ACKs since the last new ACK, a part of the window
arrived, so the loss is not of the whole window. Writes `causes_kulkarni.csv`, in the folder of this
file.
"""

from __future__ import annotations

import csv
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from measure import HERE, SEEDS, command, measure  # type: ignore[import-not-found]

from incast.reproduce.papers import folder, load, select
from incast.reproduce.runs import lay_out

if TYPE_CHECKING:
    from collections.abc import Iterable

FIGURE = "kulkarni/3.8"
SORTS = ("head_none", "head_few", "head_enough", "inside_none", "inside_few", "inside_enough")
"""Place of a timeout, and number of duplicate ACKs before it: none, one or two, three or more."""
ENOUGH = 3
"""Number of duplicate ACKs that cause a fast retransmit."""


def sort(lines: Iterable[str], sru: int) -> Counter[str]:
    """Count the timeouts of a trace; a server sends `sru` segments per block."""
    server: dict[str, int] = {}
    blocks: Counter[int] = Counter()
    window: dict[int, float] = {}
    state: defaultdict[int, dict[str, int]] = defaultdict(lambda: {"ack_": -1, "dupacks_": 0})
    held: dict[int, int] = {}
    found: Counter[str] = Counter()
    for line in lines:
        words = line.split()
        if words[2] == "is":
            server[words[3]] = int(words[1])
        elif words[2] == "begins":
            blocks[int(words[1])] += 1
            window[int(words[1])] = float(words[3])
        else:
            one, variable, value = server[words[1]], words[5], int(words[6])
            if variable == "nrexmit_":
                # Reno's timeout() sets dupacks_ to 0 before it increments nrexmit_.
                before = held.get(one, 0)
                first = state[one]["ack_"] - (blocks[one] - 1) * sru
                place = "head" if first < max(window.get(one, 1.0), 1.0) else "inside"
                seen = "none" if not before else "few" if before < ENOUGH else "enough"
                found[f"{place}_{seen}"] += 1
            if variable == "ack_":
                held[one] = 0
            if variable == "dupacks_":
                held[one] = state[one]["dupacks_"] if value == 0 else value
            state[one][variable] = value
    return found


def main() -> None:
    """Measure every point of the figure."""
    [chosen] = select(load(folder()), [FIGURE])
    work = lay_out(chosen, quick=False)
    made = []
    with tempfile.TemporaryDirectory() as place:
        log = Path(place) / "log"
        for servers, point in zip(work.xs, work.needs[0].points, strict=True):
            keys = command(point.resolved)
            for seed in range(1, SEEDS["kulkarni"] + 1):
                measured = measure((*keys.items(), ("seed", seed), ("trace", log)))
                with log.open() as lines:
                    found = sort(lines, keys["sru"])
                blocks, _, goodput, *_ = measured[-1].split(",")
                row = {"servers": servers, "seed": seed, "blocks": blocks, "goodput_mbps": goodput}
                made.append(row | {name: found[name] for name in SORTS})
                print(made[-1], flush=True)
    with (HERE / "causes_kulkarni.csv").open("w", newline="") as out:
        writer = csv.DictWriter(out, made[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(made)


if __name__ == "__main__":
    main()
