"""Random documents with every key of the schema, and with valid and invalid values.

`Documents(seed)` draws the same documents in every process. The keys come from the schema, so
this module contains no list of keys, and a new key is drawn as soon as the schema has it.
"""

import json
import random
from collections.abc import Iterator
from typing import Any

from incast import _core

Tree = dict[str, Any]

# Values that no key accepts, or that only one kind of key accepts.
ODD: list[Any] = [
    None, True, False, 0, 1, -1, 2, 255, 256, 65535, 65536, 10**9, 2**31, 2**32 - 1, 2**32, 2**53,
    2**63, 2**64 - 1, 2**64, 10**30, -(2**63), 0.0, -0.0, 0.5, 1.5, -1.0, 1e-300, 1e300, 5e-324,
    float("nan"), float("inf"), float("-inf"), "", " ", "0", "1", "-1", "nan", "inf", "1e9", "all",
    "auto", "off", "on", "true", "x" * 10_000, "a\nb", "\x00", "\x1b[31m", "µ", "\ud800", "🦀", [],
    {}, [[]], [{}], [0], [1, 2, 3], ["a"], [None], {"name": None}, {"name": 5}, {"name": "x"},
    {"name": []}, {"name": {"name": "dctcp"}}, {"": 1}, [[[[]]]], 10**5000,
]  # fmt: skip
NUMBERS = [
    "0",
    "1",
    "2",
    "7",
    "40",
    "999",
    "1500",
    "65535",
    "1000000",
    "10000000000",
    "1.5",
    "0.001",
]
UNITS = {
    "Time": ["s", "ms", "us", "ns", "ps"],
    "Rate": ["bps", "kbps", "Mbps", "Gbps", "Tbps"],
    "Size": ["", "B", "KB", "KiB", "MiB", "GiB", "TB"],
    "Limit": ["", "B", "KiB", "MB", "pkt"],
    "Window": ["", "seg", "pkt", "KiB"],
}


