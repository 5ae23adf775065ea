"""Estimates of Kulkarni & Agrawal's parameters (§3.2) from a data frame of events."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from incast.errors import ModelError
from incast.models.numbers import Floats, floats

NEEDED = ("time_s", "kind", "flow", "block")
OPTIONAL = {
    "seq": pl.lit(-1),
    "packets": pl.lit(None, dtype=pl.Int64),
    "srtt_s": pl.lit(None, dtype=pl.Float64),
    "rto_s": pl.lit(None, dtype=pl.Float64),
    "cause": pl.lit(""),
    "place": pl.lit(""),
}


@dataclass(frozen=True)
class Estimate:
    """Parameters of the models from a run; NaN for missing values.

    Parameters
    ----------
    loss_event_ratio
        p_c: loss events per packet sent, over all flows. Losses within one round trip of the first
        loss are one event.
    loss_indication_ratio
        p_r: loss indications of a flow per packet that it sent, averaged over the flows. An
        indication is the beginning of a recovery, or a timeout. Timeouts that repeat a timeout
        without progress belong to the same indication.
    packet_loss_ratio
        Packets dropped per packet sent.
    flows_per_event
        j = p_r / p_c, from 1 to n: the mean number of flows that a loss event hits.
    rtt_s
        Mean round trip, including queueing.
    timeout_s
        T0: mean length of timeouts. A timeout that repeats another without progress does not count.
    block_head_timeouts
        delta as a number: the mean number of flows per block with a timeout in the block's first
        window.
    block_head_share
        delta as a share: the share of the blocks with at least one such flow.
    block_head_whole_share
        Share of the blocks in which such a flow had lost all its outstanding packets.
    inside_whole_window, inside_few_duplicates, inside_other
        Number of timeouts elsewhere in a block: after the loss of a whole window, after too few
        duplicate ACKs, and for other causes.
    blocks, packets, loss_events
        Number of blocks, of packets sent, and of loss events.
    """

    loss_event_ratio: float
    loss_indication_ratio: float
    packet_loss_ratio: float
    flows_per_event: float
    rtt_s: float
    timeout_s: float
    block_head_timeouts: float
    block_head_share: float
    block_head_whole_share: float
    inside_whole_window: int
    inside_few_duplicates: int
    inside_other: int
    blocks: int
    packets: int
    loss_events: int


def of_events(
    events: pl.DataFrame,
    *,
    flows: int,
    packets: int | None = None,
    rtt: float | None = None,
    fresh: bool = False,
) -> Estimate:
    """Estimate the parameters from events.

    Parameters
    ----------
    events
        One row per event, in the order of time. The columns `time_s`, `kind`, `flow` and `block`
        are required. The kinds `drop` (a packet was lost), `timeout`, `fast_retransmit` and
        `block_start` are counted. Events of other kinds are used only for their columns. If no
        event is a `drop`, loss events are derived from indications, and the packet loss ratio is
        unknown.

        Other columns are optional:

        - `packets`: data packets that the flow's connection has sent so far. Without this column,
          each flow is assumed to send an equal share of the argument `packets`.
        - `srtt_s`: the smoothed round trip. Without this column, `rtt` must be given.
        - `rto_s`: the RTO. Without this column, T0 is unknown.
        - `seq`: the first unacknowledged byte at a timeout. Without this column, no timeout counts
          as a repetition.
        - `place`: `block_head` or `inside`. Without this column, delta is 0.
        - `cause`: the cause of a timeout. Without this column, causes are unknown.
    flows
        n.
    packets
        Number of all data packets sent; by default the sum of the column `packets` over the flows.
    rtt
        Mean round trip, seconds; by default the mean of `srtt_s`.
    fresh
        Whether each block has its own connections, whose packets are counted from zero.

    Raises
    ------
    ModelError
        A required column is missing, or a required number is given neither by a column nor by an
        argument.
    """
    missing = [name for name in NEEDED if name not in events.columns]
    if missing:
        raise ModelError(f"events: there is no column {missing[0]!r}; needed: {', '.join(NEEDED)}")
    absent = {name: other for name, other in OPTIONAL.items() if name not in events.columns}
    events = events.with_columns(**absent)
    sent = _packets_of_flows(events, flows, packets, fresh=fresh)
    total = int(sent.sum()) if packets is None else packets
    if rtt is None:
        mean = events["srtt_s"].drop_nans().mean()
        if mean is None:
            raise ModelError("events: without a column 'srtt_s', the round trip must be given")
        rtt = float(mean)  # type: ignore[arg-type]
    timeouts = _timeouts(events)
    indications = pl.concat(
        [
            timeouts.filter("first").select("time_s", "flow"),
            events.filter(kind="fast_retransmit").select("time_s", "flow"),
        ]
    ).sort("time_s")
    drops = events.filter(kind="drop")
    count = len(burst_sizes((drops if drops.height else indications)["time_s"].to_numpy(), rtt))
    per_flow = np.bincount(indications["flow"].to_numpy(), minlength=flows)[:flows]
    p_c = count / total
    p_r = float(np.mean(per_flow / np.maximum(sent, 1)))
    lost = drops.height / total if drops.height or not indications.height else float("nan")
    blocks = max(events.filter(kind="block_start").height, 1)
    head = timeouts.filter(place="block_head")
    inside = timeouts.filter(place="inside")
    few = inside.filter(pl.col("cause").is_in(["lack_of_dupacks", "tail"])).height
    whole = inside.filter(cause="full_window").height
    length = timeouts.filter("first")["rto_s"].drop_nans().mean()
    return Estimate(
        loss_event_ratio=p_c,
        loss_indication_ratio=p_r,
        packet_loss_ratio=lost,
        flows_per_event=min(max(p_r / p_c, 1.0), flows) if count else float("nan"),
        rtt_s=rtt,
        timeout_s=float("nan") if length is None else float(length),  # type: ignore[arg-type]
        block_head_timeouts=head.select("block", "flow").unique().height / blocks,
        block_head_share=head["block"].n_unique() / blocks,
        block_head_whole_share=head.filter(cause="full_window")["block"].n_unique() / blocks,
        inside_whole_window=whole,
        inside_few_duplicates=few,
        inside_other=inside.height - few - whole,
        blocks=blocks,
        packets=total,
        loss_events=count,
    )


def burst_sizes(times: Floats, window: float) -> Floats:
    """Return the number of losses in each loss event, in the order of time.

    Parameters
    ----------
    times
        Times of the losses in seconds, ascending.
    window
        Seconds, more than 0. Losses within this time of an event's first loss belong to the event.
    """
    sizes = []
    at = 0
    while at < len(times):
        end = int(np.searchsorted(times, times[at] + window, side="right"))
        sizes.append(end - at)
        at = end
    return floats(sizes)


def _timeouts(events: pl.DataFrame) -> pl.DataFrame:
    """Return the timeouts of data packets; `first` is false if one repeats without progress."""
    timeouts = events.filter((pl.col("kind") == "timeout") & (pl.col("cause") != "handshake"))
    before = pl.col("seq").shift(1).over("flow", "block")
    again = (before == pl.col("seq")) & (pl.col("seq") >= 0)
    return timeouts.with_columns(first=~again.fill_null(value=False))


def _packets_of_flows(
    events: pl.DataFrame, flows: int, packets: int | None, *, fresh: bool
) -> Floats:
    """Return the packets that each flow sent."""
    noted = events.filter(pl.col("packets").is_not_null() & (pl.col("packets") > 0))
    if not noted.height:
        if packets is None:
            raise ModelError("events: without a column 'packets', the number of packets is needed")
        return np.full(flows, packets / flows)
    connection = ["flow", "block"] if fresh else ["flow"]
    most = noted.group_by(connection).agg(pl.col("packets").max())
    sums = most.group_by("flow").agg(pl.col("packets").sum()).filter(pl.col("flow") < flows)
    sent = np.zeros(flows)
    sent[sums["flow"].to_numpy()] = sums["packets"].to_numpy()
    return sent
