"""The network guard: what it blocks, what passes, and what it does to a request on its way."""

from __future__ import annotations

import gzip
import ipaddress
import socket
import threading
import time
import zlib
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.guards.http_servers import Answer, Seen, Server, http_server
from tools_app.core import InvalidSetting, ToolError
from tools_app.guards.addresses import blocked_reason, embedded_ipv4
from tools_app.guards.network import (
    Fetched,
    InvalidRequest,
    NetworkGuard,
    RedirectRefused,
    RequestFailed,
    RequestTimeout,
    TooManyRedirects,
)
from tools_app.guards.network_policy import (
    InvalidUrl,
    NetworkPolicy,
    NetworkRefused,
    ResolutionFailed,
    parse_target,
)

PUBLIC = "93.184.216.34"

MUST_BLOCK = """
    0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 100.100.100.200 127.0.0.1
    127.255.255.254 168.63.129.16 169.254.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1
    192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1
    239.255.255.255 240.0.0.1 255.255.255.255
    0177.1 0177.0.0.01 2130706433 0x7f.1 0x7f000001 127.1 0 0xa9fea9fe 3232235777 010.0.0.1
    [::] [::1] [0:0:0:0:0:0:0:1] [fc00::1] [fd12::1] [fd00:ec2::254] [fe80::1] [fec0::1] [ff02::1]
    [2001:db8::1] [3fff::1] [100::1] [4000::1] [2001:2::1] [2001:10::1]
    [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:10.0.0.1] [::127.0.0.1] [::ffff:0:127.0.0.1]
    [64:ff9b::7f00:1] [64:ff9b::a9fe:a9fe] [64:ff9b:1::808:808]
    [2002:7f00:1::] [2002:0a00:1::1] [2002:c0a8:101::1] [2001::1] [2001:0:808:808::f7f7:f7f7]
    [fe80::5efe:127.0.0.1] [2001:db8:1234::5efe:127.0.0.1] [2600::5efe:127.0.0.1]
    [2600::200:5efe:10.0.0.1]
    metadata.google.internal metadata.google.internal. METADATA.GOOGLE.COM 127.0.0.1. 10.0.0.1.
""".split()  # noqa: SIM905 - a table

MUST_PASS = """
    1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.1 100.63.255.255 100.128.0.1 126.255.255.255 128.0.0.1
    169.253.0.1 169.255.0.1 172.15.255.255 172.32.0.1 192.0.1.1 192.167.255.255 192.169.0.1
    198.17.255.255 198.20.0.1 223.255.255.255 134744072 0x08080808 8.8.8.8.
    [2606:4700:4700::1111] [2001:4860:4860::8888] [2a00:1450::1] [::ffff:8.8.8.8] [64:ff9b::808:808]
    [2002:808:808::1] [2600::5efe:8.8.8.8]
""".split()  # noqa: SIM905 - a table


def no_names(host: str, port: int) -> list[str]:
    """Resolve as the system does, but literal addresses only."""
    try:
        found = socket.getaddrinfo(host, port, flags=socket.AI_NUMERICHOST)
    except OSError:
        raise ResolutionFailed(f"'{host}' is unknown here") from None
    return [str(address[0]) for *_, address in found]


def names(**addresses: list[str]) -> NetworkGuard:
    """Return a guard for which ``example`` stands for example.test."""
    table = {f"{name}.test": found for name, found in addresses.items()}
    return NetworkGuard(resolve=lambda host, port: table.get(host) or no_names(host, port))


@pytest.mark.parametrize("host", MUST_BLOCK)
def test_must_block(host: str) -> None:
    with pytest.raises(NetworkRefused):
        NetworkGuard(resolve=no_names).check(f"http://{host}/x")


@pytest.mark.parametrize("host", MUST_PASS)
def test_must_pass(host: str) -> None:
    assert NetworkGuard(resolve=no_names).check(f"https://{host}/x").port == 443


@pytest.mark.parametrize(
    "url",
    [
        "",
        "not a url",
        "example.com",
        "//example.com/",
        "http:///x",
        "http:8.8.8.8",
        "ftp://8.8.8.8/",
        "file:///etc/passwd",
        "gopher://8.8.8.8/",
        "javascript:alert(1)",
        "http://user:pw@8.8.8.8/",
        "http://user@8.8.8.8/",
        "http://@8.8.8.8/",
        "http://8.8.8.8:80\\@127.0.0.1/",
        "http://8.8.8.8\\x",
        "http://8.8.8.8/a b",
        "http://8.8.8.8/\r\nX: y",
        "http://8.8.8.8\t/",
        "http://8.8.8.8:99999/",
        "http://8.8.8.8:0/",
        "http://8.8.8.8:x/",
        "http://a..b/",
        "http://.a/",
        "http://a%2eb/",
        "http://[::1%25lo]/",
        "http://[::1",
        "http://[v1.x]/",
        "http://①②⑦.⓪.⓪.①/",
        "http://" + "a" * 300 + ".com/",
        "http://8.8.8.8/" + "a" * 9000,
        None,
        3,
    ],
)
def test_a_url_of_any_other_form_is_refused(url: object) -> None:
    with pytest.raises(InvalidUrl):
        parse_target(url)


