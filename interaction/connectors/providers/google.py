"""Sign-in with Google, an OpenID provider."""

from typing import Final

from interaction.connectors.providers import discovery, oauth, profiles
from interaction.connectors.providers.base import Config, Endpoints, Field, Profile, TokenResponse, Type

ISSUER: Final = "https://accounts.google.com"


class Google:
    """Google accounts."""

    connector_id = "google"
    name = "Google"
    type = Type.SOCIAL
    can_reauthenticate = False
    fields: tuple[Field, ...] = (*oauth.client_fields(), oauth.scope_field("openid profile email"))

    def endpoints(self, config: Config) -> Endpoints:
        """Return the endpoints from Google's discovery document.

        Raises:
            ProviderError: the document cannot be fetched.

        """
        return discovery.fetch(ISSUER)

    def test(self, config: Config, redirect_uri: str) -> None:
        """Check the client credentials.

        Raises:
            ProviderError: Google does not accept them.

        """
        oauth.check_client(self.endpoints(config), config, redirect_uri)

    def profile(self, config: Config, endpoints: Endpoints, tokens: TokenResponse) -> Profile:
        """Return the profile from the standard claims.

        Raises:
            ProviderError: a claim is missing.

        """
        return profiles.from_openid(endpoints, tokens)
