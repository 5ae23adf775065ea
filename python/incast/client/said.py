"""What others say, fit to be shown: addresses without secrets, reasons of one short line."""

import re
from urllib.parse import urlsplit, urlunsplit

from incast import units

MOST = 160
"""Characters of a reason."""
HIDDEN = "…"
_SECRET = re.compile(
    r"(?i)((?:^|[&;])[^=&;]*(?:sig|sign|token|key|secret|pass|pwd|credential|auth)[^=&;]*=)[^&;]*"
)


def address(url: str) -> str:
    """Return an address without user, password, and what its query says of keys and signatures."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return reason(url)
    host = parts.netloc.rpartition("@")[2]
    query = _SECRET.sub(rf"\g<1>{HIDDEN}", parts.query)
    return units.plain(urlunsplit((parts.scheme, host, parts.path, query, "")))


def reason(text: str) -> str:
    """Return a reason as one line of at most `MOST` characters, without control characters."""
    line = units.plain(text[: 4 * MOST])
    return line if len(line) <= MOST else line[: MOST - 1] + HIDDEN
