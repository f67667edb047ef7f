"""Ten thousand bodies that a model, a client or an attacker might send: never a 5xx."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import BytesIO

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openjarvis_web.wsgi import application
from tests.api.callers import caller
from tools_app.services.first_run import prepare

BODIES = 10_000
SHAPES = 5  # bodies made of each value that is drawn
OTHER_FIELDS = ("agent", "provider", "model", "session", "dry_run", "timeout_seconds")

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["main", "support", "\0", "\ud800", "2+2", "9**9**9", "x" * 300])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=8) | st.just("expression"), inner, max_size=3)
    ),
    max_leaves=6,
)
envelopes = st.fixed_dictionaries(
    {"arguments": st.fixed_dictionaries({}, optional={"expression": values, "thought": values})},
    optional={name: scalars for name in OTHER_FIELDS},
)
Post = Callable[[str, bytes], tuple[int, bytes]]


def shapes(envelope: dict[str, object], value: object, place: int, noise: bytes) -> list[bytes]:
    """Return what comes of a call: whole, as text, with nonsense, cut short, with noise in it."""
    whole = json.dumps(envelope).encode()
    place %= len(whole)
    found = [
        whole,
        json.dumps({**envelope, "arguments": json.dumps(envelope["arguments"])[:place]}).encode(),
        json.dumps({**envelope, "arguments": value}, ensure_ascii=False).encode("utf-8", "replace"),
        whole[:place],
        whole[:place] + noise + whole[place:],
    ]
    assert len(found) == SHAPES
    return found


@pytest.fixture
def post(transactional_db: None) -> Post:
    """Post a body to execute, straight through the WSGI application, as a token that may."""
    prepare()
    token = caller("otto", "operator", scopes=["tools:execute"]).token

    def send(tool: str, body: bytes) -> tuple[int, bytes]:
        started: list[str] = []
        environ = {
            "REQUEST_METHOD": "POST",
            "PATH_INFO": f"/api/v1/tools/{tool}/execute",
            "SERVER_NAME": "testserver",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_AUTHORIZATION": f"Bearer {token}",
            "wsgi.input": BytesIO(body),
            "wsgi.url_scheme": "http",
        }
        answer = application(environ, lambda status, headers: started.append(status))
        try:
            return int(started[0][:3]), b"".join(answer)
        finally:
            answer.close()

    return send


@pytest.mark.slow
@settings(
    max_examples=BODIES // SHAPES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(
    tool=st.sampled_from(["calculator", "think"]),
    envelope=envelopes,
    value=values,
    place=st.integers(0, 100),
    noise=st.binary(max_size=8) | st.integers(1, 2000).map(lambda depth: b"[" * depth),
)
def test_no_body_breaks_execute(post, tool, envelope, value, place, noise):
    for body in shapes(envelope, value, place, noise):
        status, content = post(tool, body)
        assert status < 500, (body, content)
        assert ("code" in orjson.loads(content)) == (status >= 400)
