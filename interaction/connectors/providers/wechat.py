"""Sign-in with WeChat on websites: a QR code, and an interface that only resembles OAuth 2."""

import secrets
from typing import Any, Final
from urllib.parse import urlencode

from django.utils.translation import gettext_noop

from interaction.connectors.errors import ProviderError, Reason, describe_refusal, describe_status
from interaction.connectors.outbound import web
from interaction.connectors.providers import profiles, rules
from interaction.connectors.providers.base import (
    AccountName,
    Config,
    Endpoints,
    Field,
    Profile,
    TokenResponse,
    Type,
)
from interaction.connectors.providers.guide import Guide, WebPage

PLATFORM: Final = "https://open.weixin.qq.com"
API: Final = "https://api.weixin.qq.com"

# WeChat answers 200 to refused requests too. The code decides.
_CODE_ERRORS: Final = {40029, 40163, 41008, 42003}
_REASONS: Final = {
    -1: gettext_noop("it is busy"),
    40001: gettext_noop("the app_secret is wrong"),
    40013: gettext_noop("the app_id is unknown"),
    40125: gettext_noop("the app_secret is wrong"),
    40164: gettext_noop("this server's IP address is not on the list of the application"),
    41002: gettext_noop("the app_id is missing"),
    41004: gettext_noop("the app_secret is missing"),
    45009: gettext_noop("the application has reached its limit of requests"),
    45011: gettext_noop("it received too many requests"),
    48001: gettext_noop("the application may not use sign-in on websites"),
    50002: gettext_noop("the application is blocked"),
}


class WeChat:
    """Accounts of WeChat (Weixin), for a website application of the WeChat Open Platform."""

    connector_id = "wechat"
    name = "WeChat"
    type = Type.SOCIAL
    can_reauthenticate = False
    fields: tuple[Field, ...] = (
        Field(
            name="app_id",
            rule=rules.url_safe,
            description=gettext_noop("The AppID of the website application"),
        ),
        Field(
            name="app_secret", secret=True, rule=rules.ascii_text, description=gettext_noop("Its AppSecret")
        ),
    )
    guide = Guide(
        console=WebPage(gettext_noop("WeChat Open Platform"), "https://open.weixin.qq.com/"),
        documentation=WebPage(
            gettext_noop("WeChat sign-in for website applications"),
            "https://developers.weixin.qq.com/doc/oplatform/en/Website_App/WeChat_Login/Wechat_Login.html",
        ),
        steps=(
            gettext_noop("Register a developer account at the WeChat Open Platform and have it verified."),
            gettext_noop(
                "Under **Management Center**, **Website Application**, create an application and wait until "
                "WeChat has approved it."
            ),
            gettext_noop(
                "As its authorization callback domain, enter `{host}`, without `https://` and without a path."
            ),
            gettext_noop(
                "Copy **AppID** and **AppSecret** into the configuration. The redirect URI is "
                "`{redirect_uri}`."
            ),
            gettext_noop(
                "WeChat compares only the domain of the redirect URI. Use it only if you trust the providers "
                "of all other connectors of this server, in every tenant."
            ),
            gettext_noop(
                "If the application has a list of IP addresses that may use the interface, add the address "
                "of this server."
            ),
        ),
    )

    def endpoints(self, config: Config) -> Endpoints:
        """Return WeChat's endpoints."""
        return Endpoints(
            authorization=f"{PLATFORM}/connect/qrconnect",
            token=f"{API}/sns/oauth2/access_token",
        )

    def authorization_url(self, config: Config, *, state: str, redirect_uri: str) -> str:
        """Return the URL of the page with the QR code. WeChat compares its parameters and their order."""
        query = {
            "appid": config["app_id"],
            "redirect_uri": redirect_uri,
            "response_type": "code",
            "scope": "snsapi_login",
            "state": state,
        }
        return f"{self.endpoints(config).authorization}?{urlencode(query)}#wechat_redirect"

    def redeem(self, config: Config, code: str) -> TokenResponse:
        """Return the access token for a code, and the account's names as claims.

        Raises:
            ProviderError: WeChat refuses the code or the application.

        """
        answer = self._exchange(config, code)
        if _is_code_refused(answer):
            raise ProviderError(gettext_noop("the provider does not accept the code"), Reason.CODE_REFUSED)
        _check(answer)
        token = answer.get("access_token")
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise ProviderError(gettext_noop("the provider's token endpoint returned no access token"))
        if not isinstance(answer.get("openid"), str):
            raise ProviderError(gettext_noop("WeChat did not return the user who signed in"))
        return TokenResponse(token, {name: answer.get(name) for name in ("openid", "unionid")})

    def test(self, config: Config, redirect_uri: str) -> None:
        """Check the AppID and the AppSecret by redeeming a made-up code.

        Raises:
            ProviderError: WeChat does not accept them.

        """
        answer = self._exchange(config, secrets.token_urlsafe(24))
        if _is_code_refused(answer):
            return
        _check(answer)
        raise ProviderError(gettext_noop("the answer is not one of WeChat"))

    def profile(self, config: Config, endpoints: Endpoints, tokens: TokenResponse) -> Profile:
        """Return the profile of the account, which never has an email address.

        The subject is the ``unionid``, which is the same for all applications of one company, or else the
        ``openid``, which belongs to one application. The ``openid`` is also the alias: see decision X17.

        Raises:
            ProviderError: WeChat does not return the account, or returns another one.

        """
        openid = tokens.claims["openid"]
        query = urlencode({"access_token": tokens.access_token, "openid": openid})
        response = web.get(f"{API}/sns/userinfo?{query}")
        person = response.json() if response.ok else {}
        _check(person)
        if person.get("openid") != openid:
            raise ProviderError(gettext_noop("WeChat did not return the user who signed in"))
        unionid = tokens.claims.get("unionid") or person.get("unionid")
        own = f"{PLATFORM}/{config['app_id']}"
        profile = profiles.build_profile(
            provider=PLATFORM if unionid else own,
            subject=unionid or openid,
            name=person.get("nickname"),
            avatar=person.get("headimgurl"),
        )
        return profiles.with_alias(profile, AccountName(own, openid))

    def has_accounts_of(self, config: Config, provider: str) -> bool:
        """Return whether profiles can have this ``provider`` with this configuration."""
        return provider in {PLATFORM, f"{PLATFORM}/{config['app_id']}"}

    def _exchange(self, config: Config, code: str) -> dict[str, Any]:
        query = {
            "appid": config["app_id"],
            "secret": config["app_secret"],
            "code": code,
            "grant_type": "authorization_code",
        }
        response = web.get(f"{self.endpoints(config).token}?{urlencode(query)}")
        if not response.ok:
            raise ProviderError(describe_status("WeChat", response.status))
        return response.json()


def _is_code_refused(answer: dict[str, Any]) -> bool:
    code = answer.get("errcode")
    return isinstance(code, int) and code in _CODE_ERRORS


def _check(answer: dict[str, Any]) -> None:
    """Check that an answer is not a refusal.

    Raises:
        ProviderError: the answer is a refusal.

    """
    code = answer.get("errcode", 0)
    if code == 0:
        return
    reason = _REASONS.get(code) if isinstance(code, int) else None
    raise ProviderError(
        describe_refusal("WeChat", reason, code) if reason else gettext_noop("WeChat refused the request")
    )
