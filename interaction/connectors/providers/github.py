"""Sign-in with GitHub, which speaks OAuth 2 and has an API that tells who signed in."""

from typing import Final

from interaction.connectors.providers import oauth, rules
from interaction.connectors.providers.base import Config, Endpoints, Field, Type

_PUBLIC: Final = "https://github.com"


class GitHub:
    """GitHub, or a GitHub Enterprise server."""

    connector_id = "github"
    name = "GitHub"
    type = Type.SOCIAL
    fields: tuple[Field, ...] = (
        *oauth.client_fields(),
        oauth.scope_field("read:user user:email"),
        Field(
            name="endpoint",
            required=False,
            destination=True,
            default=_PUBLIC,
            rule=rules.https_url,
            description="A GitHub Enterprise server, as in https://github.example.com",
        ),
    )

    def endpoints(self, config: Config) -> Endpoints:
        """Return GitHub's endpoints, or those of the server."""
        server = config["endpoint"].rstrip("/")
        return Endpoints(
            authorization=f"{server}/login/oauth/authorize",
            token=f"{server}/login/oauth/access_token",
            userinfo="https://api.github.com/user" if server == _PUBLIC else f"{server}/api/v3/user",
        )

    def test(self, config: Config) -> None:
        """Have our client checked.

        Raises:
            ProviderError: GitHub does not accept it.

        """
        oauth.check_client(self.endpoints(config), config)