@pytest.mark.parametrize(
    ("url", "host", "port", "sent"),
    [
        ("HTTP://Example.COM", "example.com", 80, "http://example.com"),
        ("http://example.com./a", "example.com", 80, "http://example.com/a"),
        ("https://example.com:8443/a?b=c#d", "example.com", 8443, "https://example.com:8443/a?b=c"),
        ("https://bücher.example/", "xn--bcher-kva.example", 443, "https://xn--bcher-kva.example/"),
        ("http://[2606:4700::0:1]/", "2606:4700::1", 80, "http://[2606:4700::1]/"),
        ("http://under_score.example/", "under_score.example", 80, "http://under_score.example/"),
        ("http://8.8.8.8?q=a@b", "8.8.8.8", 80, "http://8.8.8.8?q=a@b"),
    ],
)
def test_a_url_is_read_once(url: str, host: str, port: int, sent: str) -> None:
    target = parse_target(url)
    assert (target.host, target.port, str(target.url).replace("%40", "@")) == (host, port, sent)


def test_one_bad_address_refuses_the_name() -> None:
    guard = names(good=[PUBLIC], mixed=[PUBLIC, "10.0.0.1"], six=["fd00::1"])
    assert guard.check("http://good.test/").host == "good.test"
    for host in ("mixed", "six", "unknown"):
        with pytest.raises(NetworkRefused):
            guard.check(f"http://{host}.test/")


def test_a_name_without_addresses_is_refused() -> None:
    with pytest.raises(ResolutionFailed):
        NetworkGuard(resolve=lambda host, port: []).check("http://nobody.test/")


def test_opened_hosts_and_networks() -> None:
    policy = NetworkPolicy.opening(
        ["LocalHost", "127.0.0.1:8080", "*.corp.test", "10.1.0.0/16", "[::1]:9000"]
    )
    guard = NetworkGuard(
        policy,
        resolve=lambda host, port: (
            ["10.9.9.9"]
            if host.endswith("test")
            else ["127.0.0.1"]
            if host == "localhost"
            else no_names(host, port)
        ),
    )
    for url in (
        "http://localhost:1/",
        "http://127.0.0.1:8080/",
        "http://a.corp.test/",
        "http://10.1.2.3/",
        "http://[::1]:9000/",
        "http://8.8.8.8/",
    ):
        guard.check(url)
    for url in (
        "http://127.0.0.1:8081/",
        "http://0177.1:8080/",
        "http://corp.test/",
        "http://10.2.0.1/",
        "http://[::1]:9001/",
        "http://notlocalhost.test/",
    ):
        with pytest.raises(NetworkRefused):
            guard.check(url)


def test_metadata_services_are_opened_by_no_pattern() -> None:
    wide = NetworkPolicy.opening(["*", "169.254.0.0/16", "100.64.0.0/10", "0.0.0.0/0"])
    for url in ("http://169.254.169.254/", "http://100.100.100.200/", "http://[::ffff:a9fe:a9fe]/"):
        with pytest.raises(NetworkRefused):
            NetworkGuard(wide, resolve=no_names).check(url)
    with pytest.raises(NetworkRefused):
        NetworkGuard(wide, resolve=lambda *_: ["10.0.0.1"]).check(
            "http://metadata.google.internal/"
        )
    exact = NetworkPolicy.opening(["169.254.169.254"])
    NetworkGuard(exact, resolve=no_names).check("http://169.254.169.254/")


def test_blocked_hosts_and_networks_win() -> None:
    policy = NetworkPolicy(
        allowed_hosts=("8.8.8.8",),
        blocked_hosts=("*.evil.test",),
        blocked_networks=(ipaddress.ip_network("8.8.8.0/24"),),
    )
    guard = NetworkGuard(policy, resolve=lambda h, p: [PUBLIC] if "test" in h else no_names(h, p))
    guard.check("http://1.1.1.1/")
    for url in ("http://8.8.8.8/", "http://x.evil.test/"):
        with pytest.raises(NetworkRefused):
            guard.check(url)


