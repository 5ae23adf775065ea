"""Directories of results on object stores and other machines: any path that fsspec knows.

`Remote` has those methods of `pathlib.Path` that the store uses, so the store does not depend on
the location. An object store has no locks, and its files cannot grow; only `files` and `times`
handle this difference. An object is complete or absent, so it needs no temporary name.
"""

import importlib.util
import posixpath
import re
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EIO
from fnmatch import fnmatch
from functools import total_ordering
from inspect import signature
from pathlib import Path
from typing import Any, cast

from incast.errors import ResultsError

_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*)://(.*)", re.IGNORECASE)
_LONGEST = 160  # maximum number of letters of another package's error message
_EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gs", "gcs": "gs"}  # the extra of incast per protocol


def located(place: "str | Path") -> Path:
    """Return a directory by its path, or by an address such as `s3://bucket/results`.

    Raises
    ------
    ResultsError
        There is no such protocol, or a package for it is missing.
    """
    if not isinstance(place, str):
        return place
    found = _ADDRESS.fullmatch(place)
    if found is None:
        return Path(place)
    if found[1] == "file":
        return Path(found[2])
    # `Remote` has the methods of a path that the store uses.
    return cast("Path", Remote(_system(place, found[1]), found[1], found[2].rstrip("/")))


def check_protocol(place: str) -> None:
    """Refuse an address with an unknown protocol. Without fsspec, no address is checked.

    Raises
    ------
    ResultsError
        There is no such protocol.
    """
    found = _ADDRESS.fullmatch(place)
    if found is None or importlib.util.find_spec("fsspec") is None:
        return
    import fsspec

    if found[1] not in fsspec.available_protocols():
        raise ResultsError(f"{place}: there is no protocol {found[1]!r}; must be s3, gs, …")


def _system(address: str, protocol: str) -> Any:  # noqa: ANN401 (of a package without types)
    extra = _EXTRAS.get(protocol, "remote")
    try:
        import fsspec

        check_protocol(address)
        if _wants_more(fsspec.get_filesystem_class(protocol)):
            raise ResultsError(
                f"{address}: {protocol} cannot hold results; must be a directory, s3://, gs://, …"
            )
        return fsspec.filesystem(protocol, use_listings_cache=False)
    except ImportError as error:
        if protocol not in _EXTRAS and importlib.util.find_spec("fsspec") is not None:
            # The error names the missing package.
            raise ResultsError(f"{address}: {_plain(error)}") from None
        raise ResultsError(
            f"{address}: needs a package that is not installed; pip install 'incast[{extra}]'"
        ) from None
    except (OSError, ValueError) as error:
        raise ResultsError(f"{address}: {_plain(error)}") from None


def _wants_more(system: type) -> bool:
    """Return whether a file system needs a host, a user or a token besides a path."""
    given = list(signature(system.__init__).parameters.values())[1:]  # type: ignore[misc]
    return any(it.default is it.empty and it.kind is it.POSITIONAL_OR_KEYWORD for it in given)


def is_remote(path: object) -> bool:
    """Return whether a path is on a file system other than that of this machine."""
    return isinstance(path, Remote)


@total_ordering
class Remote:
    """A path on another file system, with the methods that a store needs.

    Parameters
    ----------
    system
        The file system of fsspec.
    protocol
        The name of the file system in addresses.
    path
        The path without protocol.
    """

    def __init__(self, system: Any, protocol: str, path: str) -> None:  # noqa: ANN401
        self._system = system
        self._protocol = protocol
        self._path = path

    def __str__(self) -> str:
        return f"{self._protocol}://{self._path}"

    def __repr__(self) -> str:
        return f"Remote({str(self)!r})"

    def __hash__(self) -> int:
        return hash(str(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Remote) and str(self) == str(other)

    def __lt__(self, other: "Remote") -> bool:
        return str(self) < str(other)

    def __truediv__(self, name: str) -> "Remote":
        return Remote(self._system, self._protocol, f"{self._path}/{name}")

    @property
    def name(self) -> str:
        """The last part of the path."""
        return posixpath.basename(self._path)

    @property
    def stem(self) -> str:
        """The last part of the path, without its suffix."""
        return posixpath.splitext(self.name)[0]

    @property
    def suffix(self) -> str:
        """The suffix of the last part, with its dot."""
        return posixpath.splitext(self.name)[1]

    @property
    def parent(self) -> "Remote":
        """The folder that contains the path."""
        return Remote(self._system, self._protocol, posixpath.dirname(self._path))

    def resolve(self) -> "Remote":
        """Return the path itself, because there are no links."""
        return self

    def exists(self) -> bool:
        """Return whether there is a file or folder of this name."""
        with self._told():
            return bool(self._system.exists(self._path))

    def is_dir(self) -> bool:
        """Return whether the path is a folder; on an object store, whether it has files."""
        with self._told():
            return bool(self._system.isdir(self._path))

    def mkdir(self, *, parents: bool = True, exist_ok: bool = True) -> None:  # noqa: ARG002
        """Create the folder, if the file system has folders."""
        with self._told():
            self._system.makedirs(self._path, exist_ok=True)

    def iterdir(self) -> Iterator["Remote"]:
        """Yield the files and folders in this folder."""
        with self._told():
            self._system.invalidate_cache(self._path)
            found = self._system.ls(self._path, detail=False)
        for path in found:
            name = posixpath.basename(str(path).rstrip("/"))
            if name and name != self.name:
                yield self / name

    def glob(self, pattern: str) -> Iterator["Remote"]:
        """Yield the files and folders in this folder whose names fit the pattern."""
        return (one for one in self.iterdir() if fnmatch(one.name, pattern))

    def read_bytes(self, start: int = 0) -> bytes:
        """Return the content from the byte `start` to the end."""
        with self._told():
            return bytes(self._system.cat_file(self._path, start=start or None))

    def read_text(self, encoding: str = "utf-8") -> str:
        """Return the content as text."""
        return self.read_bytes().decode(encoding)

    def write_bytes(self, content: bytes | bytearray | memoryview) -> None:
        """Write the whole file; an object appears when it is complete."""
        with self._told():
            self._system.pipe_file(self._path, bytes(content))

    def unlink(self, *, missing_ok: bool = False) -> None:
        """Remove the file."""
        try:
            with self._told():
                self._system.rm_file(self._path)
        except FileNotFoundError:
            if not missing_ok:
                raise

    @property
    def size(self) -> int:
        """The number of bytes."""
        with self._told():
            return int(self._system.size(self._path) or 0)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn every error except a missing file into an `OSError` with message and address."""
        try:
            yield
        except FileNotFoundError:
            raise
        except Exception as error:  # any package may raise any error
            raise OSError(getattr(error, "errno", None) or EIO, _plain(error), str(self)) from error


def _plain(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) else None
    line = " ".join((text or str(error) or type(error).__name__).split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
