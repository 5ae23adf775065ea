"""The common options of commands that run a scenario and print its results."""

from pathlib import Path
from typing import Annotated

import typer

from incast.cli import complete
from incast.cli.output import Format
from incast.cli.place import directory

_DOCUMENT = typer.Argument(
    metavar="SCENARIO",
    help="A scenario file (TOML), or the name of a shipped scenario (incast list scenarios).",
    autocompletion=complete.scenarios,
)
Document = Annotated[Path, _DOCUMENT]
OptionalDocument = Annotated[Path | None, _DOCUMENT]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Set a key, e.g. network.buffer=64KiB; a swept key then has only this value. A list, "
        "e.g. workload.servers=[4,8], replaces the values of a sweep; sweep.KEY=[…] adds a sweep.",
        autocompletion=complete.changes,
    ),
]
Seeds = Annotated[int | None, typer.Option(help="Run seeds 1 to N.", metavar="N")]
Seed = Annotated[
    int | None,
    typer.Option(help="Run only this seed, e.g. the seed of a row or a trace.", metavar="N"),
]
Precision = Annotated[
    float | None,
    typer.Option(
        help="Run more seeds at each point until both ends of the 95 % interval of its goodput "
        "are within this share of the mean, e.g. 0.02 (run.precision).",
        metavar="SHARE",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        help="Store the results in this directory, or in an object store such as "
        "s3://bucket/mine. Runs that it already contains are not repeated.",
        metavar="DIR",
        parser=directory,
    ),
]
Form = Annotated[
    Format,
    typer.Option(
        "--format",
        help="table and json go to stdout; csv and parquet go to stdout or, with --out, to "
        "rows.csv or rows.parquet in that directory.",
    ),
]
Group = Annotated[
    str,
    typer.Option(
        help="The group whose rows are written: 'all', which is the read, or the name of a "
        "group, e.g. background.0.cbr.",
        metavar="NAME",
    ),
]
Groups = Annotated[bool, typer.Option("--groups", help="Write the rows of every group.")]
Columns = Annotated[
    str,
    typer.Option(
        metavar="NAMES",
        help="Columns of the table, comma-separated, the most important first, e.g. "
        "goodput,p99,drops; incast explain columns lists them.",
        autocompletion=complete.columns,
    ),
]
Wide = Annotated[
    bool, typer.Option("--wide", help="Show all columns, even if the terminal is narrower.")
]
Picture = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        metavar="FILE",
        help="Draw a picture (png, pdf or svg), and write its data as CSV: goodput for a sweep "
        "(a ranking for more than eight curves), one round of the read for a single point, or "
        "the queue of long flows.",
    ),
]
WithModel = Annotated[
    bool,
    typer.Option(
        "--with-model",
        help="Compare the runs with the models: list differences under the table and, with "
        "--plot of a sweep, draw the models as dashed lines.",
    ),
]
FailIf = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-if",
        metavar="CONDITION",
        help="Exit with code 3 if this condition is true at any point: collapse, unfinished, "
        "or a column compared with a value, e.g. 'p99>5ms' (may be repeated).",
        autocompletion=complete.conditions,
    ),
]
JUnit = Annotated[
    Path | None,
    typer.Option(
        "--junit",
        metavar="FILE",
        help="Write the result of every point and condition as JUnit XML, for build servers.",
    ),
]
Pcap = Annotated[
    Path | None,
    typer.Option(
        "--pcap",
        metavar="FILE",
        help="Write the packets to a new file (pcapng, for Wireshark). There must be only one run.",
    ),
]
PcapAt = Annotated[
    str,
    typer.Option(
        metavar="PLACE",
        help="Where --pcap captures: client, client:N, switch (before its queues) or server:N, "
        "counted from 0.",
    ),
]
Snaplen = Annotated[
    int,
    typer.Option(
        help="Bytes of each frame that --pcap keeps, 54 to 262144.", metavar="N", max=262_144
    ),
]
PcapTruth = Annotated[
    bool,
    typer.Option(
        "--pcap-truth",
        help="Write drops and the cause of every timeout as packet comments.",
    ),
]
PcapOffload = Annotated[
    bool,
    typer.Option(
        "--pcap-offload",
        help="Merge segments as a host with TSO and GRO does, up to 64 KiB.",
    ),
]
