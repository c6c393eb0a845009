"""Sign-in with Google, an OpenID provider."""

from dataclasses import replace
from typing import Final

from django.utils.translation import gettext_noop

from interaction.connectors.providers import discovery, oauth, profiles
from interaction.connectors.providers.base import Config, Endpoints, Field, Profile, TokenResponse, Type
from interaction.connectors.providers.guide import Guide, WebPage

ISSUER: Final = "https://accounts.google.com"
_OWN_DOMAINS: Final = {"gmail.com", "googlemail.com"}


def build_profile(endpoints: Endpoints, tokens: TokenResponse) -> Profile:
    """Return the profile from the standard claims, whose address is verified only if Google hosts it.

    Google verified any other address once, when the account was created. Since then, the address may have
    passed to another person. ``hd`` names the organization whose domains Google hosts.

    Raises:
        ProviderError: a claim is missing.

    """
    profile = profiles.from_openid(endpoints, tokens)
    organization = tokens.claims.get("hd")
    is_hosted = isinstance(organization, str) and bool(organization)
    is_hosted = is_hosted or profiles.get_domain(profile.email) in _OWN_DOMAINS
    return replace(profile, email_verified=profile.email_verified and is_hosted)


class Google:
    """Google accounts."""

    connector_id = "google"
    name = "Google"
    type = Type.SOCIAL
    can_reauthenticate = False
    fields: tuple[Field, ...] = (*oauth.client_fields(), oauth.scope_field("openid profile email"))
    guide = Guide(
        page="how-to/sign-in-with-google",
        console=WebPage(
            gettext_noop("Google Cloud console"), "https://console.cloud.google.com/auth/clients"
        ),
        documentation=WebPage(
            gettext_noop("OpenID Connect at Google"),
            "https://developers.google.com/identity/openid-connect/openid-connect",
        ),
        steps=(
            gettext_noop(
                "Open **Google Auth Platform** in the Google Cloud console, and choose or create a project."
            ),
            gettext_noop(
                "Under **Branding**, enter the name that users see and an email address for their questions."
            ),
            gettext_noop(
                "Under **Audience**, choose **External** for all Google accounts, or **Internal** for those "
                "of your own organization."
            ),
            gettext_noop("Under **Clients**, choose **Create client** and the type **Web application**."),
            gettext_noop("Under **Authorized redirect URIs**, add `{redirect_uri}`. Then choose **Create**."),
            gettext_noop(
                "Copy the **Client ID** and the **Client secret** into the configuration. Google "
                "shows the secret only now."
            ),
            gettext_noop(
                "For **External**, choose **Publish app** under **Audience**. Until then, only the test "
                "users that are listed there can sign in."
            ),
        ),
    )

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
        """Return the profile of ``build_profile``.

        Raises:
            ProviderError: a claim is missing.

        """
        return build_profile(endpoints, tokens)

    def has_accounts_of(self, config: Config, provider: str) -> bool:
        """Return whether profiles can have this ``provider`` with this configuration."""
        return provider == ISSUER
