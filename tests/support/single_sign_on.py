"""Administrators who sign in at the provider of the installation."""

from django.conf import settings as configured
from django.test import Client

from config.single_sign_on import Provider
from management.administrators.models import ProviderAccount
from tests.support.cast import PASSWORD, new_secret, query_of
from tests.support.openid import CLIENT
from tests.support.operators import text_of

START, CALLBACK, OWN = "/admin/login/provider/", "/admin/login/provider/callback/", "/admin/single-sign-on/"


def set_provider(settings, provider):
    """Make a provider that of the installation."""
    settings.DEVELOPMENT = True  # the provider answers on loopback
    settings.ADMIN_OIDC = Provider(
        provider.issuer, CLIENT["client_id"], CLIENT["client_secret"], "Example SSO", "own", ("phr",)
    )


def approve(provider, address, sub, **claims):
    """Let an account sign in at the provider, and return the parameters of the callback."""
    asked = query_of(address)
    assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
    assert (asked["scope"], asked["redirect_uri"]) == ("openid", f"{configured.BASE_URL}{CALLBACK}")
    code = new_secret()
    provider.codes[code] = asked | {"person": {"sub": sub} | claims}
    return {"code": code, "state": asked["state"], "iss": provider.issuer}


def link(provider, who, sub):
    """Link an account at the provider to an administrator, and return the administrator's browser."""
    browser = Client()
    browser.force_login(who)
    sent = browser.post(OWN, {"password": PASSWORD})
    assert sent.status_code == 303, text_of(sent)
    answer = browser.get(CALLBACK, approve(provider, sent.headers["Location"], sub))
    assert answer.headers["Location"] == OWN
    return browser


def start(browser=None, next_url=""):
    """Start a sign-in. Return the browser, and the address at the provider to which it is redirected."""
    browser = browser or Client()
    return browser, browser.post(START, {"next": next_url}).headers["Location"]


def sign_in(provider, sub, next_url="", **claims):
    """Sign in with an account at the provider. Return the browser, and the answer to the callback."""
    browser, address = start(next_url=next_url)
    return browser, browser.get(CALLBACK, approve(provider, address, sub, **claims))


def is_signed_in(browser):
    """Return whether a browser is signed in to the operators' site."""
    return browser.get("/admin/tenant/").status_code == 200


def get_linked_accounts(who):
    """Return the issuer and the subject of each linked account of an administrator."""
    return list(ProviderAccount.objects.filter(administrator=who).values_list("issuer", "subject"))
