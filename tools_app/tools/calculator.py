"""calculator: arithmetic on one expression, evaluated from its syntax tree."""

from __future__ import annotations

from typing import Any

from tools_app.core.errors import ToolError
from tools_app.core.registry import ToolRegistry
from tools_app.core.tool import BaseTool
from tools_app.core.types import ToolResult, ToolSpec
from tools_app.tools.arithmetic import DivisionByZero, evaluate, format_number


@ToolRegistry.register("calculator")
class CalculatorTool(BaseTool):
    """Evaluates numbers, operators, named functions and constants; nothing else.

    With ``floats_only`` every result prints as a float and a division by zero is ``inf``, for
    comparison with OpenJarvis.
    """

    tool_id = "calculator"
    is_bounded = True

    def __init__(self, *, floats_only: bool = False) -> None:
        self._floats_only = floats_only

    @property
    def spec(self) -> ToolSpec:
        """The tool's published description."""
        return ToolSpec(
            name="calculator",
            description=(
                "Evaluate an arithmetic expression exactly: + - * / // % **, parentheses,"
                " abs round min max sqrt log log10 log2 ln sin cos tan ceil floor, pi and e."
            ),
            parameters={
                "type": "object",
                "properties": {
                    "expression": {
                        "type": "string",
                        "description": "The expression, for example '2 * (3 + sqrt(16))'.",
                    }
                },
                "required": ["expression"],
            },
            category="math",
        )

    def execute(self, /, **params: Any) -> ToolResult:
        """Return the value as text, or a failed result that says what is wrong."""
        expression = params.get("expression", "")
        try:
            value = evaluate(expression)
        except DivisionByZero as error:
            return ToolResult("calculator", "inf") if self._floats_only else _failed(error)
        except ToolError as error:
            return _failed(error)
        try:
            return ToolResult("calculator", format_number(value, floats_only=self._floats_only))
        except ToolError as error:
            return _failed(error)


def _failed(error: ToolError) -> ToolResult:
    return ToolResult(
        "calculator",
        f"Error: {error.message}",
        success=False,
        metadata={"error_code": error.code},
    )
