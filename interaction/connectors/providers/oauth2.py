"""Sign-in with any provider that speaks OAuth 2 and has an address that tells who signed in."""

from interaction.connectors.errors import ProviderError
from interaction.connectors.providers import oauth, profiles, rules
from interaction.connectors.providers.base import Config, Endpoints, Field, Granted, Profile, Type


class OAuth2:
    """Any OAuth 2 provider."""

    connector_id = "oauth2"
    name = "OAuth 2"
    type = Type.SOCIAL
    asks_again = False
    fields: tuple[Field, ...] = (
        Field(
            name="authorization_endpoint",
            destination=True,
            rule=rules.https_url,
            description="Where a person's browser is sent",
        ),
        Field(
            name="token_endpoint",
            destination=True,
            rule=rules.https_url,
            description="Where codes are redeemed",
        ),
        Field(
            name="userinfo_endpoint",
            destination=True,
            rule=rules.https_url,
            description="What says who signed in",
        ),
        *oauth.client_fields(),
        oauth.scope_field(""),
        Field(name="id_member", required=False, default="id", description="The person's id in that answer"),
        Field(name="email_member", required=False, default="email", description="The email in that answer"),
        Field(
            name="email_verified_member",
            required=False,
            description="What is true in that answer when the email was verified; unset, none is",
        ),
        Field(name="name_member", required=False, default="name", description="The name in that answer"),
        oauth.display_name_field(),
    )

    def endpoints(self, config: Config) -> Endpoints:
        """Return what was configured."""
        return Endpoints(
            authorization=config["authorization_endpoint"],
            token=config["token_endpoint"],
            userinfo=config["userinfo_endpoint"],
        )

    def test(self, config: Config, redirect_uri: str) -> None:
        """Have our client checked.

        Raises:
            ProviderError: the provider does not accept it.

        """
        oauth.check_client(self.endpoints(config), config, redirect_uri)

    def profile(self, config: Config, endpoints: Endpoints, granted: Granted) -> Profile:
        """Read the members that the configuration names.

        Raises:
            ProviderError: there is no id among them.

        """
        answer = oauth.asked(endpoints.userinfo, granted.access_token)
        if not answer.ok:
            raise ProviderError("the provider does not say who signed in")
        person = answer.json()
        return profiles.made(
            provider=endpoints.userinfo,
            subject=profiles.member(person, config["id_member"]),
            name=profiles.member(person, config["name_member"]),
            email=profiles.member(person, config["email_member"]),
            email_verified=profiles.member(person, config["email_verified_member"]),
        )
