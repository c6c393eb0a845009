"""Sign-in with Google, which is an OpenID provider."""

from typing import Final

from interaction.connectors.providers import discovery, oauth, profiles
from interaction.connectors.providers.base import Config, Endpoints, Field, Granted, Profile, Type

ISSUER: Final = "https://accounts.google.com"


class Google:
    """Google accounts."""

    connector_id = "google"
    name = "Google"
    type = Type.SOCIAL
    asks_again = False
    fields: tuple[Field, ...] = (*oauth.client_fields(), oauth.scope_field("openid profile email"))

    def endpoints(self, config: Config) -> Endpoints:
        """Ask Google.

        Raises:
            ProviderError: it does not say.

        """
        return discovery.fetch(ISSUER)

    def test(self, config: Config, redirect_uri: str) -> None:
        """Have our client checked.

        Raises:
            ProviderError: Google does not accept it.

        """
        oauth.check_client(self.endpoints(config), config, redirect_uri)

    def profile(self, config: Config, endpoints: Endpoints, granted: Granted) -> Profile:
        """Read the standard claims.

        Raises:
            ProviderError: they are not there.

        """
        return profiles.of_openid(endpoints, granted)
