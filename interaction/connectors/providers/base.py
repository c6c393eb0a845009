"""What a provider is: a declared configuration, and either messages that it carries or people it vouches for.

A new provider is one file with one class of this shape, and one line in ``registry``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from interaction.connectors.messages import Message
from interaction.connectors.models import Connector

Type = Connector.Type
Config = Mapping[str, Any]
Rule = Callable[[Any], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One member of a provider's configuration.

    ``destination`` marks what decides where secrets go: when it changes, they have to be
    entered again. ``rule`` returns what is wrong with a value, if anything.
    """

    name: str
    description: str
    type: Literal["string", "integer", "boolean"] = "string"
    required: bool = True
    secret: bool = False
    destination: bool = False
    default: str | int | bool = ""
    choices: tuple[str, ...] = ()
    rule: Rule | None = None

    def schema(self) -> dict[str, Any]:
        """Return what a console needs to draw an input for it."""
        return {
            "name": self.name,
            "type": self.type,
            "required": self.required,
            "secret": self.secret,
            "description": self.description,
            "default": None if self.required else self.default,
            "choices": list(self.choices),
        }


class Provider(Protocol):
    """What every provider declares."""

    connector_id: str
    name: str
    type: Connector.Type
    fields: tuple[Field, ...]


@runtime_checkable
class Sender(Provider, Protocol):
    """Carries messages.

    One that declares ``only_codes = True`` carries codes alone, in a text that the provider knows.
    """

    def send(self, config: Config, message: Message) -> None:
        """Hand a message over; its test is to send one.

        Raises:
            ProviderError: the provider did not take it.

        """


@dataclass(frozen=True, slots=True)
class Widget:
    """What a page shows of a CAPTCHA: a script, an element of this class, and the hosts they talk to."""

    script: str
    css_class: str
    sources: tuple[str, ...]


@runtime_checkable
class CaptchaProvider(Provider, Protocol):
    """Tells people from programs."""

    widget: Widget

    def is_solved(self, config: Config, token: str, address: str) -> bool:
        """Tell whether a token is that of somebody who solved a CAPTCHA, and was not used before.

        Raises:
            ProviderError: the provider does not say, or does not take our secret.

        """

    def test_secret(self, config: Config) -> None:
        """See whether the provider takes our secret.

        Raises:
            ProviderError: it does not.

        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """Where a social provider speaks OAuth. With an ``issuer`` it speaks OpenID Connect.

    ``{tenantid}`` in an issuer stands for what an ID token calls ``tid``. ``names_itself``
    says that answers to the browser carry ``iss`` (RFC 9207).
    """

    authorization: str
    token: str
    userinfo: str = ""
    issuer: str = ""
    jwks: str = ""
    basic_auth: bool = False
    names_itself: bool = False


@dataclass(frozen=True, slots=True)
class Granted:
    """What a provider gave for a code: a token for its own API, and the claims of a verified ID token."""

    access_token: str
    claims: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Whom a provider vouches for.

    ``provider`` and ``subject`` together mean one account for ever, whatever is configured
    here. ``email_verified`` is true only where the provider itself said so.
    """

    provider: str
    subject: str
    name: str = ""
    email: str = ""
    email_verified: bool = False
    avatar: str = ""


@runtime_checkable
class SocialProvider(Provider, Protocol):
    """Vouches for people.

    ``asks_again`` says that people who are signed in there are asked who they are again when a
    request wants that.
    """

    asks_again: bool

    def endpoints(self, config: Config) -> Endpoints:
        """Return where it speaks OAuth, by those fields alone that are a ``destination``.

        Raises:
            ProviderError: it does not say.

        """

    def test(self, config: Config, redirect_uri: str) -> None:
        """See whether people could sign in with it.

        Raises:
            ProviderError: they could not.

        """

    def profile(self, config: Config, endpoints: Endpoints, granted: Granted) -> Profile:
        """Return who signed in there.

        Raises:
            ProviderError: it does not say.

        """
