"""The text about tools in system prompts: one source for every agent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tools_app.core.description_overrides import description_of
from tools_app.core.tool import BaseTool
from tools_app.core.types import ToolSpec


def build_tool_descriptions(
    tools: Iterable[BaseTool], *, include_category: bool = True, include_cost: bool = False
) -> str:
    """Describe each tool in a section of its own, sections separated by one empty line."""
    return describe_specs(
        (tool.spec for tool in tools), include_category=include_category, include_cost=include_cost
    )


def describe_specs(
    specs: Iterable[ToolSpec], *, include_category: bool = True, include_cost: bool = False
) -> str:
    """Describe specs in the same words, for whoever has no tool objects at hand."""
    sections = ["\n".join(_section(spec, include_category, include_cost)) for spec in specs]
    return "\n\n".join(sections) or "No tools available."


def _section(spec: ToolSpec, include_category: bool, include_cost: bool) -> Iterator[str]:
    yield f"### {spec.name}"
    yield description_of(spec)
    if include_category and spec.category:
        yield f"Category: {spec.category}"
    if include_cost and spec.cost_estimate:
        yield f"Cost estimate: ${spec.cost_estimate:.4f}"
    if include_cost and spec.latency_estimate:
        yield f"Latency estimate: {spec.latency_estimate:.1f}s"
    yield from _parameter_lines(spec.parameters)


def _parameter_lines(parameters: dict[str, Any]) -> Iterator[str]:
    properties = parameters.get("properties")
    if not isinstance(properties, dict) or not properties:
        return
    required = parameters.get("required") or ()
    yield "Parameters:"
    for name, schema in properties.items():
        details = schema if isinstance(schema, dict) else {}  # JSON Schema allows true and false
        kind = f"{details.get('type', 'any')}{', required' if name in required else ''}"
        description = details.get("description")
        yield f"  - {name} ({kind}){f': {description}' if description else ''}"
