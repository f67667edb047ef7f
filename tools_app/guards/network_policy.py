"""Which hosts and addresses outbound requests may reach, and which URLs are well formed."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from ipaddress import IPv6Address, ip_address, ip_network

import httpx2

from tools_app.core.cancellation import remaining_seconds
from tools_app.core.errors import InvalidSetting, ToolError
from tools_app.guards.addresses import Address, Network, blocked_reason, is_metadata_address

METADATA_HOSTS = frozenset(
    {"metadata.google.internal", "metadata.google.com", "metadata.goog", "instance-data"}
)
MAX_URL_CHARACTERS = 8192
RESOLVE_TIMEOUT_S = 10.0  # where the call itself has no deadline
_HOST_NAME = re.compile(r"(?!.*\.\.)[a-z0-9_-][a-z0-9._-]{0,252}\Z")
_HOST_ENTRY = re.compile(r"[a-z0-9_.:*-]{1,253}\Z")
_UNSAFE = re.compile(r"[\x00-\x20\x7f\\]")
_AUTHORITY = re.compile(r"[^:/?#]*://([^/?#]*)")
_DEFAULT_PORTS = {"http": 80, "https": 443}

Resolver = Callable[[str, int], Sequence[str]]


class NetworkRefused(ToolError):
    """A request must not go where it points; nothing was sent."""

    code = "network_refused"


class InvalidUrl(NetworkRefused):
    """The URL is malformed, or of a form that is never fetched."""

    code = "invalid_url"


class ResolutionFailed(NetworkRefused):
    """The host name has no address, or none was found in time."""

    code = "resolution_failed"
    retryable = True


@dataclass(frozen=True, slots=True)
class Target:
    """Where a URL points: ``host`` in lower case ASCII, without a trailing dot."""

    url: httpx2.URL
    host: str
    port: int

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port: credentials stay within them."""
        return self.url.scheme, self.host, self.port


def parse_target(url: object) -> Target:
    """Return where a URL points; raises InvalidUrl unless it is plain http or https."""
    if not isinstance(url, str) or not url or len(url) > MAX_URL_CHARACTERS:
        raise InvalidUrl(f"the URL must be a text of 1 to {MAX_URL_CHARACTERS} characters")
    if _UNSAFE.search(url):
        raise InvalidUrl("the URL contains white space, a control character or a backslash")
    try:
        parsed = httpx2.URL(url)
    except (httpx2.InvalidURL, ValueError) as error:
        raise InvalidUrl(f"the URL is malformed: {error}") from None
    if parsed.scheme not in _DEFAULT_PORTS:
        raise InvalidUrl(f"only http and https URLs are fetched, not '{parsed.scheme}'")
    authority = _AUTHORITY.match(url)
    if authority is None or not parsed.host:
        raise InvalidUrl("the URL has no host")
    if "@" in authority.group(1):
        raise InvalidUrl("the URL contains a user name or password")
    host = _checked_host(parsed.raw_host.decode("ascii").lower())
    port = parsed.port if parsed.port is not None else _DEFAULT_PORTS[parsed.scheme]
    if not 0 < port < 65536:
        raise InvalidUrl(f"the URL's port {port} is out of range")
    return Target(parsed.copy_with(host=host, fragment=None), host, port)


def _checked_host(host: str) -> str:
    if ":" in host:
        try:
            address = IPv6Address(host)
        except ValueError:
            raise InvalidUrl(f"'{host}' is no host") from None
        if address.scope_id is not None:
            raise InvalidUrl("the URL's address names a network interface")
        return str(address)
    name = host.removesuffix(".")
    if not _HOST_NAME.match(name):
        raise InvalidUrl(f"'{host}' is no host")
    return name