@pytest.mark.parametrize("entry", ["10.0.0.1/8", "a b", "http://x", "x/y", "", "ü"])
def test_an_entry_that_is_no_host_is_a_bad_setting(entry: str) -> None:
    with pytest.raises(InvalidSetting):
        NetworkPolicy.opening([entry])


@given(st.ip_addresses(v=4))
def test_ipv4_is_judged_as_the_registry_says(address: ipaddress.IPv4Address) -> None:
    if not address.is_global or address.is_multicast:
        assert blocked_reason(address) is not None
    for network in ("::ffff:0:0", "::", "64:ff9b::"):
        wrapped = ipaddress.IPv6Address(int(ipaddress.IPv6Address(network)) + int(address))
        if int(wrapped) > 1:
            assert embedded_ipv4(wrapped) == address
            assert (blocked_reason(wrapped) is None) == (blocked_reason(address) is None)


@given(st.ip_addresses(v=6))
def test_ipv6_that_is_not_global_is_blocked(address: ipaddress.IPv6Address) -> None:
    if embedded_ipv4(address) is None and (not address.is_global or address.is_multicast):
        assert blocked_reason(address) is not None


@given(st.text(max_size=60) | st.text("htp:/@[]#?.%\\0x17f", max_size=30).map("http://".__add__))
def test_any_text_is_a_target_or_an_invalid_url(url: str) -> None:
    try:
        target = parse_target(url)
    except InvalidUrl:
        return
    assert target.url.host in (target.host, f"[{target.host}]")
    assert not target.url.userinfo


# Fetching, from servers on loopback.


@pytest.fixture
def server() -> Iterator[Server]:
    with http_server() as running:
        yield running


def opened(*servers: Server) -> NetworkGuard:
    return NetworkGuard(NetworkPolicy.opening(f"127.0.0.1:{s.port}" for s in servers))


def test_loopback_is_refused_before_anything_is_sent(server: Server) -> None:
    with pytest.raises(NetworkRefused, match="loopback"):
        NetworkGuard().fetch("GET", server.url())
    assert server.seen == []


def test_a_request_arrives_as_it_was_asked_for(server: Server) -> None:
    answer = opened(server).fetch(
        "post",
        server.url("/a?b=c"),
        headers={"X-Note": "$HOME ${HOME}", "Accept": "x/y"},
        body=b"data",
    )
    assert (answer.status, answer.body, answer.text()) == (200, b"hello", "hello")
    seen = server.seen[0]
    assert (seen.method, seen.path, seen.body) == ("POST", "/a?b=c", b"data")
    assert seen.headers["x-note"] == "$HOME ${HOME}"
    assert seen.headers["accept"] == "x/y"
    assert seen.headers["host"] == f"127.0.0.1:{server.port}"
    assert "cookie" not in seen.headers


def test_the_environments_proxy_is_not_used(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert opened(server).fetch("GET", server.url()).status == 200


def test_the_connection_goes_to_the_checked_address(server: Server) -> None:
    """A name server that changes its mind is asked once per connection, and believed once."""
    answers = iter([["127.0.0.1"], [PUBLIC], ["10.0.0.1"]])
    asked: list[str] = []

    def rebinding(host: str, port: int) -> list[str]:
        asked.append(host)
        return next(answers)

    guard = NetworkGuard(NetworkPolicy.opening(["127.0.0.0/8"]), resolve=rebinding)
    assert guard.fetch("GET", server.url(host="rebind.test")).status == 200
    assert asked == ["rebind.test"]
    assert server.seen[0].headers["host"] == f"rebind.test:{server.port}"


def test_the_next_address_is_tried_when_one_does_not_answer(server: Server) -> None:
    guard = NetworkGuard(
        NetworkPolicy.opening(["127.0.0.0/8"]),
        resolve=lambda *_: ["127.0.0.99", "127.0.0.1"],
    )
    assert guard.fetch("GET", server.url(host="two.test")).status == 200


def redirecting(location: str, status: int = 302) -> Answer:
    return Answer(status, b"", {"Location": location})


def chain(first: Answer, then: Answer | None = None) -> Iterator[Answer]:
    yield first
    while True:
        yield then or Answer()


def fetch_redirected(
    first: Answer, method: str = "POST", headers: dict[str, str] | None = None
) -> tuple[Fetched, Seen]:
    answers = chain(first)
    with http_server(lambda _: next(answers)) as server:
        guard = opened(server)
        answer = guard.fetch(
            method,
            server.url("/start"),
            headers=headers or {},
            body=b"data" if method != "GET" else b"",
        )
        return answer, server.seen[-1]


@pytest.mark.parametrize("status", [301, 302, 303])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "GET"])
def test_these_redirects_become_get_without_a_body(status: int, method: str) -> None:
    answer, last = fetch_redirected(
        redirecting("/next", status), method, {"Content-Type": "text/x", "X-Keep": "1"}
    )
    assert (last.method, last.path, last.body) == ("GET", "/next", b"")
    assert last.headers["x-keep"] == "1"
    assert answer.url.endswith("/next")
    assert method == "GET" or "content-type" not in last.headers


