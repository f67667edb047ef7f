"""A product with the sample tools and several people, for pages where people disagree."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, Page, StorageState

from tests.product import ADMIN, PASSWORD, Product

__all__ = ["ADMIN", "OPERATOR", "SECOND_OPERATOR", "VIEWER", "Office"]

OPERATOR, SECOND_OPERATOR, VIEWER = "olga", "oscar", "vera"
PATIENCE_MS = 40_000  # the machine may be busy
BATCH = 50  # calls in one request

_MAKE_PEOPLE = f"""
from django.contrib.auth.models import Group, User
for name, role in (("{OPERATOR}", "operator"), ("{SECOND_OPERATOR}", "operator"),
                   ("{VIEWER}", "viewer")):
    user = User.objects.create_user(name, password="{PASSWORD}")
    user.groups.add(Group.objects.get(name=role))
"""


@dataclass(slots=True)
class Office:
    """A running product; ``token`` is the first admin's, who therefore asks and may not answer."""

    product: Product
    token: str = ""
    _sessions: dict[str, StorageState] = field(default_factory=dict)

    def open(self) -> Office:
        """Make the people, and a token that may do everything."""
        self.product.manage("shell", "-c", _MAKE_PEOPLE)
        self.token = self.product.token("bot")
        return self

    def page(self, browser: Browser, name: str, **options: Any) -> Page:
        """Return a page of a person who is signed in; close its context when done."""
        if name not in self._sessions:
            self._sessions[name] = self._session(browser, name)
        session = self._sessions[name]
        context = browser.new_context(base_url=self.product.url, storage_state=session, **options)
        context.set_default_timeout(PATIENCE_MS)
        return context.new_page()

    def _session(self, browser: Browser, name: str) -> StorageState:
        context = browser.new_context(base_url=self.product.url)
        page = context.new_page()
        page.goto("/sign-in/")
        self.sign_in(page, name)
        state = context.storage_state()
        context.close()
        return state

    def sign_in(self, page: Page, name: str) -> None:
        """Fill in the form that the page shows."""
        page.get_by_label("User name").fill(name)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(lambda url: "/sign-in/" not in url)

    def api(self, method: str, path: str, body: object = None, **headers: str) -> Any:
        """Call REST with the token and return the answer's JSON; refusals too."""
        answer = self.product.send(
            method, f"/api/v1{path}", body, token=self.token, headers=headers
        )
        assert answer.text.startswith(("{", "[")), (answer.status, answer.text, self.product.log())
        return json.loads(answer.text)

    def call(self, tool: str, arguments: object, **more: object) -> Any:
        """Start one call without waiting for its end; return {run, approval?, decision}."""
        body = {"arguments": arguments, "agent": "main", **more}
        answer = self.api("POST", f"/tools/{tool}/execute", body, Prefer="respond-async")
        assert "run" in answer, answer
        return answer

    def ask(self, arguments: object, tool: str = "send", **more: object) -> str:
        """Make a call that waits for a person; return the id of its approval."""
        answer = self.call(tool, arguments, **more)
        assert answer["approval"], answer
        return str(answer["approval"]["id"])

    def echo(self, count: int, word: str = "hello", agent: str = "main") -> list[str]:
        """Run ``count`` calls, oldest first; return the ids of their runs in the same order."""
        calls = [
            {"tool": "echo", "arguments": {"text": f"{word} {n}"}, "agent": agent}
            for n in range(count)
        ]
        runs = []
        for start in range(0, count, BATCH):
            done = self.api("POST", "/runs/batch", {"calls": calls[start : start + BATCH]})
            runs += [outcome["body"]["run"]["id"] for outcome in done["outcomes"]]
        return runs

    def change(self, code: str) -> None:
        """Change rows behind the product's back, as the passing of time would."""
        self.product.manage("shell", "-c", code)

    def clear(self) -> None:
        """Deny what waits, cancel what runs, lift what is frozen."""
        for freeze in self.api("GET", "/freezes?active=1")["items"]:
            self.api("DELETE", f"/freezes/{freeze['id']}")
        for found in self.api("GET", "/approvals?status=pending&limit=200")["items"]:
            self.api("POST", f"/approvals/{found['id']}/deny", {})
        for run in self.api("GET", "/runs?status=running")["items"]:
            self.api("POST", f"/runs/{run['id']}/cancel", {})
