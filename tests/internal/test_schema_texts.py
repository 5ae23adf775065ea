"""The descriptions of keys that the schema gives."""

import pytest

from incast.scenario import schema


@pytest.mark.parametrize(
    ("default", "text"),
    [
        ({"name": "drop-tail"}, "drop-tail"),
        ({"name": "red", "p": 0.1}, '{"name": "red", "p": 0.1}'),
        ({"p": 0.1}, '{"p": 0.1}'),
        ({}, "{}"),
        ("40pkt", "40pkt"),
        (4, "4"),
        (None, "null"),
    ],
)
def test_a_part_without_parameters_is_its_name(default: object, text: str) -> None:
    assert schema.default({"default": default}) == text


def test_a_key_may_have_no_default() -> None:
    assert schema.default({}) == ""
