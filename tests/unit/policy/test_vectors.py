"""The recorded answers of the original resolver, and any further files of the same form."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tools_app.policy import (
    OfferedTool,
    PolicyWarning,
    Subject,
    check_document,
    compile_policy,
)

VECTOR_FILE = Path(__file__).parents[2] / "vectors" / "policy-vectors.json"
MORE_FILES = os.environ.get("OPENJARVIS_POLICY_VECTORS", "")
REFERENCE_TABLES = "2026.2.22"
LATER_TABLES = "2026.2.26"


def read_vectors() -> list[dict]:
    files = [VECTOR_FILE, *(Path(name) for name in MORE_FILES.split(":") if name)]
    return [vector for file in files for vector in json.loads(file.read_text())["vectors"]]


VECTORS = read_vectors()


def subject_of(vector: dict) -> Subject:
    agent_id = vector.get("agentId")
    return Subject(
        agent_id=agent_id,
        session_key=vector.get("sessionKey") or (f"agent:{agent_id}:main" if agent_id else None),
        spawned_by=vector.get("spawnedBy"),
        provider=vector.get("provider"),
        model=vector.get("model"),
        message_provider=vector.get("messageProvider"),
        sender_id=vector.get("senderId"),
        sender_name=vector.get("senderName"),
        sender_username=vector.get("senderUsername"),
        sender_e164=vector.get("senderE164"),
        sender_is_owner=vector.get("senderIsOwner", True),
        sandboxed=vector.get("sandboxed", False),
    )


def offered_of(vector: dict) -> tuple[OfferedTool, ...]:
    owners = {tool: plugin for plugin, tools in vector.get("plugins", {}).items() for tool in tools}
    return tuple(
        OfferedTool(name=name, plugin_id=owners.get(name)) for name in vector["availableTools"]
    )


def answer(vector: dict, tables: str):
    policy = compile_policy(vector["config"], version=1, tables=tables)
    return policy.effective(subject_of(vector), offered_of(vector))


@pytest.mark.policy_vectors
@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["id"])
def test_result_and_warnings_are_those_of_the_original(vector):
    effective = answer(vector, REFERENCE_TABLES)
    assert list(effective.allowed) == vector["expect"]["allowed"]
    assert list(effective.warnings) == [
        PolicyWarning(step=w["step"], unknown=tuple(w["unknown"]), stripped=w["stripped"])
        for w in vector.get("warnings", [])
    ]


@pytest.mark.policy_vectors
@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["id"])
def test_later_tables_change_only_what_the_vector_says(vector):
    expected = vector.get("withLaterTables", vector["expect"])["allowed"]
    assert list(answer(vector, LATER_TABLES).allowed) == expected


@pytest.mark.policy_vectors
@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["id"])
def test_the_strict_check_refuses_what_the_original_schema_refuses(vector):
    checked = check_document(vector["config"], tables=REFERENCE_TABLES)
    assert checked.is_valid is vector.get("configValid", True), checked.errors
    if not checked.is_valid:
        place = vector["configError"].partition(":")[0]
        assert any(error["path"].startswith(place) for error in checked.errors)


@pytest.mark.policy_vectors
@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v["id"])
def test_deciding_tool_by_tool_agrees_with_the_list(vector):
    effective = answer(vector, REFERENCE_TABLES)
    decided = [name for name in vector["availableTools"] if effective.decide(name).effect != "deny"]
    assert decided == vector["expect"]["allowed"]
