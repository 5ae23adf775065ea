"""Small formulas in figures, such as `20e-6 / 0.001`. They are never executed as code."""

import ast
import math
import operator
from collections.abc import Callable, Mapping

from incast.errors import FigureError

_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_UNARY: dict[type[ast.unaryop], Callable[[float], float]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "ceil": math.ceil,
    "exp": math.exp,
    "floor": math.floor,
    "log": math.log,
    "log2": math.log2,
    "max": max,
    "min": min,
    "sqrt": math.sqrt,
}


def evaluate(formula: str, names: Mapping[str, float], where: str) -> float:
    """Compute a formula of numbers, `names`, + - * / // % **, and a few functions.

    Raises
    ------
    FigureError
        The formula contains something else, or has no value.
    """
    try:
        return float(_compute(ast.parse(formula.strip(), mode="eval").body, names))
    except (SyntaxError, ValueError, KeyError, TypeError, ArithmeticError) as error:
        raise FigureError(f"{where}: {formula!r} cannot be computed: {error}") from None


def _compute(node: ast.expr, names: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return float(value)
        case ast.Name(id=name):
            return names[name]
        case ast.BinOp(left=left, op=op, right=right):
            return _BINARY[type(op)](_compute(left, names), _compute(right, names))
        case ast.UnaryOp(op=op, operand=operand):
            return _UNARY[type(op)](_compute(operand, names))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return _FUNCTIONS[name](*(_compute(argument, names) for argument in arguments))
        case _:
            raise ValueError(f"{ast.unparse(node)} is not arithmetic")
