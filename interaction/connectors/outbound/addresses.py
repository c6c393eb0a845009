"""Outbound connections to addresses that are checked first.

A host is resolved once, and the connection uses the address that was checked, so a second DNS answer cannot
change it. Only public addresses are allowed, except in development and for ``OUTBOUND_PRIVATE_HOSTS``.
"""

import socket
from collections.abc import Collection
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any, Final, NamedTuple

from django.conf import settings
from django.utils.translation import gettext_noop

from identity.core.refusal_texts import fill
from interaction.connectors.errors import ProviderError, Reason

TIMEOUT_SECONDS: Final = 5

_IPAddress = IPv4Address | IPv6Address
# A public address that serves instance metadata to the virtual machines of Azure.
_CLOUD_METADATA: Final = IPv4Address("168.63.129.16")
_NAT64: Final = IPv6Network("64:ff9b::/96")  # RFC 6052: IPv4 in the last 32 bits
_LOCAL_NAT64: Final = IPv6Network("64:ff9b:1::/48")  # RFC 8215
_THIS_NETWORK: Final = IPv4Network("0.0.0.0/8")
# Networks that are not public, although ``ipaddress`` calls them global.
_NOT_GLOBAL: Final = (
    IPv4Network("192.0.0.0/24"),  # RFC 6890: protocols; 192.0.0.192 is a cloud's metadata service
    IPv4Network("192.88.99.0/24"),  # RFC 7526: 6to4 relays, deprecated
    IPv6Network("3fff::/20"),  # RFC 9637: documentation
    IPv6Network("5f00::/16"),  # RFC 9602: segment routing
    IPv6Network("::ffff:0:0:0/96"),  # RFC 2765: translated IPv4
)


class NotPublic(ProviderError):
    """The host has an address to which connections are not allowed."""


class Address(NamedTuple):
    """A resolved address: its family, and the argument of ``socket.connect``."""

    family: socket.AddressFamily
    sockaddr: Any

    @property
    def ip(self) -> _IPAddress:
        """The IP address, or the IPv4 address that is embedded in an IPv6 address."""
        return _embedded_ipv4(ip_address(self.sockaddr[0].partition("%")[0]))


def connect(host: str, port: int, *, loopback_only: bool = False) -> socket.socket:
    """Connect to a host, with one retry, and return the connection.

    Raises:
        NotPublic: an address of the host is not allowed.
        ProviderError: the host has no address, or does not respond.

    """
    resolved = resolve(host, port, loopback_only=loopback_only)
    # The retry uses the other address family if there is one: this network may not route IPv6.
    other = next((address for address in resolved if address.family != resolved[0].family), resolved[0])
    reason = Reason.UNREACHABLE
    for address in (resolved[0], other):
        connection = socket.socket(address.family, socket.SOCK_STREAM)
        connection.settimeout(TIMEOUT_SECONDS)
        try:
            connection.connect(address.sockaddr)
        except OSError as error:
            connection.close()
            reason = Reason.TIMED_OUT if isinstance(error, TimeoutError) else Reason.UNREACHABLE
        else:
            return connection
    raise ProviderError(fill(gettext_noop("%(host)s could not be reached"), host=host), reason)


def resolve(host: str, port: int, *, loopback_only: bool = False) -> list[Address]:
    """Return the addresses of a host if connections to all of them are allowed.

    Raises:
        NotPublic: an address of the host is not allowed.
        ProviderError: the host has no address.

    """
    host = host.rstrip(".")
    try:
        results = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise ProviderError(
            fill(gettext_noop("%(host)s has no address"), host=host), Reason.UNREACHABLE
        ) from None
    addresses = [Address(family, sockaddr) for family, _, _, _, sockaddr in results]
    if not addresses:
        raise ProviderError(fill(gettext_noop("%(host)s has no address"), host=host), Reason.UNREACHABLE)
    if loopback_only and not all(address.ip.is_loopback for address in addresses):
        raise NotPublic(fill(gettext_noop("%(host)s requires https"), host=host), Reason.UNREACHABLE)
    listed: Collection[str] = getattr(settings, "OUTBOUND_PRIVATE_HOSTS", ())
    private = settings.DEVELOPMENT or host in listed
    if not all(_is_allowed(address.ip, private=private) for address in addresses):
        raise NotPublic(fill(gettext_noop("%(host)s is not a public address"), host=host), Reason.UNREACHABLE)
    return addresses


def _is_allowed(ip: _IPAddress, *, private: bool) -> bool:
    if ip.is_link_local or ip.is_multicast or ip.is_unspecified or ip == _CLOUD_METADATA:
        return False
    if ip in _THIS_NETWORK if isinstance(ip, IPv4Address) else ip.is_site_local:
        return False
    if ip.is_global and not ip.is_reserved and not any(ip in network for network in _NOT_GLOBAL):
        return True
    return private


def _embedded_ipv4(ip: _IPAddress) -> _IPAddress:
    """Return the IPv4 address embedded in an IPv6 address, if there is one."""
    if isinstance(ip, IPv4Address):
        return ip
    if ip in _NAT64:
        return IPv4Address(int(ip) & 0xFFFF_FFFF)
    if ip in _LOCAL_NAT64:
        return IPv6Address(0)  # is refused: where the IPv4 address is depends on the network
    return ip.ipv4_mapped or ip.sixtofour or ip
