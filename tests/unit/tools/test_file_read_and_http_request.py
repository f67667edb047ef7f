"""The tools that reach out, through the executor: what a caller is told."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.guards.http_servers import Answer, Seen, Server, http_server
from tools_app.core import ToolCall, ToolExecutor, ToolResult
from tools_app.guards.network import NetworkGuard
from tools_app.guards.network_policy import NetworkPolicy
from tools_app.guards.paths import PathGuard
from tools_app.tools.file_read import FileReadTool
from tools_app.tools.http_request import HttpRequestTool


def read(folder: Path, **arguments: Any) -> ToolResult:
    tool = FileReadTool([str(folder)])
    return ToolExecutor([tool]).execute(ToolCall("1", "file_read", arguments))


def test_newlines_are_universal_and_lines_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\rthree\n")
    assert read(tmp_path, path="a.txt").content == "one\ntwo\nthree\n"
    assert read(tmp_path, path="a.txt", max_lines=2).content == "one\ntwo\n"
    assert read(tmp_path, path="a.txt", max_lines=-1).content == "one\ntwo\nthree\n"
    assert read(tmp_path, path="a.txt", max_lines=1).metadata["size_bytes"] == 15


@pytest.mark.parametrize("data", [b"\xff\xfe", b"a\0b", b"caf\xe9", b"\xed\xa0\x80"])
def test_a_binary_file_is_a_failed_result(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.bin").write_bytes(data)
    assert read(tmp_path, path="a.bin").error_code == "not_text"


def test_a_link_to_the_password_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").symlink_to("/etc/passwd")
    result = read(tmp_path, path="notes.txt")
    assert result.error_code == "path_denied"
    assert "outside" in result.content


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, "invalid_arguments"),
        ({"path": ""}, "invalid_arguments"),
        ({"path": "a.txt", "max_lines": "2"}, "invalid_arguments"),
        ({"path": "a.txt", "max_lines": 1.5}, "invalid_arguments"),
        ({"path": "a.txt", "max_lines": True}, "invalid_arguments"),
        ({"path": "missing.txt"}, "path_not_found"),
        ({"path": "."}, "not_a_file"),
        ({"path": "/etc/passwd"}, "path_denied"),
    ],
)
def test_refusals_have_codes(tmp_path: Path, arguments: dict[str, Any], code: str) -> None:
    (tmp_path / "a.txt").write_text("x")
    assert read(tmp_path, **arguments).error_code == code


def test_a_guard_can_be_handed_over(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    assert FileReadTool(guard=PathGuard([tmp_path])).execute(path="a.txt").content == "x"


@pytest.fixture
def server() -> Iterator[Server]:
    with http_server() as running:
        yield running


def request(server: Server | None = None, /, **arguments: Any) -> ToolResult:
    hosts = [] if server is None else [f"127.0.0.1:{server.port}"]
    tool = HttpRequestTool(NetworkGuard(NetworkPolicy.opening(hosts)))
    return ToolExecutor([tool]).execute(ToolCall("1", "http_request", arguments))


def test_an_answer_has_status_headers_and_time(server: Server) -> None:
    result = request(server, url=server.url("/x"), method="put", body="grüße")
    assert (result.success, result.content) == (True, "hello")
    assert result.metadata["status_code"] == 200
    assert result.metadata["headers"]["content-length"] == "5"
    assert result.metadata["truncated"] is False
    assert 0 < result.metadata["elapsed_ms"] < 30_000
    assert server.seen[0].body == "grüße".encode()


def test_any_status_is_a_success() -> None:
    with http_server(lambda _: Answer(500, b"broken", {"Content-Type": "text/plain"})) as server:
        result = request(server, url=server.url())
    assert (result.success, result.metadata["status_code"]) == (True, 500)
    assert result.metadata["content_type"] == "text/plain"


def test_a_long_body_is_cut_and_says_so() -> None:
    with http_server(lambda _: Answer(body=b"x" * 1_048_577)) as server:
        result = request(server, url=server.url())
    assert result.content == "x" * 1_048_576 + "\n[Response truncated at 1 MB]"
    assert result.metadata["truncated"] is True


def test_nothing_is_expanded_from_the_environment(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_SECRET", "hunter2")
    request(
        server,
        url=server.url("/$MY_SECRET"),
        headers={"X-A": "$MY_SECRET ${MY_SECRET} %MY_SECRET%"},
        body="$MY_SECRET",
    )
    seen = server.seen[0]
    assert "hunter2" not in f"{seen.path}{seen.headers}{seen.body!r}"
    assert seen.headers["x-a"] == "$MY_SECRET ${MY_SECRET} %MY_SECRET%"


def test_loopback_and_redirects_to_it_are_refused(server: Server) -> None:
    refused = request(url=server.url())
    assert refused.content.startswith("Error: SSRF protection blocked request")
    assert refused.error_code == "network_refused"
    with http_server(lambda _: Answer(302, b"", {"Location": server.url("/admin")})) as first:
        redirected = request(first, url=first.url())
    assert redirected.content.startswith("Error: SSRF protection blocked redirect")
    assert redirected.error_code == "redirect_refused"
    assert server.seen == []


def test_a_slow_server_times_out() -> None:
    release = threading.Event()

    def hang(_: Seen) -> Answer:
        release.wait(10)
        return Answer()

    with http_server(hang) as server:
        result = request(server, url=server.url(), timeout=1)
        release.set()
    assert "timed out" in result.content


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ({"url": ""}, "no url"),
        ({"url": "  "}, "no url"),
        ({"url": "http://8.8.8.8/", "method": "TRACE"}, "unsupported"),
        ({"url": "http://8.8.8.8/", "headers": "X: y"}, "headers"),
        ({"url": "http://8.8.8.8/", "headers": {"Host": "x"}}, "host"),
        ({"url": "http://8.8.8.8/", "timeout": 0}, "timeout"),
        ({"url": "http://8.8.8.8/", "method": 3}, "method"),
        ({"url": "not a url"}, "ssrf"),
    ],
)
def test_bad_requests_are_failed_results(arguments: dict[str, Any], part: str) -> None:
    result = request(**arguments)
    assert not result.success
    assert part in result.content.lower()


def test_bad_parameters_are_failed_results_without_an_executor() -> None:
    tool = HttpRequestTool()
    for arguments in ({"headers": [1]}, {"method": 3}, {"body": {}}, {"timeout": "1"}, {"odd": 1}):
        assert not tool.execute(**{"url": "http://10.0.0.1/", **arguments}).success
