"""Sign-in with any OAuth 2 provider that has a userinfo endpoint."""

from django.utils.translation import gettext_noop

from interaction.connectors.errors import ProviderError
from interaction.connectors.providers import oauth, profiles, rules
from interaction.connectors.providers.base import Config, Endpoints, Field, Profile, TokenResponse, Type
from interaction.connectors.providers.guide import Guide, WebPage


class OAuth2:
    """Any OAuth 2 provider."""

    connector_id = "oauth2"
    name = "OAuth 2"
    type = Type.SOCIAL
    can_reauthenticate = False
    fields: tuple[Field, ...] = (
        Field(
            name="authorization_endpoint",
            destination=True,
            rule=rules.https_url,
            description=gettext_noop("The URL to which browsers are redirected"),
        ),
        Field(
            name="token_endpoint",
            destination=True,
            rule=rules.https_url,
            description=gettext_noop("The URL that exchanges codes for tokens"),
        ),
        Field(
            name="userinfo_endpoint",
            destination=True,
            rule=rules.https_url,
            description=gettext_noop("The URL that returns the user as a JSON object"),
        ),
        *oauth.client_fields(),
        oauth.scope_field(""),
        Field(
            name="id_member",
            required=False,
            rule=rules.name,
            default="id",
            description=gettext_noop("The member with the user's ID"),
        ),
        Field(
            name="email_member",
            required=False,
            rule=rules.name,
            default="email",
            description=gettext_noop("The member with the email"),
        ),
        Field(
            name="email_verified_member",
            required=False,
            rule=rules.name,
            description=gettext_noop(
                "The member that is true for a verified email; without one, no email is verified"
            ),
        ),
        Field(
            name="name_member",
            required=False,
            rule=rules.name,
            default="name",
            description=gettext_noop("The member with the name"),
        ),
        oauth.display_name_field(),
    )
    guide = Guide(
        documentation=WebPage("OAuth 2.0", "https://oauth.net/2/grant-types/authorization-code/"),
        steps=(
            gettext_noop(
                "Use this kind of connector only for a provider without OpenID Connect. The provider needs "
                "an address that returns the user as a JSON object."
            ),
            gettext_noop(
                "At the provider, register a web application for the authorization code flow, with a client "
                "secret."
            ),
            gettext_noop("Register the redirect URI `{redirect_uri}`."),
            gettext_noop(
                "Copy the **Client ID** and the **Client secret**, and from the provider's documentation the "
                "addresses of the authorization, token and userinfo endpoints."
            ),
            gettext_noop(
                "Enter the names of the members that have the user's ID, email and name. A dot leads into "
                "nested objects, as in `data.id`."
            ),
        ),
    )

    def endpoints(self, config: Config) -> Endpoints:
        """Return the configured endpoints."""
        return Endpoints(
            authorization=config["authorization_endpoint"],
            token=config["token_endpoint"],
            userinfo=config["userinfo_endpoint"],
        )

    def test(self, config: Config, redirect_uri: str) -> None:
        """Check the client credentials.

        Raises:
            ProviderError: the provider does not accept them.

        """
        oauth.check_client(self.endpoints(config), config, redirect_uri)

    def profile(self, config: Config, endpoints: Endpoints, tokens: TokenResponse) -> Profile:
        """Return the profile from the members that the configuration names.

        Raises:
            ProviderError: the user's id is missing.

        """
        response = oauth.get_with_token(endpoints.userinfo, tokens.access_token)
        if not response.ok:
            raise ProviderError(gettext_noop("the provider did not return the user who signed in"))
        person = response.json()
        return profiles.build_profile(
            provider=endpoints.userinfo,
            subject=profiles.get_member(person, config["id_member"]),
            name=profiles.get_member(person, config["name_member"]),
            email=profiles.get_member(person, config["email_member"]),
            email_verified=profiles.get_member(person, config["email_verified_member"]),
        )

    def has_accounts_of(self, config: Config, provider: str) -> bool:
        """Return whether profiles can have this ``provider`` with this configuration."""
        return bool(provider == config["userinfo_endpoint"])
