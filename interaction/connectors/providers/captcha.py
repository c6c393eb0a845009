"""CAPTCHA providers. hCaptcha and Turnstile have the same API, ``siteverify``."""

from typing import Any, Final

from django.utils.translation import gettext_noop

from identity.core.refusal_texts import fill
from interaction.connectors.errors import ProviderError
from interaction.connectors.outbound import web
from interaction.connectors.providers import rules
from interaction.connectors.providers.base import Config, Field, Type, Widget
from interaction.connectors.providers.guide import Guide, WebPage

# The error codes of siteverify that mean that the configuration is wrong, not the token.
_CONFIG_ERRORS: Final = {
    "missing-input-secret": gettext_noop("the provider requires a secret_key"),
    "invalid-input-secret": gettext_noop("the provider does not know this secret_key"),
    "sitekey-secret-mismatch": gettext_noop("the site_key does not belong to the secret_key"),
}
_LONGEST_TOKEN: Final = 8192


def _fields(endpoint: str) -> tuple[Field, ...]:
    return (
        Field(
            name="site_key",
            rule=rules.url_safe,
            description=gettext_noop("The public key that pages contain"),
        ),
        Field(
            name="secret_key",
            secret=True,
            rule=rules.ascii_text,
            description=gettext_noop("The secret of that key"),
        ),
        Field(
            name="endpoint",
            required=False,
            destination=True,
            default=endpoint,
            rule=rules.https_url,
            description=gettext_noop("Only if tokens are verified by another server than the provider's"),
        ),
    )


class _SiteVerify:
    """A provider with the API of reCAPTCHA."""

    path = ""

    def is_solved(self, config: Config, token: str, address: str) -> bool:
        """Return whether the provider accepts a token.

        Raises:
            ProviderError: the provider does not respond, or does not accept the secret key.

        """
        if not 0 < len(token) <= _LONGEST_TOKEN:
            return False
        return self._verify(config, token, address)["success"] is True

    def test_secret(self, config: Config) -> None:
        """Check the secret key by verifying a made-up token.

        Raises:
            ProviderError: the provider does not accept the secret key.

        """
        self._verify(config, "a-token-that-never-was", "")

    def _verify(self, config: Config, token: str, address: str) -> dict[str, Any]:
        form = {"secret": config["secret_key"], "response": token}
        if address:
            form["remoteip"] = address
        response = web.post_form(f"{config['endpoint'].rstrip('/')}{self.path}", form)
        result = response.json()
        errors = result.get("error-codes")
        for error in errors if isinstance(errors, list) else ():
            if error in _CONFIG_ERRORS:
                raise ProviderError(_CONFIG_ERRORS[error])
        if not isinstance(result.get("success"), bool):
            raise ProviderError(
                fill(
                    gettext_noop(
                        "HTTP %(status)s from the provider: the endpoint is not a siteverify endpoint"
                    ),
                    status=response.status,
                )
            )
        return result


class HCaptcha(_SiteVerify):
    """hCaptcha (docs.hcaptcha.com)."""

    connector_id = "hcaptcha"
    name = "hCaptcha"
    type = Type.CAPTCHA
    path = "/siteverify"
    fields: tuple[Field, ...] = _fields("https://api.hcaptcha.com")
    widget = Widget(
        "https://js.hcaptcha.com/1/api.js", "h-captcha", ("https://hcaptcha.com", "https://*.hcaptcha.com")
    )
    guide = Guide(
        console=WebPage(gettext_noop("hCaptcha dashboard"), "https://dashboard.hcaptcha.com/"),
        documentation=WebPage("hCaptcha", "https://docs.hcaptcha.com/"),
        steps=(
            gettext_noop("In the hCaptcha dashboard, choose **New Site**, and add the hostname `{host}`."),
            gettext_noop("Copy the **Sitekey** of that site as **Site key**."),
            gettext_noop("Under **Settings**, **Secrets**, generate a secret and copy it as **Secret key**."),
        ),
    )


class Turnstile(_SiteVerify):
    """Cloudflare Turnstile (developers.cloudflare.com/turnstile)."""

    connector_id = "turnstile"
    name = "Cloudflare Turnstile"
    type = Type.CAPTCHA
    path = "/turnstile/v0/siteverify"
    fields: tuple[Field, ...] = _fields("https://challenges.cloudflare.com")
    widget = Widget(
        "https://challenges.cloudflare.com/turnstile/v0/api.js",
        "cf-turnstile",
        ("https://challenges.cloudflare.com",),
    )
    guide = Guide(
        console=WebPage(
            gettext_noop("Turnstile in the Cloudflare dashboard"),
            "https://dash.cloudflare.com/?to=/:account/turnstile",
        ),
        documentation=WebPage(
            gettext_noop("Cloudflare Turnstile"), "https://developers.cloudflare.com/turnstile/get-started/"
        ),
        steps=(
            gettext_noop("In the Cloudflare dashboard, open **Turnstile** and choose **Add widget**."),
            gettext_noop("Add the hostname `{host}`, and keep the mode **Managed**. Then choose **Create**."),
            gettext_noop("Copy the **Site key** and the **Secret key**."),
        ),
    )
