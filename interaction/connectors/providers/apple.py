"""Sign in with Apple, an OpenID provider with a signed client secret and a posted answer."""

import re
from typing import Final

import orjson
from django.utils.translation import gettext_noop

from interaction.connectors import signed_secret
from interaction.connectors.providers import oauth, profiles, rules
from interaction.connectors.providers.base import Config, Endpoints, Field, Profile, TokenResponse, Type
from interaction.connectors.providers.guide import Guide, WebPage

# Tokens name this issuer. Apple's discovery document, which at times has named another one, is not read.
ISSUER: Final = "https://appleid.apple.com"
_REFUSAL: Final = gettext_noop(
    "the provider does not accept this client_id with this team_id, key_id and private_key, or the redirect "
    "URI is not registered"
)
_TEN: Final = re.compile(r"[A-Z0-9]{10}")
_LONGEST_USER: Final = 4096


def _ten_characters(value: str) -> str | None:
    return None if _TEN.fullmatch(value) else gettext_noop("must be ten capital letters and digits")


def _private_key(value: str) -> str | None:
    try:
        signed_secret.check(value)
    except signed_secret.BadKey as error:
        return str(error)
    return None


class Apple:
    """Sign in with Apple."""

    connector_id = "apple"
    name = "Apple"
    type = Type.SOCIAL
    can_reauthenticate = False
    fields: tuple[Field, ...] = (
        Field(
            name="client_id",
            rule=rules.url_safe,
            description=gettext_noop("The identifier of the Services ID, for example com.example.web"),
        ),
        Field(
            name="team_id",
            rule=_ten_characters,
            description=gettext_noop("The Team ID of the developer account"),
        ),
        Field(name="key_id", rule=_ten_characters, description=gettext_noop("The Key ID of the private key")),
        Field(
            name="private_key",
            secret=True,
            multiline=True,
            rule=_private_key,
            description=gettext_noop("The content of the .p8 file of a key for Sign in with Apple"),
        ),
        oauth.scope_field("name email"),
    )
    guide = Guide(
        page="how-to/sign-in-with-apple",
        console=WebPage(
            gettext_noop("Identifiers at Apple"),
            "https://developer.apple.com/account/resources/identifiers/list",
        ),
        documentation=WebPage(
            gettext_noop("Configure Sign in with Apple for the web"),
            "https://developer.apple.com/help/account/capabilities/configure-sign-in-with-apple-for-the-web/",
        ),
        steps=(
            gettext_noop(
                "Under **Certificates, Identifiers & Profiles**, **Identifiers**, register an **App ID** "
                "with the capability **Sign in with Apple**, or edit the one of your app."
            ),
            gettext_noop(
                "Register a **Services ID**. Users see its description. Copy its identifier as **Client ID** "
                "into the configuration."
            ),
            gettext_noop(
                "Open the Services ID, enable **Sign in with Apple** and choose **Configure**. Choose the "
                "App ID, enter `{host}` as domain and `{redirect_uri}` as return URL. Apple requires https."
            ),
            gettext_noop(
                "Under **Keys**, register a key with **Sign in with Apple** for the App ID, and download it. "
                "Apple offers the file only once. Copy its content as **Private key** and its **Key ID**."
            ),
            gettext_noop("Copy the **Team ID** from the membership details of the account."),
            gettext_noop(
                "Under **Services**, **Sign in with Apple for Email Communication**, register the domain of "
                "your sender. Without it, users who hide their address get no emails."
            ),
        ),
    )

    def endpoints(self, config: Config) -> Endpoints:
        """Return Apple's endpoints. Apple requires ``form_post`` if scopes are requested."""
        return Endpoints(
            authorization=f"{ISSUER}/auth/authorize",
            token=f"{ISSUER}/auth/token",
            issuer=ISSUER,
            jwks=f"{ISSUER}/auth/keys",
            form_post=True,
            build_client_secret=_build_client_secret,
        )

    def test(self, config: Config, redirect_uri: str) -> None:
        """Check the client credentials.

        Raises:
            ProviderError: Apple does not accept them.

        """
        oauth.check_client(self.endpoints(config), config, redirect_uri, refusal=_REFUSAL)

    def read_name(self, user: str) -> str:
        """Return the name in the member ``user``, which Apple posts at the first sign-in only, unsigned."""
        try:
            document = orjson.loads(user) if len(user) <= _LONGEST_USER else None
        except orjson.JSONDecodeError:
            return ""
        parts = profiles.get_member(document, "name") if isinstance(document, dict) else None
        if not isinstance(parts, dict):
            return ""
        names = (profiles.clean_name(parts.get(name)) for name in ("firstName", "lastName"))
        return profiles.clean_name(" ".join(filter(None, names)))

    def profile(self, config: Config, endpoints: Endpoints, tokens: TokenResponse) -> Profile:
        """Return the profile from the claims of the ID token, which never has a name.

        The address may be one of Apple's relay, which forwards messages to the user.

        Raises:
            ProviderError: a claim is missing.

        """
        claims = tokens.claims
        return profiles.build_profile(
            provider=ISSUER,
            subject=claims["sub"],
            email=claims.get("email"),
            email_verified=claims.get("email_verified") in (True, "true"),
        )

    def has_accounts_of(self, config: Config, provider: str) -> bool:
        """Return whether profiles can have this ``provider`` with this configuration."""
        return provider == ISSUER


def _build_client_secret(config: Config) -> str:
    return signed_secret.sign(
        config["private_key"],
        key_id=config["key_id"],
        issuer=config["team_id"],
        subject=config["client_id"],
        audience=ISSUER,
    )
