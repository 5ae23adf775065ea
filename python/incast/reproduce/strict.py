"""Dataclasses from TOML. A wrong key or value gives a one-line error with the accepted values."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from incast.errors import FigureError

T = TypeVar("T")

_NAMES = {str: "a string", int: "a whole number", float: "a number", bool: "true or false"}


def take(cls: type[T], tree: object, where: str) -> T:
    """Build the dataclass `cls` from a table.

    Every field is a key of the table. The name of the key is the field's name, or the `key` in the
    field's metadata. A class with a method `from_toml(value, where)` builds itself.

    Parameters
    ----------
    cls
        The class to build; its annotations define the accepted values.
    tree
        The table.
    where
        Name of the table in messages: the file, and the key in the file.

    Raises
    ------
    FigureError
        A key is unknown or missing, or a value has the wrong type.
    """
    if not isinstance(tree, Mapping):
        raise FigureError(f"{where}: must be a table, not {_show(tree)}")
    hints = get_type_hints(cls)
    known = {str(one.metadata.get("key", one.name)): one for one in fields(cls)}  # type: ignore[arg-type]
    refuse_unknown(tree, known, where)
    values = {}
    for key, field in known.items():
        if key in tree:
            values[field.name] = _value(hints[field.name], tree[key], f"{where}: {key}")
        elif field.default is MISSING and field.default_factory is MISSING:
            raise FigureError(f"{where}: {key} is missing")
    return cls(**values)


def refuse_unknown(tree: Mapping[str, object], known: Mapping[str, object], where: str) -> None:
    """Refuse keys that are not `known`; the message suggests the most similar known key.

    Raises
    ------
    FigureError
        A key is unknown.
    """
    for key in tree:
        if key not in known:
            near = get_close_matches(key, known, 1)
            hint = f"did you mean {near[0]}?" if near else f"choose from {', '.join(known)}"
            raise FigureError(f"{where}: there is no key {key}; {hint}")


def choose(name: object, known: Mapping[str, T], where: str) -> T:
    """Return the entry of `known` that has this name.

    Raises
    ------
    FigureError
        `name` is not a string, or not a known name.
    """
    if not isinstance(name, str) or name not in known:
        near = get_close_matches(str(name), known, 1)
        hint = f"did you mean {near[0]}?" if near else f"choose from {', '.join(known)}"
        raise FigureError(f"{where}: there is no {_show(name)}; {hint}")
    return known[name]


def _value(hint: Any, value: object, where: str) -> Any:  # noqa: ANN401 (any type of field)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is UnionType:
        (hint,) = (one for one in arguments if one is not NoneType)
        return _value(hint, value, where)
    if origin is Literal:
        return choose(value, {str(one): one for one in arguments}, where)
    if origin is list:
        if not isinstance(value, list):
            raise FigureError(f"{where}: must be a list, not {_show(value)}")
        return [_value(arguments[0], one, f"{where}[{i}]") for i, one in enumerate(value)]
    if origin is dict:
        if not isinstance(value, dict):
            raise FigureError(f"{where}: must be a table, not {_show(value)}")
        return {key: _value(arguments[1], one, f"{where}.{key}") for key, one in value.items()}
    return value if hint is Any else _single(hint, value, where)


def _single(hint: Any, value: object, where: str) -> Any:  # noqa: ANN401 (any type of field)
    if hasattr(hint, "from_toml"):
        return hint.from_toml(value, where)
    if is_dataclass(hint):
        return take(hint, value, where)  # type: ignore[arg-type]
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not hint:
        raise FigureError(f"{where}: must be {_NAMES[hint]}, not {_show(value)}")
    return value


def _show(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."  # noqa: PLR2004 (one line)
