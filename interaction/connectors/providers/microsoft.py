"""Sign-in with Microsoft Entra ID, an OpenID provider for each of its tenants."""

from dataclasses import replace
from typing import Final
from uuid import UUID

from django.utils.translation import gettext_noop

from interaction.connectors.providers import oauth, profiles, rules
from interaction.connectors.providers.base import Config, Endpoints, Field, Profile, TokenResponse, Type
from interaction.connectors.providers.guide import Guide, WebPage

HOST: Final = "https://login.microsoftonline.com"
# The directory of all personal accounts, and the domains of the mailboxes that Microsoft gives them.
_PERSONAL: Final = "9188040d-6c67-4c5b-b112-36a304b66dad"
_OWN_DOMAINS: Final = {"outlook.com", "hotmail.com", "live.com", "msn.com"}


class Microsoft:
    """Work, school and personal accounts of Microsoft."""

    connector_id = "microsoft"
    name = "Microsoft"
    type = Type.SOCIAL
    can_reauthenticate = True
    fields: tuple[Field, ...] = (
        *oauth.client_fields(),
        Field(
            name="tenant_id",
            required=False,
            destination=True,
            default="common",
            rule=rules.url_safe,
            description=gettext_noop("A directory's ID or domain, or common, organizations or consumers"),
        ),
        oauth.scope_field("openid profile email"),
    )
    guide = Guide(
        console=WebPage(
            gettext_noop("App registrations in Microsoft Entra"),
            "https://entra.microsoft.com/#view/Microsoft_AAD_RegisteredApps/ApplicationsListBlade",
        ),
        documentation=WebPage(
            gettext_noop("Register an application in Microsoft Entra"),
            "https://learn.microsoft.com/en-us/entra/identity-platform/quickstart-register-app",
        ),
        steps=(
            gettext_noop(
                "Open **App registrations** in the Microsoft Entra admin center and choose **New "
                "registration**."
            ),
            gettext_noop(
                "Under **Supported account types**, choose who can sign in. For a single directory, enter "
                "its **Directory (tenant) ID** as **Tenant ID** in the configuration. Otherwise keep "
                "`common`."
            ),
            gettext_noop(
                "Under **Redirect URI**, choose the platform **Web** and enter `{redirect_uri}`. Then choose "
                "**Register**."
            ),
            gettext_noop("Copy the **Application (client) ID** as **Client ID** into the configuration."),
            gettext_noop(
                "Under **Certificates & secrets**, choose **New client secret** and copy its **Value**, not "
                "its **Secret ID**. The secret expires: note the date."
            ),
            gettext_noop(
                "Under **Token configuration**, add the optional claims `email` and `xms_edov` of the ID "
                "token. Without `xms_edov`, no email address from Microsoft counts as verified."
            ),
        ),
    )

    def endpoints(self, config: Config) -> Endpoints:
        """Return the endpoints of the configured directory.

        Standard discovery is not possible: ``common``, ``organizations``, ``consumers`` and domains have no
        issuer. Tokens contain the issuer of the person's directory.
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
        """Check the client credentials.

        Raises:
            ProviderError: Microsoft does not accept them.

        """
        oauth.check_client(self.endpoints(config), config, redirect_uri)

    def profile(self, config: Config, endpoints: Endpoints, tokens: TokenResponse) -> Profile:
        """Return the profile from the claims of the ID token.

        An administrator of a directory can give its users any address. Only the optional claim ``xms_edov``
        asserts that the domain of the address belongs to the directory. Personal accounts have the claim with
        any address, which Microsoft verified once, so of theirs only Microsoft's own domains count.

        Raises:
            ProviderError: a claim is missing.

        """
        claims = tokens.claims
        profile = profiles.build_profile(
            provider=claims["iss"],
            subject=claims["sub"],
            name=claims.get("name"),
            email=claims.get("email"),
            email_verified=claims.get("xms_edov") in (True, "1", "true"),
        )
        is_personal = profile.provider == f"{HOST}/{_PERSONAL}/v2.0"
        is_hosted = not is_personal or profiles.get_domain(profile.email) in _OWN_DOMAINS
        return replace(profile, email_verified=profile.email_verified and is_hosted)

    def has_accounts_of(self, config: Config, provider: str) -> bool:
        """Return whether profiles can have this ``provider`` with this configuration."""
        directory = provider.removeprefix(f"{HOST}/").removesuffix("/v2.0")
        is_personal = directory == _PERSONAL
        if {"consumers": not is_personal, "organizations": is_personal}.get(config["tenant_id"]):
            return False
        return provider == self.endpoints(config).issuer.replace("{tenantid}", directory)


def _directory(tenant_id: str) -> str:
    try:
        return str(UUID(tenant_id))
    except ValueError:
        return "{tenantid}"
