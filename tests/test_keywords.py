"""Every parameter of a function can be given by its name."""

import ast
from pathlib import Path

import incast

PACKAGE = Path(incast.__file__).parent


def test_every_parameter_can_be_given_by_its_name() -> None:
    """No function has parameters before a lone `/`, because these cannot be given by name."""
    found = 0
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert not node.args.posonlyargs, f"{path}: {node.name}"
                found += len(node.args.kwonlyargs) > 0
    assert found > 20