@dataclass(frozen=True, slots=True)
class NetworkPolicy:
    """Exceptions from the rule that only public addresses are reached.

    ``allowed_hosts`` opens single hosts, as ``host``, ``host:port`` or a pattern like
    ``*.internal.example``; ``allowed_networks`` opens ranges. Cloud metadata services are opened
    only by their exact name or address. The blocked ones win over the allowed ones.
    """

    allowed_hosts: tuple[str, ...] = ()
    allowed_networks: tuple[Network, ...] = ()
    blocked_hosts: tuple[str, ...] = ()
    blocked_networks: tuple[Network, ...] = ()

    @classmethod
    def opening(cls, entries: Iterable[str]) -> NetworkPolicy:
        """Return a policy that opens hosts (also patterns, also with a port) and networks.

        Raises InvalidSetting for an entry that is none of them.
        """
        hosts: list[str] = []
        networks: list[Network] = []
        for entry in entries:
            text = entry.strip().lower().replace("[", "").replace("]", "").removesuffix(".")
            try:
                if "/" in text:
                    networks.append(ip_network(text))
                    continue
            except ValueError:
                raise InvalidSetting(f"'{entry}' is no network like 10.1.0.0/16") from None
            if not _HOST_ENTRY.match(text):
                raise InvalidSetting(f"'{entry}' is no host, host:port or host pattern")
            hosts.append(text)
        return cls(allowed_hosts=tuple(hosts), allowed_networks=tuple(networks))

    def check_host(self, host: str, port: int) -> None:
        """Raise NetworkRefused when a host is refused by its name alone."""
        if _any_matches(self.blocked_hosts, host, port):
            raise NetworkRefused(f"host '{host}' is blocked by the network policy")
        if host in METADATA_HOSTS and not self._names_exactly(host, port):
            raise NetworkRefused(f"host '{host}' is a cloud metadata service")

    def check_address(self, host: str, port: int, address: Address) -> None:
        """Raise NetworkRefused when a host must not be reached at an address."""
        shown = f"'{host}'" if host == str(address) else f"'{host}' ({address})"
        if any(address in network for network in self.blocked_networks):
            raise NetworkRefused(f"host {shown} is blocked by the network policy")
        if self._names_exactly(host, port):
            return
        if not is_metadata_address(address) and (
            _any_matches(self.allowed_hosts, host, port)
            or any(address in network for network in self.allowed_networks)
        ):
            return
        reason = blocked_reason(address)
        if reason is not None:
            raise NetworkRefused(f"host {shown} is not on the public internet: {reason}")

    def _names_exactly(self, host: str, port: int) -> bool:
        return host in self.allowed_hosts or f"{host}:{port}" in self.allowed_hosts


def _any_matches(patterns: Sequence[str], host: str, port: int) -> bool:
    return any(
        fnmatchcase(host, pattern) or fnmatchcase(f"{host}:{port}", pattern) for pattern in patterns
    )


def checked_addresses(
    policy: NetworkPolicy, host: str, port: int, resolve: Resolver
) -> list[Address]:
    """Resolve a host and return its addresses; raises NetworkRefused if any of them is refused.

    One bad address among good ones refuses the host: which of them would answer is a matter of
    chance, or of an attacker's choice.
    """
    policy.check_host(host, port)
    addresses = [ip_address(text) for text in dict.fromkeys(resolve(host, port))]
    if not addresses:
        raise ResolutionFailed(f"host '{host}' has no address")
    for address in addresses:
        policy.check_address(host, port, address)
    return addresses


def system_resolver(host: str, port: int) -> list[str]:
    """Ask the operating system, which also reads spellings like ``0x7f.1``.

    Raises ResolutionFailed when it knows no address, or not within the call's deadline.
    """
    try:
        return _getaddrinfo(host, port, socket.AI_NUMERICHOST)
    except OSError:
        pass  # a name: that may take its time
    found: list[str] = []
    failures: list[OSError] = []

    def work() -> None:
        try:
            found.extend(_getaddrinfo(host, port, 0))
        except (OSError, UnicodeError) as error:
            failures.append(OSError(str(error)))

    thread = threading.Thread(target=work, name="resolve", daemon=True)
    thread.start()
    remaining = remaining_seconds()
    thread.join(RESOLVE_TIMEOUT_S if remaining is None else remaining)
    if thread.is_alive():
        raise ResolutionFailed(f"resolving host '{host}' timed out")
    if failures:
        raise ResolutionFailed(f"host '{host}' does not resolve: {failures[0]}")
    return found


def _getaddrinfo(host: str, port: int, flags: int) -> list[str]:
    answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)
    return [str(address[0]) for *_, address in answers]
