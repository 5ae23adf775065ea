"""Findings as JUnit XML, for build servers."""

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from incast.errors import ResultsError
from incast.results import Results
from incast.results.conditions import Finding
from incast.results.files import write_whole

# Characters that XML 1.0 §2.2 forbids, even if they are escaped.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(findings: Sequence[Finding], results: Results, path: Path) -> None:
    """Write a suite with a case per point and condition.

    A case fails if its condition is true. Without conditions, each point is a case, with an error
    if no run finished.

    Raises
    ------
    ResultsError
        The file cannot be written.
    """
    plan = results.plan
    title = _legal(plan.title or "Untitled scenario")
    bad = [finding for finding in findings if finding.holds]
    counts = {
        "tests": str(len(findings)),
        "failures": str(sum(finding.condition is not None for finding in bad)),
        "errors": str(sum(finding.condition is None for finding in bad)),
        "skipped": "0",
    }
    suites = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(suites, "testsuite", {"name": title, **counts})
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in (("engine", plan.engine), ("seeds", ", ".join(map(str, plan.seeds)))):
        ElementTree.SubElement(properties, "property", {"name": name, "value": value})
    for finding in findings:
        _case(suite, finding, title)
    ElementTree.indent(suites)
    try:
        write_whole(path, ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True))
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written: {error.strerror}") from None


def _case(suite: ElementTree.Element, finding: Finding, title: str) -> None:
    asked = finding.condition.text if finding.condition else ""
    name = _legal(f"{finding.where}: not {asked}" if asked else finding.where)
    case = ElementTree.SubElement(suite, "testcase", {"classname": title, "name": name})
    if finding.holds:
        about = {"message": _legal(finding.told), "type": asked or "unfinished"}
        ElementTree.SubElement(case, "failure" if asked else "error", about)


def _legal(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
