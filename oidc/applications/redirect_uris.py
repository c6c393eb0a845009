"""Redirect URIs: which may be registered, and which match a registered one. Pure functions."""

import ipaddress
import re
from typing import Final
from urllib.parse import SplitResult, parse_qsl, quote, urlsplit

from django.conf import settings
from django.utils.translation import gettext_noop

from identity.core.errors import Invalid
from identity.core.refusal_texts import fill
from oidc.applications.models import Application

_LONGEST: Final = 2048
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
# RFC 8252 section 7.1: a private-use scheme is a domain name in reverse order, so it has a dot. The schemes
# that browsers run or open themselves, such as javascript, data and file, have no dot.
_PRIVATE_SCHEME: Final = re.compile(r"[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+")
_HOST_AND_PORT: Final = re.compile(r"[A-Za-z0-9.-]+:[0-9]+(/|\?|$)")  # a port, and no scheme before it
_HOST: Final = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+")
_URI_CHARACTERS: Final = re.compile(r"[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+")
_SOURCE_CHARACTERS: Final = "/%:@!$&'()*+="  # of a path; a semicolon and a comma would end the source
_LARGEST_PORT: Final = 65_535
# Parameters that an authorization response adds to the query (OAuth Parameters Registry).
_RESPONSE_PARAMETERS: Final = {
    *("code", "state", "iss", "response", "session_state"),
    *("error", "error_description", "error_uri"),
    *("access_token", "id_token", "token_type", "expires_in"),
}
_RESERVED: Final = {"redirect_uris": _RESPONSE_PARAMETERS, "post_logout_redirect_uris": {"state"}}


def validate(uri: str, application_type: str, field: str = "redirect_uris") -> str:
    """Return the URI if an application of this type may register it.

    Raises:
        Invalid: it is relative, has a fragment or user information, or its scheme is not allowed.

    """
    if len(uri) > _LONGEST:
        raise Invalid(field, fill(gettext_noop("must have at most %(count)s characters"), count=_LONGEST))
    _check_characters(uri, field)
    parts = _split(uri)
    if parts is None or not parts.scheme:
        raise Invalid(field, fill(gettext_noop("must be an absolute URI: %(uri)s"), uri=uri[:200]))
    if "@" in parts.netloc:
        raise Invalid(field, fill(gettext_noop("must not contain user information: %(uri)s"), uri=uri[:200]))
    if "#" in uri:
        # RFC 6749 section 3.1.2: the endpoint URI MUST NOT include a fragment component.
        raise Invalid(field, fill(gettext_noop("must not have a fragment: %(uri)s"), uri=uri[:200]))
    if reserved := sorted(_names(parts.query) & _RESERVED[field]):
        # A client that reads the first of two parameters would read the registered one.
        raise Invalid(
            field,
            fill(
                gettext_noop("must not have the response parameter %(name)s in its query: %(uri)s"),
                uri=uri[:200],
                name=reserved[0],
            ),
        )
    if parts.scheme in _DEFAULT_PORTS:
        _check_web(parts, uri, field)
    elif _lacks_scheme(uri, parts.scheme, application_type):
        scheme = "http" if _is_loopback(parts.scheme) else "https"
        raise Invalid(
            field, fill(gettext_noop("has no scheme: write %(uri)s"), uri=f"{scheme}://{uri[:200]}")
        )
    elif application_type != Application.Type.NATIVE:
        raise Invalid(
            field,
            fill(
                gettext_noop("must be https: only Native applications have private schemes (%(uri)s)"),
                uri=uri[:200],
            ),
        )
    elif not _PRIVATE_SCHEME.fullmatch(parts.scheme):
        raise Invalid(
            field,
            fill(
                gettext_noop("a private scheme is a reversed domain name, as com.example.app: %(uri)s"),
                uri=uri[:200],
            ),
        )
    return uri


def _lacks_scheme(uri: str, scheme: str, application_type: str) -> bool:
    """Return whether a URI begins with a host and a port, unless the host can be a private scheme."""
    may_be_private = application_type == Application.Type.NATIVE and "." in scheme
    return bool(_HOST_AND_PORT.match(uri)) and not may_be_private


def _check_characters(uri: str, field: str) -> None:
    if not _URI_CHARACTERS.fullmatch(uri):
        raise Invalid(field, fill(gettext_noop("has a character that no URI has: %(uri)s"), uri=uri[:200]))
    if "*" in uri.partition("?")[0]:
        raise Invalid(field, fill(gettext_noop("must not have a wildcard: %(uri)s"), uri=uri[:200]))


