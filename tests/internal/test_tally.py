"""The class of each claim, and counts of claims. All readings of a claim count as one claim."""

from pathlib import Path

import pytest

from incast.errors import FigureError
from incast.reproduce import papers as texts
from incast.reproduce.judge import Verdict
from incast.reproduce.tally import Class, Outcome, outcomes, together

HOLDS, FAILS, TWICE = Verdict.HOLDS, Verdict.FAILS, Verdict.TWICE

BASE = 'title = "A text"\nseeds = 1\n'
CLAIM = 'kind = "{kind}"\nleft = {{ formula = "1" }}\nop = "<"\nright = 2\n'


def text(place: Path, claims: dict[str, str], ledger: str = "") -> texts.Paper:
    folder = place / "text"
    folder.mkdir(exist_ok=True)
    (folder / "base.toml").write_text(BASE)
    written = [
        f'[[claims]]\nid = "{name}"\nsays = "It is so."\n' + (more or CLAIM.format(kind="trend"))
        for name, more in claims.items()
    ]
    (folder / "1.toml").write_text('title = "One"\nkind = "claims"\n' + "".join(written))
    (folder / "ledger.toml").write_text(ledger)
    return texts.load(place)["text"]


def reading(of: str) -> str:
    return CLAIM.format(kind="trend") + f'reading_of = "{of}"\n'


@pytest.mark.parametrize(
    ("first", "other", "both"),
    [
        (HOLDS, HOLDS, HOLDS),
        (HOLDS, FAILS, Verdict.SOME),
        (TWICE, HOLDS, Verdict.SOME),
        (FAILS, TWICE, FAILS),
        (Verdict.UNJUDGED, HOLDS, HOLDS),
        (FAILS, Verdict.UNJUDGED, FAILS),
    ],
)
def test_readings_of_a_claim_come_to_one_verdict(
    first: Verdict, other: Verdict, both: Verdict
) -> None:
    assert together({"A": first, "A-other": other}, {"A-other": "A"}) == {"A": both}


def test_a_reading_whose_claim_was_not_run_stands_for_itself() -> None:
    assert together({"A-other": FAILS}, {"A-other": "A"}) == {"A-other": FAILS}


NEITHER = "another reading of neither: holds whatever the run does. It is within the tolerance."
LEDGER = """
[merged]
same = "held"
[dropped]
ours = "The text does not say it."
[failures]
lost = { cause = "not given", why = "It needs a rate." }
doubt = { cause = "open", why = "A longer run would tell." }
itself = { cause = "contradicts itself", why = "Figure 2 says less." }
above = { cause = "impossible", why = "The link carries less." }
also = { cause = "ns-2", why = "Its own run has less." }
tied = { cause = "open", why = "One dip decides." }
neither = { cause = "open", why = "It has no content." }
[empty]
void = "The run is searched for it."
"either-3" = "It is within the tolerance."
[ties]
clock = "With exact clocks in none of 40 runs."
[conditions]
mean = "On average; at the last point it fails."
other = "Not with FTP."
"""


