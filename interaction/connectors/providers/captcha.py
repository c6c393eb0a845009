"""CAPTCHA providers. hCaptcha and Turnstile speak the same: a token is posted to ``siteverify``."""

from typing import Any, Final

from interaction.connectors.errors import ProviderError
from interaction.connectors.outbound import web
from interaction.connectors.providers import rules
from interaction.connectors.providers.base import Config, Field, Type, Widget

# What siteverify says of our part, and not of the token.
_OUR_FAULT: Final = {
    "missing-input-secret": "the provider asks for a secret_key",
    "invalid-input-secret": "the provider does not know this secret_key",
    "sitekey-secret-mismatch": "this site_key does not belong to this secret_key",
}
_LONGEST_TOKEN: Final = 8192


def _fields(endpoint: str) -> tuple[Field, ...]:
    return (
        Field(name="site_key", rule=rules.word, description="The public key, which pages show"),
        Field(name="secret_key", secret=True, rule=rules.ascii_text, description="The secret of that key"),
        Field(
            name="endpoint",
            required=False,
            destination=True,
            default=endpoint,
            rule=rules.https_url,
            description="Where tokens are checked, if not at the provider itself",
        ),
    )


class _SiteVerify:
    """A provider that is asked as reCAPTCHA was."""

    path = ""

    def is_solved(self, config: Config, token: str, address: str) -> bool:
        """Ask whether a token is good.

        Raises:
            ProviderError: the provider does not say, or does not take our secret.

        """
        if not 0 < len(token) <= _LONGEST_TOKEN:
            return False
        said = self._asked(config, token, address)
        return said["success"] is True

    def test_secret(self, config: Config) -> None:
        """Have a token checked that never was.

        Raises:
            ProviderError: the provider does not take our secret.

        """
        self._asked(config, "a-token-that-never-was", "")

    def _asked(self, config: Config, token: str, address: str) -> dict[str, Any]:
        form = {"secret": config["secret_key"], "response": token}
        if address:
            form["remoteip"] = address
        answer = web.post_form(f"{config['endpoint'].rstrip('/')}{self.path}", form)
        said = answer.json()
        errors = said.get("error-codes")
        for error in errors if isinstance(errors, list) else ():
            if error in _OUR_FAULT:
                raise ProviderError(_OUR_FAULT[error])
        if not isinstance(said.get("success"), bool):
            raise ProviderError(f"the provider answered with HTTP {answer.status}, as no siteverify would")
        return said


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
