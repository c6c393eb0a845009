"""Sign-in with Microsoft Entra ID, which is an OpenID provider for each of its tenants."""

from typing import Final
from uuid import UUID

from interaction.connectors.providers import oauth, profiles, rules
from interaction.connectors.providers.base import Config, Endpoints, Field, Granted, Profile, Type

HOST: Final = "https://login.microsoftonline.com"


class Microsoft:
    """Work, school and personal accounts of Microsoft."""

    connector_id = "microsoft"
    name = "Microsoft"
    type = Type.SOCIAL
    asks_again = True
    fields: tuple[Field, ...] = (
        *oauth.client_fields(),
        Field(
            name="tenant_id",
            required=False,
            destination=True,
            default="common",
            rule=rules.word,
            description="A directory's id or domain; common, organizations or consumers for many",
        ),
        oauth.scope_field("openid profile email"),
    )

    def endpoints(self, config: Config) -> Endpoints:
        """Return the tenant's endpoints.

        ``common`` and its like have no issuer of their own (tokens name the person's own
        tenant), so discovery as the standard has it cannot be used. Nor have domains.
        """
        tenant = f"{HOST}/{config['tenant_id']}"
        return Endpoints(
            authorization=f"{tenant}/oauth2/v2.0/authorize",
            token=f"{tenant}/oauth2/v2.0/token",
            userinfo="https://graph.microsoft.com/oidc/userinfo",
            issuer=f"{HOST}/{_directory(config['tenant_id'])}/v2.0",
            jwks=f"{tenant}/discovery/v2.0/keys",
        )

    def test(self, config: Config, redirect_uri: str) -> None:
        """Have our client checked.

        Raises:
            ProviderError: Microsoft does not accept it.

        """
        oauth.check_client(self.endpoints(config), config, redirect_uri)

    def profile(self, config: Config, endpoints: Endpoints, granted: Granted) -> Profile:
        """Read the claims of the ID token.

        A directory's administrator may write any address into them. Only ``xms_edov``, an
        optional claim, says that the address's domain is the directory's own.

        Raises:
            ProviderError: they are not there.

        """
        claims = granted.claims
        return profiles.made(
            provider=claims["iss"],
            subject=claims["sub"],
            name=claims.get("name"),
            email=claims.get("email"),
            email_verified=claims.get("xms_edov") in (True, "1", "true"),
        )


def _directory(tenant_id: str) -> str:
    try:
        return str(UUID(tenant_id))
    except ValueError:
        return "{tenantid}"
