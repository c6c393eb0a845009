"""Link an account of another provider from the account page."""

from tests.support import social
from tests.support.cast import Browser
from tests.support.forms import form
from tests.support.openid import OpenIDProvider


def begin_link(browser: Browser, provider: OpenIDProvider) -> dict[str, str]:
    """Go to the provider from the account page and sign in there; return what one comes back with."""
    page = browser.get("/account/linked")
    gone = browser.post("/account/linked", data=form(page).fields | {"link": "oidc"})
    return provider.approve(social.note_redirect_uri(gone.headers["Location"]), sub="attacker")
