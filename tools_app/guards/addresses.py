"""Which IP addresses are the public internet, and which must not be reached from a tool.

IPv6 forms that carry an IPv4 address are judged by that address. Ranges: IANA special-purpose
address registries (RFC 6890 and its updates), cloud metadata services.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Services that hand credentials to whoever can reach them.
METADATA_ADDRESSES: frozenset[Address] = frozenset(
    {
        IPv4Address("169.254.169.254"),  # most clouds
        IPv4Address("169.254.170.2"),  # AWS container credentials
        IPv4Address("100.100.100.200"),  # Alibaba
        IPv4Address("168.63.129.16"),  # Azure, a public address
        IPv4Address("192.0.0.192"),  # Oracle
        IPv6Address("fd00:ec2::254"),  # AWS
        IPv6Address("fd20:ce::254"),  # Google
    }
)

_IPV4_RANGES: tuple[tuple[IPv4Network, str], ...] = tuple(
    (IPv4Network(network), reason)
    for network, reason in (
        ("0.0.0.0/8", "this network"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared by a carrier (CGNAT)"),
        ("127.0.0.0/8", "loopback"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "protocol assignments"),
        ("192.0.2.0/24", "documentation"),
        ("192.88.99.0/24", "6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "benchmarking"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
)

_IPV6_RANGES: tuple[tuple[IPv6Network, str], ...] = tuple(
    (IPv6Network(network), reason)
    for network, reason in (
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("64:ff9b:1::/48", "local NAT64"),
        ("2001::/32", "Teredo"),
        ("2001::/23", "protocol assignments"),
        ("2001:db8::/32", "documentation"),
        ("3fff::/20", "documentation"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
    )
)

_GLOBAL_UNICAST = IPv6Network("2000::/3")
_6TO4 = IPv6Network("2002::/16")
# The low 32 bits are an IPv4 address.
_IPV4_AT_THE_END = (
    IPv6Network("::/96"),  # IPv4-compatible
    IPv6Network("::ffff:0:0/96"),  # IPv4-mapped
    IPv6Network("::ffff:0:0:0/96"),  # IPv4-translated
    IPv6Network("64:ff9b::/96"),  # NAT64
)
_ISATAP_MARKS = (0x00005EFE, 0x02005EFE)  # bits 64 to 96 of the address
_LOW_32_BITS = 0xFFFF_FFFF


def embedded_ipv4(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address an IPv6 address stands for, ``None`` when it is a plain one.

    ``::`` and ``::1`` are addresses of their own.
    """
    number = int(address)
    if number <= 1:
        return None
    if any(address in network for network in _IPV4_AT_THE_END):
        return IPv4Address(number & _LOW_32_BITS)
    if address in _6TO4:
        return IPv4Address(number >> 80 & _LOW_32_BITS)
    if number >> 32 & _LOW_32_BITS in _ISATAP_MARKS:
        return IPv4Address(number & _LOW_32_BITS)
    return None


def is_metadata_address(address: Address) -> bool:
    """Return whether a cloud's metadata service answers there."""
    if isinstance(address, IPv6Address):
        return address in METADATA_ADDRESSES or embedded_ipv4(address) in METADATA_ADDRESSES
    return address in METADATA_ADDRESSES


def blocked_reason(address: Address) -> str | None:
    """Return why an address is not the public internet, ``None`` when it is."""
    if is_metadata_address(address):
        return "cloud metadata"
    if isinstance(address, IPv4Address):
        return next((reason for network, reason in _IPV4_RANGES if address in network), None)
    for network, reason in _IPV6_RANGES:
        if address in network:
            return reason
    inner = embedded_ipv4(address)
    if inner is not None:
        inner_reason = blocked_reason(inner)
        return f"{inner_reason}, as {inner} within IPv6" if inner_reason else None
    return None if address in _GLOBAL_UNICAST else "not global unicast"
