"""social-auth-app-django (Python Social Auth), in a Django project of one file."""

import os
import tempfile
from urllib.parse import urlencode, urlsplit

import django
import jwt
from django.conf import settings
from django.contrib.auth import logout
from django.core.management import call_command
from django.http import JsonResponse
from django.shortcuts import redirect
from django.urls import include, path

ISSUER, ORIGIN = os.environ["ISSUER"], os.environ["ORIGIN"]
CLIENT_ID, CLIENT_SECRET = os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"]

SETTINGS = {
    "DEBUG": True,  # its page of errors says why somebody is refused
    "SECRET_KEY": "signs the cookie",
    "ROOT_URLCONF": __name__,
    "LOGIN_REDIRECT_URL": "/",
    "DEFAULT_AUTO_FIELD": "django.db.models.BigAutoField",
    "DATABASES": {
        "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{tempfile.mkdtemp()}/db.sqlite3"}
    },
    "MIDDLEWARE": [
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
}

# settings
SETTINGS |= {
    "INSTALLED_APPS": [
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "social_django",
    ],
    "AUTHENTICATION_BACKENDS": ["social_core.backends.open_id_connect.OpenIdConnectAuth"],
    "SOCIAL_AUTH_OIDC_OIDC_ENDPOINT": ISSUER,
    "SOCIAL_AUTH_OIDC_KEY": CLIENT_ID,
    "SOCIAL_AUTH_OIDC_SECRET": CLIENT_SECRET,
    "SOCIAL_AUTH_OIDC_JWT_ALGORITHMS": ["ES256"],  # the default is RS256
    "SOCIAL_AUTH_OIDC_USE_PKCE": True,
    "SOCIAL_AUTH_OIDC_SCOPE": ["offline_access"],  # it adds openid, profile and email
}
# end of settings

settings.configure(**SETTINGS)
django.setup()

from social_core.actions import do_auth  # noqa: E402 - it reads the settings
from social_django.utils import load_strategy, psa  # noqa: E402


def account(request):
    return request.user.social_auth.get()


def home(request):
    if not request.user.is_authenticated:
        return JsonResponse({})
    tokens = account(request).extra_data
    claims = jwt.decode(tokens["id_token"], options={"verify_signature": False})  # was checked when it came
    return JsonResponse(claims | tokens)


def userinfo(request):
    backend = account(request).get_backend_instance(load_strategy(request))
    backend.id_token = {"sub": account(request).uid}  # whom the answer has to be about
    return JsonResponse(backend.user_data(account(request).extra_data["access_token"]))


def refresh(request):
    account(request).refresh_token(load_strategy(request))
    return redirect("/")


@psa("social:complete")
def login(request, backend):
    """Begin: its own view does the same for a button only."""
    return do_auth(request.backend)


def sign_out(request):
    hint = account(request).extra_data["id_token"]
    logout(request)
    parameters = {"id_token_hint": hint, "post_logout_redirect_uri": f"{ORIGIN}/"}
    return redirect(f"{ISSUER}/oidc/end-session?{urlencode(parameters)}")


urlpatterns = [
    path("", home),
    path("userinfo", userinfo),
    path("refresh", refresh),
    path("login", login, {"backend": "oidc"}),
    path("logout", sign_out),
    path("social/", include("social_django.urls")),
]

if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    call_command("runserver", f"127.0.0.1:{urlsplit(ORIGIN).port}", "--noreload")
