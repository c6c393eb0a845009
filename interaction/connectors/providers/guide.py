"""How operators get the values of a provider's configuration."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page of the provider's site."""

    name: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Guide:
    """The steps to take at a provider, the page where to take them, and the provider's documentation.

    ``page`` is the page of Gatehouse's own documentation about it.

    In a step, ``**`` encloses the name of a menu, field or button of the provider, and a backtick what is to
    be typed. ``{redirect_uri}``, ``{origin}`` and ``{host}`` stand for the connector's redirect URI and for
    the origin and the host of this server. Steps and names of pages are marked with ``gettext_noop``.
    """

    steps: tuple[str, ...] = ()
    console: WebPage | None = None
    documentation: WebPage | None = None
    page: str = "reference/connectors"
