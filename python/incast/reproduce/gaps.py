"""Time series without gaps. Traces leave out bins in which nothing changed."""

import polars as pl

_RATES = ("busy", "drops", "arrivals")  # 0 in a bin that was left out


def filled(trace: pl.DataFrame) -> pl.DataFrame:
    """Return a trace with a row for every bin from the first to the last of each flow or port.

    In an omitted bin, levels keep their values, and nothing was sent or dropped. A trace that is
    not a time series, such as events, is returned unchanged.
    """
    if "bin_s" not in trace.columns or trace.is_empty():
        return trace
    by = "flow" if "flow" in trace.columns else "port"
    lanes = [_filled(lane) for lane in trace.partition_by(by, maintain_order=True)]
    return pl.concat(lanes)


def _filled(lane: pl.DataFrame) -> pl.DataFrame:
    width = lane["bin_s"].min()
    first = (pl.col("time_s") / width).round().cast(pl.Int64)
    count = (pl.col("bin_s") / width).round().cast(pl.Int64)  # consecutive equal bins
    here = lane.with_columns(
        pl.int_ranges(first, first + count).alias("bin"), pl.lit(width).alias("bin_s")
    ).explode("bin")
    every = pl.DataFrame({"bin": pl.int_range(here["bin"][0], here["bin"][-1] + 1, eager=True)})
    rates = [name for name in _RATES if name in lane.columns]
    return (
        every.join(here, on="bin", how="left", maintain_order="left")
        .with_columns(pl.col("bin").cast(pl.Float64).mul(width).alias("time_s"))
        .with_columns(pl.col(rates).fill_null(0))
        .with_columns(pl.all().exclude("bin").forward_fill())
        .select(lane.columns)
    )
