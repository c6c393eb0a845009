"""mozilla-django-oidc, in a Django project of one file."""

import os
import tempfile
from urllib.parse import urlencode, urlsplit

import django
import jwt
from django.conf import settings
from django.core.management import call_command
from django.http import JsonResponse
from django.shortcuts import redirect
from django.urls import include, path
from django.views.generic import RedirectView

ISSUER, ORIGIN = os.environ["ISSUER"], os.environ["ORIGIN"]
CLIENT_ID, CLIENT_SECRET = os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"]

SETTINGS = {
    "DEBUG": True,  # its page of errors says why somebody is refused
    "SECRET_KEY": "signs the cookie",
    "LOGIN_REDIRECT_URL": "/",
    "LOGOUT_REDIRECT_URL": "/",
    "ALLOW_LOGOUT_GET_METHOD": True,  # the browser of the test presses no button
    "OIDC_STORE_ACCESS_TOKEN": True,  # for the test to look at
    "ROOT_URLCONF": __name__,
    "DATABASES": {
        "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{tempfile.mkdtemp()}/db.sqlite3"}
    },
}


def provider_logout(request):
    """Build the address that ends the provider's session."""
    hint = request.session["oidc_id_token"]
    parameters = {"id_token_hint": hint, "post_logout_redirect_uri": f"{ORIGIN}/"}
    return f"{ISSUER}/oidc/end-session?{urlencode(parameters)}"


# settings
SETTINGS |= {
    "INSTALLED_APPS": [
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "mozilla_django_oidc",
    ],
    "MIDDLEWARE": [
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "mozilla_django_oidc.middleware.SessionRefresh",
    ],
    "AUTHENTICATION_BACKENDS": ["mozilla_django_oidc.auth.OIDCAuthenticationBackend"],
    "OIDC_RP_CLIENT_ID": CLIENT_ID,
    "OIDC_RP_CLIENT_SECRET": CLIENT_SECRET,
    "OIDC_RP_SIGN_ALGO": "ES256",  # the default is HS256
    "OIDC_RP_SCOPES": "openid profile email",  # people without an email address are not let in
    "OIDC_USE_PKCE": True,
    "OIDC_OP_AUTHORIZATION_ENDPOINT": f"{ISSUER}/oidc/authorize",
    "OIDC_OP_TOKEN_ENDPOINT": f"{ISSUER}/oidc/token",
    "OIDC_OP_USER_ENDPOINT": f"{ISSUER}/oidc/userinfo",
    "OIDC_OP_JWKS_ENDPOINT": f"{ISSUER}/.well-known/jwks.json",
    "OIDC_OP_LOGOUT_URL_METHOD": f"{__name__}.provider_logout",
    "OIDC_STORE_ID_TOKEN": True,  # to sign out with
}
# end of settings

settings.configure(**SETTINGS)
django.setup()

from mozilla_django_oidc.auth import OIDCAuthenticationBackend  # noqa: E402 - it reads the settings


def home(request):
    if not request.user.is_authenticated:
        return JsonResponse({})
    tokens = {name: request.session[f"oidc_{name}"] for name in ("access_token", "id_token")}
    claims = jwt.decode(tokens["id_token"], options={"verify_signature": False})  # was checked when it came
    return JsonResponse(claims | tokens)


def userinfo(request):
    return JsonResponse(
        OIDCAuthenticationBackend().get_userinfo(request.session["oidc_access_token"], None, None)
    )


def refresh(request):
    """Let the middleware believe that time has passed: it signs in again without a page (prompt=none)."""
    request.session["oidc_id_token_expiration"] = 0
    return redirect("/")


urlpatterns = [
    path("", home),
    path("userinfo", userinfo),
    path("refresh", refresh),
    path("login", RedirectView.as_view(url="/oidc/authenticate/")),
    path("logout", RedirectView.as_view(url="/oidc/logout/")),
    path("oidc/", include("mozilla_django_oidc.urls")),
]

if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    call_command("runserver", f"127.0.0.1:{urlsplit(ORIGIN).port}", "--noreload")