def test_head_stays_head() -> None:
    assert fetch_redirected(redirecting("/next", 303), "HEAD")[1].method == "HEAD"


@pytest.mark.parametrize("status", [307, 308])
def test_these_redirects_keep_method_and_body(status: int) -> None:
    _, last = fetch_redirected(redirecting("next", status), "PUT")
    assert (last.method, last.path, last.body) == ("PUT", "/next", b"data")


def test_a_redirect_without_a_location_is_the_answer() -> None:
    answer, _ = fetch_redirected(Answer(302, b"", {}))
    assert answer.status == 302


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1:9/admin",
        "http://10.0.0.1/",
        "http://[::1]/",
        "http://0x7f.1/",
        "//127.0.0.2/",
        "http://169.254.169.254/latest",
        "http://u:p@8.8.8.8/",
        "ftp://8.8.8.8/",
        "file:///etc/passwd",
        "http://[",
    ],
)
def test_a_redirect_is_checked_like_the_first_url(location: str) -> None:
    with pytest.raises(RedirectRefused):
        fetch_redirected(redirecting(location))


def test_redirects_are_counted(server: Server) -> None:
    def count(seen: Seen) -> Answer:
        step = int(seen.path.removeprefix("/"))
        return Answer() if step == 0 else redirecting(f"/{step - 1}")

    with http_server(count) as counting:
        guard = opened(counting)
        assert guard.fetch("GET", counting.url("/5")).status == 200
        with pytest.raises(TooManyRedirects):
            guard.fetch("GET", counting.url("/6"))


CREDENTIALS = {
    "Authorization": "Bearer x",
    "Cookie": "a=b",
    "Proxy-Authorization": "Basic x",
    "X-Api-Key": "k",
    "X-Custom": "sk-abcdefghijklmnopqrstuvwxyz1234",
}


def test_credentials_stay_within_their_origin(server: Server) -> None:
    with http_server(lambda _: redirecting(server.url("/elsewhere"))) as first:
        opened(first, server).fetch("GET", first.url(), headers={**CREDENTIALS, "X-Plain": "1"})
        assert first.seen[0].headers["authorization"] == "Bearer x"
    sent = server.seen[0].headers
    assert not {name.lower() for name in CREDENTIALS} & set(sent)
    assert sent["x-plain"] == "1"


def test_credentials_go_along_within_their_origin() -> None:
    _, last = fetch_redirected(redirecting("/next"), "GET", CREDENTIALS)
    assert {name.lower() for name in CREDENTIALS} <= set(last.headers)


def test_cookies_of_an_answer_are_not_sent_back() -> None:
    first = Answer(302, b"", {"Location": "/next", "Set-Cookie": "session=1; Path=/"})
    assert "cookie" not in fetch_redirected(first, "GET")[1].headers


def test_a_body_is_cut_at_the_limit() -> None:
    with http_server(lambda _: Answer(body=b"x" * 100)) as server:
        guard = opened(server)
        for limit, cut in ((99, True), (100, False), (101, False)):
            answer = guard.fetch("GET", server.url(), max_bytes=limit)
            assert (len(answer.body), answer.is_truncated) == (min(limit, 100), cut)


@pytest.mark.parametrize(
    ("encoding", "encode"), [("gzip", gzip.compress), ("deflate", zlib.compress)]
)
def test_compressed_bodies_are_decoded(encoding: str, encode: object) -> None:
    body = encode("grüße".encode())  # type: ignore[operator]
    answer = Answer(body=body, headers={"Content-Encoding": encoding})
    with http_server(lambda _: answer) as server:
        assert opened(server).fetch("GET", server.url()).text() == "grüße"


def test_a_body_that_expands_is_cut_at_the_limit() -> None:
    bomb = gzip.compress(b"\0" * 200_000_000, compresslevel=9)
    with http_server(lambda _: Answer(body=bomb, headers={"Content-Encoding": "gzip"})) as server:
        answer = opened(server).fetch("GET", server.url(), max_bytes=1000)
    assert (len(answer.body), answer.is_truncated) == (1000, True)


