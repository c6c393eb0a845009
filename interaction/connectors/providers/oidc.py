"""Sign-in with any OpenID provider, configured by its issuer."""

from django.utils.translation import gettext_noop

from interaction.connectors.providers import discovery, google, oauth, profiles, rules
from interaction.connectors.providers.base import Config, Endpoints, Field, Profile, TokenResponse, Type
from interaction.connectors.providers.guide import Guide, WebPage


class Oidc:
    """Any OpenID provider."""

    connector_id = "oidc"
    name = "OpenID Connect"
    type = Type.SOCIAL
    can_reauthenticate = True
    fields: tuple[Field, ...] = (
        Field(
            name="issuer",
            destination=True,
            rule=rules.issuer,
            description=gettext_noop("For example https://accounts.example.com"),
        ),
        *oauth.client_fields(),
        oauth.scope_field("openid profile email"),
        oauth.display_name_field(),
    )
    guide = Guide(
        documentation=WebPage(
            gettext_noop("OpenID Connect Discovery"),
            "https://openid.net/specs/openid-connect-discovery-1_0.html",
        ),
        steps=(
            gettext_noop(
                "At the provider, register a web application, which some providers call a client or a "
                "relying party. It uses the authorization code flow and has a client secret."
            ),
            gettext_noop("Register the redirect URI `{redirect_uri}`."),
            gettext_noop(
                "Copy the provider's **Issuer**: the address before `/.well-known/openid-configuration`, "
                "with a final slash only if the provider's own has one."
            ),
            gettext_noop("Copy the **Client ID** and the **Client secret**."),
            gettext_noop(
                "Let the provider release the claims of the scopes `openid`, `profile` and `email`."
            ),
        ),
    )

    def endpoints(self, config: Config) -> Endpoints:
        """Return the endpoints from the issuer's discovery document.

        Raises:
            ProviderError: the document cannot be fetched, or is unusable.

        """
        return discovery.fetch(config["issuer"])

    def test(self, config: Config, redirect_uri: str) -> None:
        """Check the discovery document, then the client credentials.

        Raises:
            ProviderError: the document is unusable, or the credentials are refused.

        """
        oauth.check_client(self.endpoints(config), config, redirect_uri)

    def profile(self, config: Config, endpoints: Endpoints, tokens: TokenResponse) -> Profile:
        """Return the profile from the standard claims.

        Raises:
            ProviderError: a claim is missing.

        """
        if config["issuer"] == google.ISSUER:
            return google.build_profile(endpoints, tokens)
        return profiles.from_openid(endpoints, tokens)

    def has_accounts_of(self, config: Config, provider: str) -> bool:
        """Return whether profiles can have this ``provider`` with this configuration."""
        return bool(provider == config["issuer"])
