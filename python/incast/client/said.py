"""Make foreign strings safe to show: addresses without secrets, reasons in one line."""

import re
from urllib.parse import urlsplit, urlunsplit

from incast import units

MOST = 160
"""Maximum number of characters of a reason."""
LONGEST = 2000
"""Maximum number of characters of an address."""
HIDDEN = "…"
_WORDS = "sig|sign|token|key|secret|pass|pwd|credential|auth|session|code|jwt"
_USER = re.compile(r"(?:(?<=//)|(?:(?<=\s)|^)(?!https?:|mailto:)(?=[^\s/@]*:))[^\s/?#]*@")
_PAIR = re.compile(rf"(?i)((?<=[?&;])[^=&;\s]*(?:{_WORDS})[^=&;\s]*=)[^&;\s]*")
_SECRET = re.compile(rf"(?i)((?:^|[&;])[^=&;]*(?:{_WORDS})[^=&;]*=)[^&;]*")


def address(url: str) -> str:
    """Return an address without user and password, and without keys and signatures in its query."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return reason(url)
    if not parts.netloc:
        return reason(url)
    host = parts.netloc.rpartition("@")[2]
    query = _SECRET.sub(rf"\g<1>{HIDDEN}", parts.query)
    line = units.plain(urlunsplit((parts.scheme, host, parts.path, query, "")))
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + HIDDEN


def reason(text: str) -> str:
    """Return a reason as one line of at most `MOST` characters, without control characters."""
    shown = _PAIR.sub(rf"\g<1>{HIDDEN}", _USER.sub("", text[: 4 * MOST]))
    line = units.plain(shown)
    return line if len(line) <= MOST else line[: MOST - 1] + HIDDEN