@pytest.mark.parametrize("headers", [{"Content-Encoding": "br"}, {"Content-Encoding": "gzip"}])
def test_a_body_that_cannot_be_decoded_is_a_failure(headers: dict[str, str]) -> None:
    with http_server(lambda _: Answer(headers=headers)) as server, pytest.raises(RequestFailed):
        opened(server).fetch("GET", server.url())


def test_text_is_read_in_its_charset() -> None:
    answer = Answer(body="é€".encode("cp1252"), headers={"Content-Type": "text/x; charset=cp1252"})
    with http_server(lambda _: answer) as server:
        assert opened(server).fetch("GET", server.url()).text() == "é€"
    answer = Answer(body=b"\xff", headers={"Content-Type": "text/x; charset=nonsense"})
    with http_server(lambda _: answer) as server:
        assert opened(server).fetch("GET", server.url()).text() == "\ufffd"


@pytest.mark.parametrize("name", ["punycode", "idna", "unicode_escape", "hex", "rot13", "zlib"])
def test_a_codec_that_is_no_charset_is_not_used(name: str) -> None:
    body = b"\\u0041" + b"a" * 100_000
    answer = Answer(body=body, headers={"Content-Type": f"text/x; charset={name}"})
    with http_server(lambda _: answer) as server:
        assert opened(server).fetch("GET", server.url()).text() == body.decode()


def test_a_server_that_does_not_answer_is_given_up() -> None:
    release = threading.Event()

    def hang(_: Seen) -> None:
        release.wait(10)

    with http_server(hang) as server:
        started = time.monotonic()
        with pytest.raises(RequestTimeout):
            opened(server).fetch("GET", server.url(), timeout_s=0.2)
        release.set()
    assert time.monotonic() - started < 3


def test_a_server_that_drips_is_given_up() -> None:
    """Each byte arrives in time, the whole answer never."""
    stop = threading.Event()

    def drip(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            while not stop.wait(0.05):
                try:
                    connection.sendall(b"x")
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        thread = threading.Thread(target=drip, args=(listener,))
        thread.start()
        guard = NetworkGuard(NetworkPolicy.opening([f"127.0.0.1:{port}"]))
        started = time.monotonic()
        with pytest.raises(RequestTimeout):
            guard.fetch("GET", f"http://127.0.0.1:{port}/", timeout_s=0.4)
        assert time.monotonic() - started < 3
        stop.set()
        thread.join()


def test_a_closed_port_is_a_failure() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    guard = NetworkGuard(NetworkPolicy.opening(["127.0.0.1"]))
    with pytest.raises(RequestFailed):
        guard.fetch("GET", f"http://127.0.0.1:{port}/")


def test_a_server_that_hangs_up_is_a_failure() -> None:
    with http_server(lambda _: None) as server, pytest.raises(RequestFailed):
        opened(server).fetch("GET", server.url())


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "internal"},
        {"content-length": "1"},
        {"Transfer-Encoding": "chunked"},
        {"Connection": "x"},
        {"X\r\nY": "z"},
        {"X": "a\r\nY: b"},
        {"X": "a\0"},
        {"X": "ü€"},
        {"X": 3},
        {"": "x"},
        {"X Y": "z"},
    ],
)
def test_headers_that_cannot_be_sent_are_refused(headers: dict[str, str], server: Server) -> None:
    with pytest.raises(InvalidRequest):
        opened(server).fetch("GET", server.url(), headers=headers)
    assert server.seen == []


@pytest.mark.parametrize("method", ["TRACE", "CONNECT", "OPTIONS", "", "GET\r\n"])
def test_other_methods_are_refused(method: str, server: Server) -> None:
    with pytest.raises(InvalidRequest, match="DELETE, GET, HEAD, PATCH, POST, PUT"):
        opened(server).fetch(method, server.url())


def test_one_guard_serves_many_threads(server: Server) -> None:
    guard = opened(server)
    statuses: list[int] = []
    threads = [
        threading.Thread(target=lambda: statuses.append(guard.fetch("GET", server.url()).status))
        for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [200] * 20
    guard.close()
    assert guard.fetch("GET", server.url()).status == 200


def test_every_refusal_is_a_tool_error() -> None:
    for error in (NetworkRefused, InvalidUrl, ResolutionFailed, RedirectRefused, RequestTimeout):
        assert issubclass(error, ToolError)
        assert error.code != ToolError.code
