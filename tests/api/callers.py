"""Callers of the REST API: people, tokens and the requests they make."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import Group, User
from django.test import Client

from tools_app.services.access import SYSTEM, actor_for_user
from tools_app.services.policies import current_version, publish
from tools_app.services.tokens import create_token

BASE = "/api/v1/"


class Caller:
    """A REST client: with a token, with a signed-in session, or nobody."""

    def __init__(self, *, token: str = "", user: User | None = None, csrf: bool = False) -> None:
        self.client = Client(enforce_csrf_checks=csrf)
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.token = token
        if user is not None:
            self.client.force_login(user)

    def call(self, method: str, path: str, body: Any = None, **options: Any) -> Any:
        """Make a request below /api/v1/ (or at an absolute path) and return the answer."""
        headers = {**self.headers, **options.pop("headers", {})}
        url = path if path.startswith("/") else BASE + path
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body, default=str).encode()
        options.setdefault("content_type", "application/json")
        return self.client.generic(method, url, body or b"", headers=headers, **options)

    def get(self, path: str, **options: Any) -> Any:
        """GET."""
        return self.call("GET", path, **options)

    def post(self, path: str, body: Any = None, **options: Any) -> Any:
        """POST; without a body an empty object."""
        return self.call("POST", path, {} if body is None else body, **options)

    def put(self, path: str, body: Any, **options: Any) -> Any:
        """PUT."""
        return self.call("PUT", path, body, **options)

    def patch(self, path: str, body: Any, **options: Any) -> Any:
        """PATCH."""
        return self.call("PATCH", path, body, **options)

    def delete(self, path: str, **options: Any) -> Any:
        """DELETE."""
        return self.call("DELETE", path, **options)

    def execute(self, tool: str = "calculator", **fields: Any) -> Any:
        """Run a tool; the calculator adds 2 and 2 unless told otherwise."""
        headers = fields.pop("headers", {})
        if tool == "calculator":
            fields.setdefault("arguments", {"expression": "2+2"})
        return self.post(f"tools/{tool}/execute", fields, headers=headers)


def person(name: str, *roles: str) -> User:
    """Return a user with roles."""
    user = User.objects.create_user(name, password=f"{name}-password")
    user.groups.set(Group.objects.filter(name__in=roles))
    return user


def token_of(user: User, scopes: Iterable[str], **fields: Any) -> str:
    """Return the text of a new token of ``user``."""
    actor = actor_for_user(user)
    made = create_token(
        actor=actor, owner=user, name=fields.pop("name", "test"), scopes=list(scopes), **fields
    )
    return made.secret_text


def caller(name: str, *roles: str, scopes: Iterable[str], **fields: Any) -> Caller:
    """Return a client with a token of a new user."""
    return Caller(token=token_of(person(name, *roles), scopes, **fields))


def set_policy(document: dict[str, Any]) -> None:
    """Publish a policy."""
    publish(actor=SYSTEM, document=document, base_number=current_version().number)


def code_of(response: Any) -> str:
    """Return the code of a problem, and check that it is one."""
    assert response["Content-Type"] == "application/problem+json", response.content
    body = response.json()
    assert body["status"] == response.status_code
    assert {"type", "title", "detail", "code"} <= set(body)
    return str(body["code"])
