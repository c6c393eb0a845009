"""Sign-in with GitHub, by OAuth 2 and GitHub's API."""

from typing import Final

from django.utils.translation import gettext_noop

from interaction.connectors.errors import ProviderError
from interaction.connectors.providers import oauth, profiles, rules
from interaction.connectors.providers.base import Config, Endpoints, Field, Profile, TokenResponse, Type
from interaction.connectors.providers.guide import Guide, WebPage

PUBLIC: Final = "https://github.com"


class GitHub:
    """GitHub, or a GitHub Enterprise server."""

    connector_id = "github"
    name = "GitHub"
    type = Type.SOCIAL
    can_reauthenticate = False
    fields: tuple[Field, ...] = (
        *oauth.client_fields(),
        oauth.scope_field("read:user user:email"),
        Field(
            name="endpoint",
            required=False,
            destination=True,
            default=PUBLIC,
            rule=rules.https_url,
            description=gettext_noop("A GitHub Enterprise server, for example https://github.example.com"),
        ),
    )
    guide = Guide(
        console=WebPage(
            gettext_noop("New OAuth app at GitHub"), "https://github.com/settings/applications/new"
        ),
        documentation=WebPage(
            gettext_noop("OAuth apps at GitHub"),
            "https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/creating-an-oauth-app",
        ),
        steps=(
            gettext_noop(
                "Open **New OAuth app** at GitHub. For an app of an organization, open the organization's "
                "**Settings**, **Developer settings**, **OAuth Apps** instead."
            ),
            gettext_noop(
                "As **Application name**, enter the name that users see, and as **Homepage URL** `{origin}`."
            ),
            gettext_noop(
                "As **Authorization callback URL**, enter `{redirect_uri}`. Then choose "
                "**Register application**."
            ),
            gettext_noop("Copy the **Client ID** into the configuration."),
            gettext_noop(
                "Choose **Generate a new client secret** and copy the secret. GitHub shows it only now."
            ),
        ),
    )

    def endpoints(self, config: Config) -> Endpoints:
        """Return the endpoints of github.com or of the GitHub Enterprise server."""
        server = config["endpoint"].rstrip("/")
        return Endpoints(
            authorization=f"{server}/login/oauth/authorize",
            token=f"{server}/login/oauth/access_token",
            userinfo="https://api.github.com/user" if server == PUBLIC else f"{server}/api/v3/user",
        )

    def test(self, config: Config, redirect_uri: str) -> None:
        """Check the client credentials.

        Raises:
            ProviderError: GitHub does not accept them.

        """
        oauth.check_client(self.endpoints(config), config, redirect_uri)

    def profile(self, config: Config, endpoints: Endpoints, tokens: TokenResponse) -> Profile:
        """Return the profile from GitHub's API. The subject is the id, because user names can change.

        Raises:
            ProviderError: the API does not return the user.

        """
        response = oauth.get_with_token(endpoints.userinfo, tokens.access_token)
        if not response.ok:
            raise ProviderError(gettext_noop("GitHub did not return the user who signed in"))
        person = response.json()
        email, verified = _primary_email(endpoints, tokens)
        return profiles.build_profile(
            provider=config["endpoint"].rstrip("/"),
            subject=person.get("id"),
            name=person.get("name") or person.get("login"),
            email=email,
            email_verified=verified,
            avatar=person.get("avatar_url"),
        )

    def has_accounts_of(self, config: Config, provider: str) -> bool:
        """Return whether profiles can have this ``provider`` with this configuration."""
        return bool(provider == config["endpoint"].rstrip("/"))


def _primary_email(endpoints: Endpoints, tokens: TokenResponse) -> tuple[object, object]:
    """Return the primary address and whether it is verified; None without the scope ``user:email``."""
    response = oauth.get_with_token(f"{endpoints.userinfo}/emails", tokens.access_token)
    for item in response.json_list() if response.ok else ():
        if isinstance(item, dict) and item.get("primary") is True:
            return item.get("email"), item.get("verified")
    return None, False
