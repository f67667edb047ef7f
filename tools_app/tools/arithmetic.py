"""Evaluation of one arithmetic expression within bounds of time and size.

The expression is parsed by ``ast`` and only the node types of this module are followed. Every
step checks the size of its result before it computes it, so no input takes long.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

from tools_app.core.errors import ToolError

Number = int | float

MAX_CHARACTERS = 1000
MAX_NESTING = 100  # of operands within operands; a long sum is no nesting
MAX_BITS = 4096  # of any integer, so that a result has at most 1 234 digits
MAX_ROUND_DIGITS = 1300


class ExpressionError(ToolError):
    """The expression cannot be evaluated."""

    code = "invalid_expression"


class DivisionByZero(ExpressionError):
    """The expression divides by zero."""

    code = "division_by_zero"


def evaluate(expression: object) -> Number:
    """Return the value of an expression; raises ExpressionError.

    Integers stay exact, floats follow IEEE 754 (an overflow is ``inf``).
    """
    tree = _parse(expression)
    try:
        return _value(tree, 0)
    except ZeroDivisionError:
        raise DivisionByZero("division by zero") from None
    except (ValueError, TypeError, OverflowError) as error:
        raise ExpressionError(str(error)) from None


def format_number(value: Number, *, floats_only: bool = False) -> str:
    """Return the text of a result; raises ExpressionError when it has to be a float and cannot."""
    return str(_as_float(value) if floats_only else value)


def _parse(expression: object) -> ast.expr:
    if not isinstance(expression, str):
        raise ExpressionError(f"the expression must be a text, not {type(expression).__name__}")
    text = expression.strip().replace("^", "**")
    if not text:
        raise ExpressionError("no expression given")
    if len(expression) > MAX_CHARACTERS:
        raise ExpressionError(f"the expression is longer than {MAX_CHARACTERS} characters")
    if "\\" in text:  # Python would warn, on stderr, about escapes it does not know
        raise ExpressionError("invalid syntax: unexpected backslash")
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise ExpressionError(f"invalid syntax: {error.msg}") from None
    except (ValueError, MemoryError, RecursionError):  # NUL, or too deep for the parser
        raise ExpressionError("the expression cannot be parsed") from None


def _value(node: ast.expr, depth: int) -> Number:
    if depth > MAX_NESTING:
        raise ExpressionError(f"the expression is nested deeper than {MAX_NESTING} levels")
    match node:
        case ast.Constant():
            return _constant(node.value)
        case ast.BinOp():
            return _binary(node, depth)
        case ast.UnaryOp(op=ast.UAdd()):
            return +_value(node.operand, depth + 1)
        case ast.UnaryOp(op=ast.USub()):
            return -_value(node.operand, depth + 1)
        case ast.Call():
            return _call(node, depth)
        case ast.Name():
            return _name(node.id)
        case _:
            raise ExpressionError(f"{type(node).__name__} is not allowed in an expression")


def _constant(value: object) -> Number:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ExpressionError(f"a value of type {type(value).__name__} is not a number")
    return _bounded(value)


def _name(name: str) -> Number:
    if name not in _CONSTANTS:
        raise ExpressionError(f"unknown name: {name}")
    return _CONSTANTS[name]


def _call(node: ast.Call, depth: int) -> Number:
    if not isinstance(node.func, ast.Name):
        raise ExpressionError("only named functions can be called")
    function = _FUNCTIONS.get(node.func.id)
    if function is None:
        raise ExpressionError(f"unknown function: {node.func.id}")
    if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
        raise ExpressionError(f"{node.func.id} takes plain arguments only")
    arguments = [_value(argument, depth + 1) for argument in node.args]
    return _bounded(function(*arguments))


def _binary(node: ast.BinOp, depth: int) -> Number:
    """Evaluate a chain like ``a + b - c`` from left to right, without a level for each operand."""
    chain = [node]
    while isinstance(chain[-1].left, ast.BinOp):
        chain.append(chain[-1].left)
    value = _value(chain[-1].left, depth + 1)
    for link in reversed(chain):
        function = _OPERATORS.get(type(link.op))
        if function is None:
            raise ExpressionError(f"operator {type(link.op).__name__} is not allowed")
        value = _bounded(function(value, _value(link.right, depth + 1)))
    return value


def _bounded(value: Any) -> Number:
    if isinstance(value, complex):
        raise ExpressionError("the result is a complex number")
    if not isinstance(value, int | float):
        raise ExpressionError(f"the result is a {type(value).__name__}, not a number")
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise ExpressionError(f"an integer on the way has more than {MAX_BITS} bits")
    return value


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, int) and isinstance(exponent, int):
        if (base.bit_length() - 1) * exponent > MAX_BITS:  # the least that the result has
            raise ExpressionError("the power is too large")
        result: Number = base**exponent
        return result
    try:
        result = _as_float(base) ** _as_float(exponent)
    except OverflowError:
        is_negative = base < 0 and exponent % 2 == 1
        return -math.inf if is_negative else math.inf
    return result


def _round(value: Number, digits: Number | None = None) -> Number:
    if digits is None:
        return round(value)
    if not isinstance(digits, int):
        raise ExpressionError("round takes a whole number of digits")
    if abs(digits) > MAX_ROUND_DIGITS:
        raise ExpressionError(f"round takes at most {MAX_ROUND_DIGITS} digits")
    return round(value, digits)


def _log(value: Number, base: Number | None = None) -> float:
    return math.log(value) if base is None else math.log(value, base)


def _as_float(value: Number) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ExpressionError("the number is too large for a float") from None


_CONSTANTS: dict[str, float] = {"pi": math.pi, "e": math.e}

_OPERATORS: dict[type[ast.operator], Callable[[Number, Number], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "round": _round,
    "min": min,
    "max": max,
    "sqrt": math.sqrt,
    "log": _log,
    "ln": _log,
    "log10": math.log10,
    "log2": math.log2,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "ceil": math.ceil,
    "floor": math.floor,
}
