"""95 % confidence intervals of means over seeds, inside the possible range.

Student's interval is wrong if seeds have two outcomes, such as a block with and without a wait for
a timer. Student's interval then extends below zero and above the line rate, and with ten seeds it
may miss the mean in a quarter of the cases. Gaffke's interval is valid for any distribution on a
known range. Gaffke's method adds a value at the end of the range to the sample, and weights all
values by spacings of uniform numbers. The end of the interval is a quantile of this weighted mean.
If all seeds are similar, Gaffke's interval is far too wide. Therefore:

- If no seed has more than twice the value of another, the interval covers Student's and Gaffke's
  intervals. For Gaffke's interval, the range is assumed to extend a quarter of the sample's range
  beyond the sample.
- Otherwise the interval is Gaffke's for the possible range. If the possible range has no upper end,
  the range is assumed to extend half of the sample's range beyond the sample. The interval then
  also covers Student's interval.

The quantiles of the weighted mean are taken from the beta distribution with the same range, mean
and variance. The quantiles are exact for samples of two values, where the interval becomes Clopper
and Pearson's. docs/validation/intervals.md reports the coverage of the intervals, and other methods
that were tried.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

CONFIDENCE = 0.95
LOW, HIGH = "_ci95_low", "_ci95_high"
"""Suffixes of the columns for the ends of an interval."""
SCATTERED = 2.0
"""A sample has several outcomes if its largest value exceeds this multiple of its smallest."""
NEAR, FAR = 0.25, 0.5
"""How far the range extends beyond a sample, as a share of the sample's range.

`NEAR` is for samples with one outcome, `FAR` for samples with several outcomes.
"""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Samples:
    """Statistics of samples, as arrays with one element per sample.

    Parameters
    ----------
    count
        The number of values; an interval needs at least two.
    mean, deviation
        The mean and the standard deviation of the values, with `count - 1` in the denominator.
    least, most
        The smallest and the largest value.
    """

    count: Floats
    mean: Floats
    deviation: Floats
    least: Floats
    most: Floats

    @classmethod
    def of(cls, values: ArrayLike) -> "Samples":
        """Compute the statistics of samples along the last axis of an array."""
        array = np.asarray(values, float)
        count = np.full(array.shape[:-1], float(array.shape[-1]))
        spread = array.std(-1, ddof=1) if array.shape[-1] > 1 else np.zeros(array.shape[:-1])
        return cls(count, array.mean(-1), spread, array.min(-1), array.max(-1))


def interval(
    samples: Samples,
    lowest: ArrayLike,
    highest: ArrayLike,
    *,
    flags: bool = False,
    confidence: float = CONFIDENCE,
) -> tuple[Floats, Floats]:
    """Return the ends of the confidence intervals of means.

    Parameters
    ----------
    samples
        The statistics of the values.
    lowest, highest
        The range of possible values, extended to include the sample; -inf or inf if unknown.
    flags
        Whether values are flags, 0 or 1. A few seeds with the same flag say little about further
        seeds.
    confidence
        The share of samples whose interval contains the true mean.

    Returns
    -------
    tuple of arrays
        Low and high; NaN where there are fewer than two values.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        lowest = np.minimum(np.asarray(lowest, float), samples.least)
        highest = np.maximum(np.asarray(highest, float), samples.most)
        scattered = (samples.least >= 0) & (samples.most > SCATTERED * samples.least)
        reach = np.where(scattered, FAR, NEAR) * (samples.most - samples.least)
        scattered |= flags
        down, up = samples.least - reach, samples.most + reach
        down = np.where(scattered & np.isfinite(lowest), lowest, np.maximum(down, lowest))
        up = np.where(scattered & np.isfinite(highest), highest, np.minimum(up, highest))
        half = _student(samples, confidence)
        trusted = scattered & np.isfinite(lowest) & np.isfinite(highest)
        low = _gaffke(samples, down, (1 - confidence) / 2)
        high = _gaffke(samples, up, (1 + confidence) / 2)
        low = np.where(trusted, low, np.minimum(low, samples.mean - half))
        high = np.where(trusted, high, np.maximum(high, samples.mean + half))
        # Rounding may put a mean outside its sample's range.
        low = np.minimum(np.maximum(low, lowest), samples.mean)
        high = np.maximum(np.minimum(high, highest), samples.mean)
        few = samples.count < 2  # noqa: PLR2004 (a single value has no spread)
        return np.where(few, np.nan, low), np.where(few, np.nan, high)


def _student(samples: Samples, confidence: float) -> Floats:
    """Return half the width of Student's interval."""
    from scipy.special import stdtrit

    quantile = stdtrit(np.maximum(samples.count - 1, 1), (1 + confidence) / 2)
    return np.asarray(quantile * samples.deviation / np.sqrt(samples.count))


def _gaffke(samples: Samples, end: Floats, share: float) -> Floats:
    """Return a quantile of the mean of the sample and `end`, weighted by random spacings."""
    from scipy.special import betaincinv

    count = samples.count
    upper = share > 1 / 2
    least = samples.least if upper else end
    most = end if upper else samples.most
    width = np.where(most > least, most - least, 1.0)
    mean = ((count * samples.mean + end) / (count + 1) - least) / width
    square = (samples.deviation / width) ** 2 * (count - 1) / (count + 1)
    square = square + count * ((end - samples.mean) / width / (count + 1)) ** 2
    mean = np.clip(mean, 1e-12, 1 - 1e-12)
    # The spacings of n uniform numbers are n + 1 weights with a Dirichlet distribution.
    size = np.maximum(mean * (1 - mean) * (count + 2) / np.maximum(square, 1e-24) - 1, 1e-6)
    found = least + width * betaincinv(mean * size, (1 - mean) * size, share)
    return np.where(most > least, found, samples.mean)