def test_every_claim_ends_in_the_class_of_its_verdict_and_its_ledger(tmp_path: Path) -> None:
    paper = text(
        tmp_path,
        {
            "held": "",
            "sum": CLAIM.format(kind="arithmetic"),
            "not": CLAIM.format(kind="trend") + 'impossible = "It is more than there is."\n',
            "vague": 'kind = "trend"\nunjudged = "It has no number."\n',
            "lost": "",
            "doubt": "",
            "itself": "",
            "above": "",
            "also": "",
            "void": "",
            "tied": "",
            "lucky": "",
            "clock": "",
            "mean": "",
            "other": "",
            "other-2": reading("other"),
            "twice": "",
            "either": "",
            "either-2": reading("either"),
            "neither": "",
            "either-3": reading("neither"),
        },
        LEDGER,
    )
    held = ["held", "sum", "either-2", "void", "lucky", "clock", "mean", "either-3", "other-2"]
    failed = ["lost", "doubt", "either", "itself", "above", "also", "tied", "neither", "other"]
    verdicts = dict.fromkeys(held, HOLDS) | dict.fromkeys(failed, FAILS)
    verdicts |= {"twice": TWICE, "not": Verdict.IMPOSSIBLE, "vague": Verdict.UNJUDGED}
    noisy = verdicts | {"tied": HOLDS, "lucky": TWICE, "twice": FAILS, "other-2": FAILS}
    noisy |= {"other": HOLDS}
    assert list(outcomes(paper, verdicts, noisy)) == [
        Outcome("held", Class.HOLDS),
        Outcome("sum", Class.ARITHMETIC),
        Outcome("not", Class.IMPOSSIBLE, "It is more than there is."),
        Outcome("vague", Class.UNJUDGEABLE, "It has no number."),
        Outcome("lost", Class.NOT_GIVEN, "It needs a rate."),
        Outcome("doubt", Class.OPEN, "A longer run would tell."),
        Outcome("itself", Class.ITSELF, "Figure 2 says less."),
        Outcome("above", Class.IMPOSSIBLE, "The link carries less."),
        Outcome("also", Class.NS2, "Its own run has less."),
        Outcome("void", Class.EMPTY, "The run is searched for it."),
        Outcome("tied", Class.TIES, "without clock noise: fails; with it: holds. One dip decides."),
        Outcome("lucky", Class.TIES, "without clock noise: holds; with it: refuted twice"),
        Outcome("clock", Class.TIES, "With exact clocks in none of 40 runs."),
        Outcome("mean", Class.READING, "On average; at the last point it fails."),
        Outcome("other", Class.READING, "first reading: fails; other-2: holds; Not with FTP."),
        Outcome("other-2", Class.MERGED, "another reading of other: holds"),
        Outcome("twice", Class.NS2),
        Outcome("either", Class.READING, "first reading: fails; either-2: holds"),
        Outcome("either-2", Class.MERGED, "another reading of either: holds"),
        Outcome("neither", Class.OPEN, "It has no content."),
        Outcome("either-3", Class.MERGED, NEITHER),
        Outcome("same", Class.MERGED, "held"),
        Outcome("ours", Class.UNJUDGEABLE, "The text does not say it."),
    ]
    with pytest.raises(KeyError, match="held fails, and the ledger does not say why"):
        list(outcomes(paper, {**verdicts, "held": FAILS}, {**noisy, "held": FAILS}))


@pytest.mark.parametrize(
    ("ledger", "message"),
    [
        ('[merged]\nA = "C"', r"ledger.toml: merged, A: there is no 'C'; choose from B"),
        ('[merged]\nB = "B"', r"ledger.toml: merged: B is still a claim of a figure"),
        ('[empty]\nC = "x"', r"ledger.toml: empty: there is no 'C'; choose from B"),
        ('[failures.C]\ncause = "open"\nwhy = "x"', r"failures: there is no 'C'; choose from B"),
        ('[failures.B]\ncause = "opn"\nwhy = "x"', r"cause: there is no 'opn'; did you mean open"),
    ],
)
def test_a_ledger_names_claims_that_there_are(tmp_path: Path, ledger: str, message: str) -> None:
    with pytest.raises(FigureError, match=message):
        text(tmp_path, {"B": ""}, ledger)


def test_a_reading_is_named_by_how_it_differs(tmp_path: Path) -> None:
    text(tmp_path, {"rate": "", "rate-ftp": reading("rate")})
    folder = tmp_path / "text"
    one = (folder / "1.toml").read_text()
    head, first, second = one.split("[[claims]]")
    second = second.replace("It is so.", "It is so (with FTP).")
    (folder / "1.toml").write_text("[[claims]]".join([head, first, second]))
    third = second.replace("rate-ftp", "rate-three").replace(" (with FTP)", "")
    title = head.replace('"One"', '"One, three segments"')
    (folder / "1-three.toml").write_text("[[claims]]".join([title, third]))
    fourth = third.replace("rate-three", "rate-four")
    other = head.replace('"One"', '"One and more, four segments"')
    (folder / "1-four.toml").write_text("[[claims]]".join([other, fourth]))
    verdicts = {"rate": FAILS, "rate-ftp": HOLDS, "rate-three": FAILS, "rate-four": HOLDS}
    [found, *_] = outcomes(texts.load(tmp_path)["text"], verdicts, verdicts)
    told = {"with FTP: holds", "three segments: fails", "four segments: holds"}
    assert found.why.split("; ")[0] == "first reading: fails"
    assert set(found.why.split("; ")[1:]) == told


def test_a_reading_is_of_a_claim_that_is_none_itself(tmp_path: Path) -> None:
    claims = {"A": "", "B": reading("A"), "C": reading("B")}
    with pytest.raises(FigureError, match="claims, C: reading_of: there is no 'B'"):
        text(tmp_path, claims)
