"""Where we connect to: a name is resolved once, checked, and connected to by that very address.

What a name means cannot change between the check and the connection, and nothing that is
not on the public internet is ever connected to, save in development and for hosts that
the operator listed in ``OUTBOUND_PRIVATE_HOSTS``.
"""

import socket
from collections.abc import Collection
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any, Final, NamedTuple

from django.conf import settings

from interaction.connectors.errors import ProviderError

SECONDS: Final = 5

_IPAddress = IPv4Address | IPv6Address
# Public by its number, but answers every machine of that cloud with what is known of it.
_CLOUD_METADATA: Final = IPv4Address("168.63.129.16")
_TRANSLATED: Final = IPv6Network("64:ff9b::/96")  # RFC 6052: IPv4 in the last 32 bits
_TRANSLATED_LOCALLY: Final = IPv6Network("64:ff9b:1::/48")  # RFC 8215
_THIS_NETWORK: Final = IPv4Network("0.0.0.0/8")
# Not on the public internet either, but global to the standard library.
_NOT_GLOBAL: Final = (
    IPv4Network("192.0.0.0/24"),  # RFC 6890: protocols; 192.0.0.192 is the metadata service of a cloud
    IPv4Network("192.88.99.0/24"),  # RFC 7526: relays of 6to4, which are gone
    IPv6Network("3fff::/20"),  # RFC 9637: documentation
    IPv6Network("5f00::/16"),  # RFC 9602: segment routing
    IPv6Network("::ffff:0:0:0/96"),  # RFC 2765: translated IPv4
)


class NotPublic(ProviderError):
    """The host has an address that we must not connect to."""


class Address(NamedTuple):
    """A resolved address: what ``socket.connect`` takes, and of which family."""

    family: socket.AddressFamily
    sockaddr: Any

    @property
    def ip(self) -> _IPAddress:
        """The address as a number, however it is wrapped."""
        return _unwrapped(ip_address(self.sockaddr[0].partition("%")[0]))


def connect(host: str, port: int, *, loopback_only: bool = False) -> socket.socket:
    """Return a connection to a host, tried twice.

    Raises:
        NotPublic: one of its addresses is none that we connect to.
        ProviderError: it has no address, or does not answer.

    """
    found = resolve(host, port, loopback_only=loopback_only)
    # The second try goes to the other family when there is one: IPv6 may be known and not routed.
    other = next((address for address in found if address.family != found[0].family), found[0])
    for address in (found[0], other):
        connection = socket.socket(address.family, socket.SOCK_STREAM)
        connection.settimeout(SECONDS)
        try:
            connection.connect(address.sockaddr)
        except OSError:
            connection.close()
        else:
            return connection
    raise ProviderError(f"{host} could not be reached")


def resolve(host: str, port: int, *, loopback_only: bool = False) -> list[Address]:
    """Return the addresses of a host, each of them fit to be connected to.

    Raises:
        NotPublic: one of them is not.
        ProviderError: it has none.

    """
    host = host.rstrip(".")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise ProviderError(f"{host} has no address") from None
    addresses = [Address(family, sockaddr) for family, _, _, _, sockaddr in found]
    if not addresses:
        raise ProviderError(f"{host} has no address")
    if loopback_only and not all(address.ip.is_loopback for address in addresses):
        raise NotPublic(f"{host} must be spoken to over https")
    listed: Collection[str] = getattr(settings, "OUTBOUND_PRIVATE_HOSTS", ())
    private = settings.DEVELOPMENT or host in listed
    if not all(_may_be_reached(address.ip, private=private) for address in addresses):
        raise NotPublic(f"{host} is not an address on the public internet")
    return addresses


def _may_be_reached(ip: _IPAddress, *, private: bool) -> bool:
    if ip.is_link_local or ip.is_multicast or ip.is_unspecified or ip == _CLOUD_METADATA:
        return False
    if ip in _THIS_NETWORK if isinstance(ip, IPv4Address) else ip.is_site_local:
        return False
    if ip.is_global and not ip.is_reserved and not any(ip in network for network in _NOT_GLOBAL):
        return True
    return private


def _unwrapped(ip: _IPAddress) -> _IPAddress:
    """Return the IPv4 address that an IPv6 address stands for, if it does."""
    if isinstance(ip, IPv4Address):
        return ip
    if ip in _TRANSLATED:
        return IPv4Address(int(ip) & 0xFFFF_FFFF)
    if ip in _TRANSLATED_LOCALLY:
        return IPv6Address(0)
    return ip.ipv4_mapped or ip.sixtofour or ip
