"""Sign-in with GitHub, which speaks OAuth 2 and has an API that tells who signed in."""

from typing import Final

from interaction.connectors.errors import ProviderError
from interaction.connectors.providers import oauth, profiles, rules
from interaction.connectors.providers.base import Config, Endpoints, Field, Granted, Profile, Type

_PUBLIC: Final = "https://github.com"


class GitHub:
    """GitHub, or a GitHub Enterprise server."""

    connector_id = "github"
    name = "GitHub"
    type = Type.SOCIAL
    asks_again = False
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

    def test(self, config: Config, redirect_uri: str) -> None:
        """Have our client checked.

        Raises:
            ProviderError: GitHub does not accept it.

        """
        oauth.check_client(self.endpoints(config), config, redirect_uri)

    def profile(self, config: Config, endpoints: Endpoints, granted: Granted) -> Profile:
        """Ask GitHub's API. Ids stay for ever; names do not.

        Raises:
            ProviderError: it does not say.

        """
        answer = oauth.asked(endpoints.userinfo, granted.access_token)
        if not answer.ok:
            raise ProviderError("GitHub does not say who signed in")
        person = answer.json()
        email, verified = _primary_email(endpoints, granted)
        return profiles.made(
            provider=config["endpoint"].rstrip("/"),
            subject=person.get("id"),
            name=person.get("name") or person.get("login"),
            email=email,
            email_verified=verified,
            avatar=person.get("avatar_url"),
        )


def _primary_email(endpoints: Endpoints, granted: Granted) -> tuple[object, object]:
    """Return the address that GitHub writes to, and whether it is verified; none without that scope."""
    answer = oauth.asked(f"{endpoints.userinfo}/emails", granted.access_token)
    for listed in answer.json_list() if answer.ok else ():
        if isinstance(listed, dict) and listed.get("primary") is True:
            return listed.get("email"), listed.get("verified")
    return None, False
