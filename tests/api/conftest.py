"""An installation as after its first start, and callers of it."""

from __future__ import annotations

import pytest

from tests.api.callers import Caller, caller
from tools_app.services.first_run import prepare


@pytest.fixture
def installed(db: None) -> None:
    """Roles, sample agents, the sample policy and the built-in tools."""
    prepare()


@pytest.fixture
def admin(installed: None) -> Caller:
    """A token that may do everything."""
    return caller("ada", "admin", scopes=["admin"])


@pytest.fixture
def operator(installed: None) -> Caller:
    """A token of an operator, with all an operator has."""
    scopes = ["tools:read", "tools:execute", "policy:read", "approvals", "agents"]
    return caller("otto", "operator", scopes=scopes)


@pytest.fixture
def viewer(installed: None) -> Caller:
    """A token that may only look."""
    return caller("vera", "viewer", scopes=["tools:read", "policy:read"])


@pytest.fixture
def nobody(installed: None) -> Caller:
    """A client without any credential."""
    return Caller()
