"""Makes the runs of figures, draws and judges the figures, and writes the verdicts."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incast import _core
from incast.errors import ResultsError
from incast.plots import Picture
from incast.reproduce.data import Curves
from incast.reproduce.draw import draw
from incast.reproduce.judge import Judgement, Verdict, judge
from incast.reproduce.papers import Chosen
from incast.reproduce.reference import reference
from incast.reproduce.runs import Need, Work, curves, find_seed, lay_out
from incast.reproduce.tally import together
from incast.results import files
from incast.results.archive import Archive
from incast.scenario.plan import Job
from incast.sweep.execute import run_jobs
from incast.sweep.forecast import expected_seconds
from incast.sweep.progress import Progress
from incast.sweep.shard import Shard


@dataclass(frozen=True)
class Done:
    """A figure that was run, drawn and judged.

    Parameters
    ----------
    work
        The figure and its runs.
    curves
        The curves of these runs.
    picture
        The picture; None if the figure has no picture, as for the kind `claims`.
    judgements
        The verdicts on the figure's claims.
    engine_s
        The engine's time for the runs in seconds, including runs that were made earlier.
    """

    work: Work
    curves: Curves
    picture: Picture | None
    judgements: list[Judgement]
    engine_s: float


def forecast(works: Sequence[Work], store: Archive) -> tuple[int, int, float]:
    """Return the numbers of all runs and of missing runs, and the seconds for the missing runs."""
    batches = _batches(works)
    every = [job for batch in batches.values() for job in batch]
    left = [job for asked, batch in batches.items() for job in batch if not store.has(job, asked)]
    return len(every), len(left), expected_seconds(left, every, store) if left else 0.0


def reproduce(
    chosen: Iterable[Chosen],
    out: Path,
    *,
    quick: bool = False,
    workers: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> list[Done]:
    """Run, draw and judge figures; runs that `out` already has are not repeated.

    Parameters
    ----------
    chosen
        The figures.
    out
        The folder of the runs and of the gallery.
    quick
        Whether to take fewer points and seeds.
    workers
        Number of parallel runs.
    progress
        Called about ten times a second.

    Returns
    -------
    list of Done
        The figures, in the order of `chosen`.

    Raises
    ------
    FigureError
        A figure is invalid.
    ResultsError
        `out` cannot be written to.
    KeyboardInterrupt
        Ctrl-C was pressed. Finished runs are kept.
    """
    works = [lay_out(one, quick=quick) for one in chosen]
    store = Archive(out)
    _prepare(store, works)
    batches = _batches(works)
    for traces, batch in batches.items():
        run_jobs(batch, store, traces=traces, workers=workers, progress=progress)
    for work, need in _needs(works):
        if work.figure.search is not None:
            seed = find_seed(work, need, store)
            found = [job for job in need.jobs if job.seed == seed]
            run_jobs(found, store, traces=need.traces, workers=workers, progress=progress)
    return [_finish(work, store) for work in works]


def run_shard(
    chosen: Iterable[Chosen],
    out: Path,
    shard: Shard,
    *,
    quick: bool = False,
    workers: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> int:
    """Make one shard of the runs that figures need, and return the number of these runs.

    Nothing is judged. `reproduce` makes the few runs that depend on the results of other runs.

    Raises
    ------
    FigureError
        A figure is invalid.
    ResultsError
        `out` cannot be written to.
    KeyboardInterrupt
        Ctrl-C was pressed. Finished runs are kept.
    """
    works = [lay_out(one, quick=quick) for one in chosen]
    store = Archive(out)
    _prepare(store, works)
    count = 0
    for traces, batch in _batches(works).items():
        some = shard.among(batch)
        count += len(some)
        run_jobs(some, store, traces=traces, workers=workers, progress=progress)
    return count


def claims_json(
    done: Sequence[Done], *, quick: bool, changes: Mapping[str, object] | None = None
) -> dict[str, Any]:
    """Return the verdicts as a tree for other programs.

    Parameters
    ----------
    done
        The figures.
    quick
        Whether the figures have fewer points and seeds.
    changes
        The keys that were set in every run, and their values.
    """
    return {
        "engine": _core.version(),
        "quick": quick,
        "set": dict(changes or {}),
        "counts": counts(done),
        "figures": [
            {
                "text": one.work.chosen.paper.name,
                "figure": one.work.chosen.number,
                "runs": len({job.key for job in one.work.jobs()}),
                "unfinished": one.curves.unfinished,
                "picture": one.picture is not None,
            }
            for one in done
        ],
        "claims": [
            {
                "text": one.work.chosen.paper.name,
                "figure": one.work.chosen.number,
                "id": judgement.claim.id,
                "kind": judgement.claim.kind,
                "reading_of": judgement.claim.reading_of,
                "says": judgement.claim.says,
                "verdict": str(judgement.verdict),
                "measured": judgement.measured,
                "note": judgement.note,
                "reference": judgement.reference,
            }
            for one in done
            for judgement in one.judgements
        ],
    }


def counts(done: Sequence[Done]) -> dict[str, int]:
    """Return the number of claims per verdict; the readings of a claim count as one claim."""
    verdicts, readings = {}, {}
    for one in done:
        for judgement in one.judgements:
            text, claim = one.work.chosen.paper.name, judgement.claim
            verdicts[text, claim.id] = judgement.verdict
            if claim.reading_of:
                readings[text, claim.id] = (text, claim.reading_of)
    found = Counter(together(verdicts, readings).values())
    return {str(verdict): found[verdict] for verdict in Verdict}


def write_json(
    done: Sequence[Done], out: Path, *, quick: bool, changes: Mapping[str, object] | None = None
) -> None:
    """Write `claims.json`."""
    tree = claims_json(done, quick=quick, changes=changes)
    text = json.dumps(tree, indent=1, ensure_ascii=False) + "\n"
    files.write_whole(out / "claims.json", text.encode())


def _prepare(store: Archive, works: Sequence[Work]) -> None:
    try:
        store.prepare(
            sorted({trace for work in works for need in work.needs for trace in need.traces})
        )
    except OSError as error:
        raise ResultsError(f"{store.path}: cannot be written to: {error.strerror}") from None


def _batches(works: Sequence[Work]) -> dict[tuple[str, ...], list[Job]]:
    """Return each run once, grouped by the traces that the figures need from the run.

    Until the run of a timeline is found, only the traces for the search are needed.
    """
    jobs: dict[str, Job] = {}
    wanted: dict[str, set[str]] = {}
    for work, need in _needs(works):
        for job in need.jobs:
            jobs[job.key] = job
            search = work.figure.search
            traces = need.traces if search is None else search.traces
            wanted.setdefault(job.key, set()).update(traces)
    batches: dict[tuple[str, ...], list[Job]] = {}
    for key, job in jobs.items():
        batches.setdefault(tuple(sorted(wanted[key])), []).append(job)
    return batches


def _needs(works: Sequence[Work]) -> list[tuple[Work, Need]]:
    return [(work, need) for work in works for need in work.needs]


def _finish(work: Work, store: Archive) -> Done:
    found = curves(work, store)
    other = reference(work, found)
    judgements = judge(work.figure.claims, found, other, work.chosen.name)
    seconds = sum(
        float(curve.rows["wall_s"].sum()) for curve in found.of.values() if not curve.theory
    )
    return Done(work, found, draw(work, found, other), judgements, seconds)