class Documents:
    """Draws random documents, without end.

    Parameters
    ----------
    seed
        The seed of the random numbers.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.schema: Tree = json.loads(_core.schema())
        self.paths = sorted(set(self._paths(self.schema, ())))

    def __iter__(self) -> Iterator[Tree]:
        """Yield random documents without end."""
        while True:
            yield self.draw()

    def draw(self) -> Tree:
        """Draw a document with up to eight changed keys, and sometimes with a sweep."""
        if self.random.random() < 0.3:
            document: Tree = {"workload": {"servers": 4, "sru": "64KiB"}}
            self.change(document)
        else:
            document = self.base()
            for _ in range(self.random.choice([0, 1, 1, 1, 2, 3, 8])):
                self.mutate(document)
        if self.random.random() < 0.2:
            document["sweep"] = self.sweep()
        return document

    def base(self) -> Tree:
        """Draw a document in which most keys have values of the right kind."""
        document: Tree = {"workload": {"servers": 4, "sru": "64KiB"}}
        for table in ("network", "transport", "workload", "run"):
            if self.random.random() < 0.3:
                document[table] = document.get(table, {}) | self.some(f"#/properties/{table}")
        if self.random.random() < 0.3:
            count = self.random.choice([1, 1, 2, 5])
            document["background"] = [self.value(self._background, 0) for _ in range(count)]
        if self.random.random() < 0.3:
            document["profile"] = self.value(self.schema["properties"]["profile"], 0)
        return document

    def some(self, place: str) -> Tree:
        """Draw a table with a few keys."""
        value = self.value(self._at(place), 0)
        return value if isinstance(value, dict) else {}

    def change(self, document: Tree) -> None:
        """Give a random key a new value of the right kind."""
        path = list(self.random.choice(self.paths))
        place: Any = document
        for key in path[:-1]:
            place = self._enter(place, key)
        if isinstance(place, dict):
            place[path[-1]] = self.fitting(path)

    def mutate(self, document: Tree) -> None:
        """Give a new value to a key of the schema, or add a key that the schema does not have."""
        path = list(self.random.choice(self.paths))
        if self.random.random() < 0.05:
            path[self.random.randrange(len(path))] = self.random.choice(
                ["", "x", "0", "sweep", "name"]
            )
        *tables, last = path
        place: Any = document
        for key in tables:
            place = self._enter(place, key)
            if place is None:
                return
        value = self.odd() if self.random.random() < 0.5 else self.fitting(path)
        if isinstance(place, dict):
            if self.random.random() < 0.1:
                place.pop(last, None)
            else:
                place[last] = value
        elif isinstance(place, list) and last.isdigit() and int(last) < len(place):
            place[int(last)] = value

    def sweep(self) -> Tree:
        """Draw a sweep of at most a thousand points, or of far too many points."""
        axes: Tree = {}
        for _ in range(self.random.choice([1, 1, 2, 3])):
            path = self.random.choice(self.paths)
            count = self.random.choice([1, 2, 5, 10])
            axes[".".join(path)] = [self.fitting(list(path)) for _ in range(count)]
        fate = self.random.random()
        if fate < 0.1:
            axes |= {f"workload.{name}": list(range(1, 101)) for name in ("servers", "blocks", "x")}
        elif fate < 0.2:
            axes["zip"] = self.random.choice([[], {}, [axes.copy()], self.odd()])
        elif fate < 0.3:
            axes[self.random.choice(["", ".", "a..b", "run.seeds", "a." * 50])] = self.odd()
        return axes

    def fitting(self, path: list[str]) -> Any:  # noqa: ANN401 (a document holds anything)
        """Draw a value of the kind that the schema states for a key, if it states one."""
        place: Any = self.schema
        for key in path:
            place = self._below(place, key)
            if place is None:
                return self.odd()
        return self.value(place, 0)

    def odd(self) -> Any:  # noqa: ANN401 (a document holds anything)
        """Draw an unusual value."""
        if self.random.random() < 0.02:
            deep: Any = 1
            for _ in range(self.random.choice([30, 100, 200, 2000])):
                deep = {"a": deep} if self.random.random() < 0.5 else [deep]
            return deep
        return self.random.choice(ODD)

    def value(self, schema: Tree, depth: int) -> Any:  # noqa: ANN401 (a document holds anything)
        """Draw a value that fits a schema. Quantities and numbers cover their whole range."""
        target = schema.get("$ref", "").rpartition("/")[2]
        if target in UNITS:
            return self.random.choice(NUMBERS) + self.random.choice(UNITS[target])
        schema = self._resolve(schema)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        for kind in ("oneOf", "anyOf"):
            if kind in schema:
                return self.value(self.random.choice(schema[kind]), depth)
        draw = getattr(self, f"_{schema.get('type')}", None)
        return draw(schema, depth) if draw is not None else self.odd()

    def _object(self, schema: Tree, depth: int) -> Any:  # noqa: ANN401
        table = {}
        required = schema.get("required", [])
        for key, below in schema.get("properties", {}).items():
            if key in required or self.random.random() < (0.25 if depth < 3 else 0.05):
                table[key] = self.value(below, depth + 1)
        return table

    def _array(self, schema: Tree, depth: int) -> list[Any]:
        count = self.random.choice([0, 1, 1, 2, 3])
        return [self.value(schema.get("items", {}), depth + 1) for _ in range(count)]

    def _string(self, schema: Tree, _: int) -> Any:  # noqa: ANN401
        return self.random.choice(["a", "mice", "all", "", "1/8", "2^-3", "x" * 200])

    def _boolean(self, *_: object) -> bool:
        return self.random.random() < 0.5

    def _integer(self, schema: Tree, _: int) -> int:
        least, most = schema.get("minimum", 0), schema.get("maximum", 10**6)
        near = [least, least + 1, most, most - 1, 1, 2, 3, 10, 100]
        return self.random.choice([*near, least - 1, most + 1, self.random.randint(least, most)])

    def _number(self, schema: Tree, _: int) -> float:
        least, most = schema.get("minimum", 0.0), schema.get("maximum", 1e9)
        inside = self.random.uniform(least, min(most, least + 10))
        return self.random.choice([least, most, inside, inside, 0.5, 1.0, 1e-9, 1e9, -1.0])

    @property
    def _background(self) -> Tree:
        items: Tree = self._resolve(self.schema["properties"]["background"])["items"]
        return items

    def _enter(self, place: Any, key: str) -> Any:  # noqa: ANN401 (a document holds anything)
        """Return the table or list that a key contains; create it if the key has none."""
        if isinstance(place, dict):
            if not isinstance(place.get(key), dict | list):
                place[key] = [{"name": "long-flow"}] if key in {"background", "remedies"} else {}
            return place[key]
        if isinstance(place, list) and place and key.isdigit():
            at = min(int(key), len(place) - 1)
            if not isinstance(place[at], dict | list):
                place[at] = {}
            return place[at]
        return None

    def _at(self, place: str) -> Tree:
        found: Any = self.schema
        for part in place.removeprefix("#/").split("/"):
            found = found[part]
        return dict(found)

    def _resolve(self, schema: Tree) -> Tree:
        while "$ref" in schema:
            schema = self._at(schema["$ref"])
        return schema

    def _below(self, schema: Tree, key: str) -> Tree | None:
        """Return the schema of a key inside a table."""
        schema = self._resolve(schema)
        if key.isdigit() and "items" in schema:
            return dict(schema["items"])
        if key in schema.get("properties", {}):
            return dict(schema["properties"][key])
        variants = [*schema.get("oneOf", []), *schema.get("anyOf", [])]
        found = [below for it in variants if (below := self._below(it, key)) is not None]
        return self.random.choice(found) if found else None

    def _paths(self, schema: Tree, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        """Yield every path of the schema; in a path, a list is replaced by its first entry."""
        if path:
            yield path
        schema = self._resolve(schema)
        if len(path) > 6 or path[:1] == ("sweep",):
            return
        for key, below in schema.get("properties", {}).items():
            yield from self._paths(below, (*path, key))
        if isinstance(schema.get("items"), dict):
            yield from self._paths(schema["items"], (*path, "0"))
        for variant in [*schema.get("oneOf", []), *schema.get("anyOf", [])]:
            yield from self._paths(variant, path)
