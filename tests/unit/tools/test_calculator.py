"""The calculator beyond its vectors: exact, bounded, and never an exception."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools_app.core import ToolResult
from tools_app.tools.calculator import CalculatorTool


def calculate(expression: object, *, floats_only: bool = False) -> ToolResult:
    return CalculatorTool(floats_only=floats_only).execute(expression=expression)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("2+2", "4"),
        ("sqrt(144) + 3**2", "21.0"),
        ("2**100", "1267650600228229401496703205376"),
        ("10**400 // 10**399", "10"),
        ("7 / 7", "1.0"),
        ("  1 + 1  ", "2"),
        ("0x10 + 1_000 + 1e3 + .5", "2016.5"),
        ("1e200 ** 2", "inf"),
        ("(-1e200) ** 3", "-inf"),
        ("1e308 * 10 - 1e308 * 10", "nan"),
        ("(-1) ** 4000", "1"),
        ("round(1234, -2)", "1200"),
        ("log2(2**4000)", "4000.0"),
        ("max(1, 2.5)", "2.5"),
        ("-+-5", "5"),
        ("2 ** 4095", str(2**4095)),
        ("+".join(["1"] * 500), "500"),
    ],
)
def test_values(expression: str, text: str) -> None:
    assert calculate(expression) == ToolResult("calculator", text)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("2+2", "4.0"),
        ("1/0", "inf"),
        ("5%0", "inf"),
        ("0**-1", "inf"),
        ("2**64", str(float(2**64))),
    ],
)
def test_the_switch_prints_floats(expression: str, text: str) -> None:
    assert calculate(expression, floats_only=True) == ToolResult("calculator", text)


@pytest.mark.parametrize(
    ("expression", "part"),
    [
        ("1/0", "division by zero"),
        ("0**-1", "division by zero"),
        ("0.0**-1", "division by zero"),
        ("1%0", "division by zero"),
        ("True + 1", "bool"),
        ("b'x'", "bytes"),
        ("...", "ellipsis"),
        ("max(*[1, 2])", "max"),
        ("round(1, ndigits=1)", "round"),
        ("round(1.5, 10**9)", "digits"),
        ("round(1.5, 1.0)", "digits"),
        ("inf", "inf"),
        ("nan", "nan"),
        ("tau", "tau"),
        ("2 ** 4097", "large"),
        ("2 ** 4096", "bits"),
        ("2 ** (2 ** 62)", "large"),
        ("(2**4000) * (2**4000)", "bits"),
        ("10**400 * 1.5", "float"),
        ("sqrt(10**1000)", "float"),
        ("ceil(1e308 * 10)", "infinity"),
        ("1 @ 2", "MatMult"),
        ("pi()(1)", "named functions"),
        ("pi(1)", "pi"),
        ("x = 1", "syntax"),
        ("1; 2", "syntax"),
        ("1 \\ 2", "backslash"),
        ("1\0", "Error"),
        ("'a' 'b'", "str"),
    ],
)
def test_failures_say_what_is_wrong(expression: str, part: str) -> None:
    result = calculate(expression)
    assert not result.success
    assert result.content.startswith("Error")
    assert part in result.content


def test_length_is_limited() -> None:
    assert calculate("1" + "+1" * 499).success
    assert calculate(" " * 999 + "1").success
    assert "longer" in calculate(" " * 1000 + "1").content


def test_nesting_is_limited() -> None:
    assert calculate("-" * 100 + "1").success
    assert "nested" in calculate("-" * 101 + "1").content
    assert not calculate("(" * 400 + "1" + ")" * 400).success
    assert not calculate("abs(" * 150 + "1" + ")" * 150).success


def test_huge_integers_fail_as_floats() -> None:
    assert "float" in calculate("10**400", floats_only=True).content


ATOMS = ["0", "1", "9", "2.5", "1e308", "99999", "pi", "e", "x", "(", ")", ",", " ", "^"]
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "<<", "~", "abs(", "round(", "max(", "log("]


@given(st.lists(st.sampled_from(ATOMS + OPERATORS), max_size=40).map("".join) | st.text())
def test_any_text_is_answered_in_time(expression: str) -> None:
    started = time.process_time()
    result = calculate(expression)
    assert time.process_time() - started < 1
    assert len(result.content) <= 1300
    if result.success:
        float(result.content)


@given(st.none() | st.integers() | st.lists(st.integers()) | st.booleans() | st.binary())
def test_any_other_value_is_a_failed_result(expression: object) -> None:
    assert not calculate(expression).success


@given(st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9), st.sampled_from(["+", "-", "*"]))
def test_integers_are_exact(left: int, right: int, operator: str) -> None:
    exact = {"+": left + right, "-": left - right, "*": left * right}[operator]
    assert calculate(f"({left}) {operator} ({right})").content == str(exact)


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(0.1, 10))
def test_floats_follow_python(left: float, right: float) -> None:
    assert calculate(f"({left!r}) * ({right!r})").content == str(left * right)
    assert calculate(f"({left!r}) % ({right!r})").content == str(left % right)
    if left >= 0:
        assert calculate(f"sqrt({left!r})").content == str(math.sqrt(left))