def _check_web(parts: SplitResult, uri: str, field: str) -> None:
    host = parts.hostname or ""
    if not _HOST.fullmatch(host):
        raise Invalid(
            field,
            fill(
                gettext_noop("must have a host of letters, digits, '.', '-' and '_': %(uri)s"),
                uri=uri[:200],
            ),
        )
    if not _is_exact(parts):
        raise Invalid(
            field,
            fill(
                gettext_noop("must have a host and a port from 1 to %(largest)s: %(uri)s"),
                uri=uri[:200],
                largest=_LARGEST_PORT,
            ),
        )
    if parts.scheme == "http" and not (settings.DEVELOPMENT or _is_loopback(host)):
        raise Invalid(
            field, fill(gettext_noop("must be https, or http on a loopback host: %(uri)s"), uri=uri[:200])
        )


def _names(query: str) -> set[str]:
    """Return the names of a query's parameters, with both ``&`` and ``;`` as separators."""
    return {name for name, _ in parse_qsl(query.replace(";", "&"), keep_blank_values=True)}


def _is_exact(parts: SplitResult) -> bool:
    """Return whether an authority consists of host and port and nothing else.

    Some releases of Python ignore text around the brackets of an IPv6 address.
    """
    host, port = parts.hostname or "", parts.port
    if ":" in host:
        try:
            ipaddress.IPv6Address(host)
        except ValueError:
            return False
        host = f"[{host}]"
    return port != 0 and parts.netloc.lower() == (host if port is None else f"{host}:{port}")


def is_loopback(uri: str) -> bool:
    """Return whether a URI is ``http`` on the loopback interface of the browser's machine."""
    parts = _split(uri)
    return parts is not None and parts.scheme == "http" and _is_loopback(parts.hostname or "")


def is_unproven(uri: str) -> bool:
    """Return whether another program on the device could receive a URI: it is neither https nor loopback."""
    return not uri.startswith("https:") and not is_loopback(uri)


def matches(uri: str, registered: list[str], application_type: str) -> bool:
    """Return whether the URI of a request is registered.

    RFC 9700 section 2.1: URIs are compared character by character, except that the port of a native
    application's loopback IP address may differ (RFC 8252 section 7.3).
    """
    if uri in registered:
        return True
    if application_type != Application.Type.NATIVE:
        return False
    wanted = _without_loopback_port(uri)
    return wanted is not None and any(wanted == _without_loopback_port(known) for known in registered)


def get_origin(uri: str) -> str | None:
    r"""Return scheme, host and port as in a browser's ``Origin`` header, or None for a private scheme.

    Return None also for URIs that browsers parse differently: ``https://evil\@host/`` (which goes to
    ``evil``), user information, spaces, control characters, text around brackets.
    """
    if not _URI_CHARACTERS.fullmatch(uri):
        return None
    parts = _split(uri)
    if parts is None or parts.scheme not in _DEFAULT_PORTS or not parts.hostname or not _is_exact(parts):
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = parts.port
    return f"{parts.scheme}://{host}" + ("" if port in {None, _DEFAULT_PORTS[parts.scheme]} else f":{port}")


def form_targets(uri: str) -> tuple[str, ...]:
    """Return the ``form-action`` sources that a page needs for its form to lead to a URI, besides ``https:``.

    Browsers apply the directive of the Content Security Policy to redirects as well.
    """
    parts = urlsplit(uri)
    if parts.scheme == "https":
        return ()
    host = parts.hostname or ""
    if parts.scheme != "http" or ":" in host:
        return (f"{parts.scheme}:",)  # a source list cannot contain an IPv6 address
    return (f"http://{host}:*",)  # any port, because development servers redirect to each other


def form_source(uri: str) -> str:
    """Return the ``form-action`` source of one https or http URI (Content Security Policy Level 3, 2.3.1).

    A source has no query, and a path that ends in a slash includes the paths below it.
    """
    parts = urlsplit(uri)
    if ":" in (parts.hostname or ""):
        return f"{parts.scheme}:"  # a source list cannot contain an IPv6 address
    return f"{parts.scheme}://{parts.netloc}{quote(parts.path, safe=_SOURCE_CHARACTERS)}"


def _split(uri: str) -> SplitResult | None:
    try:
        parts = urlsplit(uri)
        _ = parts.port, parts.hostname  # both raise ValueError if they are malformed
    except ValueError:
        return None
    return parts


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _without_loopback_port(uri: str) -> str | None:
    """Return the URI without its port if it is ``http`` on a loopback IP literal."""
    if not _URI_CHARACTERS.fullmatch(uri):
        return None
    match = re.fullmatch(r"(http://(?:127\.0\.0\.1|\[::1\]))(?::([0-9]{1,5}))?((?:[/?].*)?)", uri)
    if match is None or (match[2] and not 1 <= int(match[2]) <= _LARGEST_PORT):
        return None
    return match[1] + match[3]
