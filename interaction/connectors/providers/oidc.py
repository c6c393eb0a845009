"""Sign-in with any OpenID provider, known by its issuer."""

from interaction.connectors.providers import discovery, oauth, profiles, rules
from interaction.connectors.providers.base import Config, Endpoints, Field, Granted, Profile, Type


class Oidc:
    """Any OpenID provider."""

    connector_id = "oidc"
    name = "OpenID Connect"
    type = Type.SOCIAL
    asks_again = True
    fields: tuple[Field, ...] = (
        Field(
            name="issuer",
            destination=True,
            rule=rules.issuer,
            description="As in https://accounts.example.com",
        ),
        *oauth.client_fields(),
        oauth.scope_field("openid profile email"),
        oauth.display_name_field(),
    )

    def endpoints(self, config: Config) -> Endpoints:
        """Ask the issuer.

        Raises:
            ProviderError: it does not say, or not usably.

        """
        return discovery.fetch(config["issuer"])

    def test(self, config: Config, redirect_uri: str) -> None:
        """Fetch and check the discovery document, then have our client checked.

        Raises:
            ProviderError: one of them is no good.

        """
        oauth.check_client(self.endpoints(config), config, redirect_uri)

    def profile(self, config: Config, endpoints: Endpoints, granted: Granted) -> Profile:
        """Read the standard claims.

        Raises:
            ProviderError: they are not there.

        """
        return profiles.of_openid(endpoints, granted)
