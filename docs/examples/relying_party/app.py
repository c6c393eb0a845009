"""A small web application that signs its users in with OpenID Connect.

Read it from top to bottom: registering the provider, sending the browser there
(`login`), checking what comes back (`callback`), using and refreshing the tokens,
signing out. The protocol is Authlib's work; what is left to an application is here.
"""

import json
import logging
import secrets
from http import HTTPStatus
from typing import Any

import api
import explain
import requests
import settings as environment
from authlib.integrations.flask_client import OAuth, OAuthError
from explain import Problem
from flask import Flask, flash, redirect, render_template, request, session, url_for
from joserfc.errors import JoseError
from requests import RequestException
from requests import Response as ApiResponse
from sign_ins import Generation, SignIn, SignIns
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response

logger = logging.getLogger(__name__)
settings = environment.load()
sign_ins = SignIns()

app = Flask(__name__)
app.config.update(
    SECRET_KEY=secrets.token_bytes(32),  # a restart forgets all sign-ins anyway
    SESSION_COOKIE_NAME="demo_session",
    SESSION_COOKIE_HTTPONLY=True,
    SESSION_COOKIE_SAMESITE="Lax",
    SESSION_COOKIE_SECURE=settings.is_secure,
)
app.jinja_env.globals.update(explain=explain, settings=settings)

# Authlib reads the addresses of all endpoints from the provider's metadata, when first needed.
provider = OAuth(app).register(
    name="provider",
    server_metadata_url=settings.metadata_url,
    client_id=settings.client_id,
    client_secret=settings.client_secret,
    client_kwargs={
        "scope": "openid profile email phone offline_access",
        "code_challenge_method": "S256",  # PKCE: a stolen code is worth nothing
        "default_timeout": 10,
    },
)


class ProblemError(Exception):
    """Stop, and show a page that says what happened."""

    def __init__(self, problem: Problem, details: str = "") -> None:
        """Remember the page to show and the provider's own words, if it gave any."""
        super().__init__(f"{problem.title}. {details}")
        self.problem = problem
        self.details = details


# --- Signing in -----------------------------------------------------------------------------


@app.get("/")
def home() -> str | Response:
    """Show who is signed in, or the button to sign in."""
    if "state" in request.args:
        return _welcome_back()
    sign_in = _current_sign_in()
    if sign_in is None:
        return render_template("home.html")
    tokens = sign_in.current.tokens
    return render_template(
        "signed_in.html",
        sign_in=sign_in,
        claims=sign_in.current.claims,
        id_token=explain.token(tokens["id_token"]),
        access_token=explain.token(tokens["access_token"]),
        refresh_token=explain.token(tokens.get("refresh_token", "")),
    )


@app.get("/login")
def login() -> Response:
    """Send the browser to the provider.

    Authlib makes up `state`, `nonce` and the PKCE verifier and keeps them in the session.
    """
    _load_metadata()
    answer: Response = provider.authorize_redirect(settings.redirect_uri)
    return answer


@app.post("/step-up")
def step_up() -> Response:
    """Send the browser to the provider again, to prove a second factor.

    The user stays signed in there, and is asked only for what is missing.
    """
    _load_metadata()
    session["is_stepping_up"] = True
    answer: Response = provider.authorize_redirect(settings.redirect_uri, acr_values=api.ACR_VALUES[0])
    answer.status_code = HTTPStatus.SEE_OTHER
    return answer


@app.get("/callback")
def callback() -> Response:
    """Take the provider's answer: check it, redeem the code, remember who signed in."""
    metadata = _load_metadata()
    _check_state()
    _check_sender(metadata)
    # Raises if the answer is an error. Otherwise redeems the code and verifies the ID token.
    tokens = provider.authorize_access_token(claims_options=_expected_claims())
    claims = tokens.pop("userinfo", None)
    if not claims:
        raise ProblemError(explain.UNTRUSTED_TOKEN, "There was no ID token.")
    sign_in = SignIn(Generation(number=1, tokens=tokens, claims=dict(claims)))
    _fetch_userinfo(sign_in)
    sign_ins.remove(session.pop("sign_in", ""))
    session["sign_in"] = sign_ins.add(sign_in)
    if session.pop("is_stepping_up", False):
        flash(explain.step_up(sign_in.current.claims, api.ACR_VALUES))
    if session.pop("is_transferring", False):
        answer = _call_api(sign_in)
        _report(answer)  # asked once: a provider without second factors changes nothing
    return redirect(url_for("home"), HTTPStatus.SEE_OTHER)


def _load_metadata() -> dict[str, Any]:
    """Return what the provider says about itself; it must be the provider we asked for."""
    metadata: dict[str, Any] = provider.load_server_metadata()
    issuer = metadata.get("issuer")
    if issuer != settings.issuer:
        provider.server_metadata.clear()  # ask again next time
        details = f"It says {issuer}, DEMO_ISSUER says {settings.issuer}."
        raise ProblemError(explain.PROVIDER_MISCONFIGURED, details)
    return metadata


def _check_state() -> None:
    """Refuse an answer, be it an error, to a question this browser never asked.

    Authlib checks `state` of a code, but reports errors first: anyone could then
    send our users to a page here that bears a text of theirs.
    """
    state = request.args.get("state")
    if not provider.framework.get_state_data(session, state):
        raise ProblemError(explain.SIGN_IN_EXPIRED)


def _check_sender(metadata: dict[str, Any]) -> None:
    """Refuse an answer that another provider gave (RFC 9207)."""
    promised = metadata.get("authorization_response_iss_parameter_supported", False)
    issuer = request.args.get("iss")
    if issuer != settings.issuer and (promised or issuer is not None):
        raise ProblemError(explain.WRONG_SENDER)


def _expected_claims() -> dict[str, dict[str, Any]]:
    """Say what an ID token must contain; Authlib checks time, nonce and at_hash besides."""
    return {
        "iss": {"essential": True, "value": settings.issuer},
        "aud": {"essential": True, "value": settings.client_id},
    }


# --- Using the tokens -----------------------------------------------------------------------


@app.post("/userinfo")
def userinfo() -> Response:
    """Ask the provider about the user once more."""
    sign_in = _current_sign_in()
    if sign_in is not None:
        _fetch_userinfo(sign_in)
    return redirect(url_for("home", _anchor="userinfo"), HTTPStatus.SEE_OTHER)


@app.post("/transfer")
def transfer() -> Response:
    """Call an API. If it asks for a stronger sign-in, send the user there, and call it again afterwards."""
    sign_in = _current_sign_in()
    if sign_in is None:
        return redirect(url_for("home"), HTTPStatus.SEE_OTHER)
    answer = _call_api(sign_in)
    wanted = api.read_challenge(answer.headers.get("WWW-Authenticate", ""))
    if not wanted:
        _report(answer)
        return redirect(url_for("home"), HTTPStatus.SEE_OTHER)
    session["is_transferring"] = True
    response: Response = provider.authorize_redirect(settings.redirect_uri, **wanted)
    response.status_code = HTTPStatus.SEE_OTHER
    return response


def _call_api(sign_in: SignIn) -> ApiResponse:
    bearer = f"Bearer {sign_in.current.tokens['access_token']}"
    return requests.get(f"{settings.base_url}/api/transfer", headers={"Authorization": bearer}, timeout=10)


def _report(answer: ApiResponse) -> None:
    """Show on the next page what the API answered."""
    challenge = answer.headers.get("WWW-Authenticate", "")
    if answer.ok:
        flash(f"The API accepted the sign-in: its acr is {answer.json()['acr']}.")
    elif api.read_challenge(challenge):
        flash(explain.STILL_WEAK, "bad")
    else:
        flash(explain.shorten(f"The API answered {answer.status_code}. {challenge}"), "bad")


@app.get("/api/transfer")
def demo_api() -> tuple[dict[str, Any], int, dict[str, str]]:
    """Be the API, which would be another service."""
    authorization = request.headers.get("Authorization", "")
    answer = api.transfer(authorization, provider.fetch_jwk_set(), settings.issuer)
    headers = {"WWW-Authenticate": answer.challenge} if answer.challenge else {}
    return answer.body, answer.status, headers


@app.post("/refresh")
def refresh() -> Response:
    """Trade the refresh token for new tokens, without the user."""
    sign_in = _current_sign_in()
    if sign_in is not None and "refresh_token" in sign_in.current.tokens:
        _refresh_tokens(sign_in)
        number = sign_in.current.number
        flash(f"The provider issued new tokens: generation {number} replaces {number - 1}.")
    return redirect(url_for("home"), HTTPStatus.SEE_OTHER)


def _fetch_userinfo(sign_in: SignIn) -> None:
    """Keep the userinfo endpoint's answer, or the reason there is none."""
    sign_in.userinfo, sign_in.userinfo_error = None, ""
    bearer = {"access_token": sign_in.current.tokens["access_token"], "token_type": "Bearer"}
    try:
        answer = provider.get(_load_metadata()["userinfo_endpoint"], token=bearer)
        if answer.ok:
            _keep_userinfo(sign_in, answer.json())
        else:
            challenge = answer.headers.get("WWW-Authenticate", "")
            reason = f"The provider answered {answer.status_code}. {challenge}"
            sign_in.userinfo_error = explain.shorten(reason)
    except RequestException:
        sign_in.userinfo_error = "The provider gave no answer that could be read."


def _keep_userinfo(sign_in: SignIn, answer: dict[str, Any]) -> None:
    """Accept the answer only if it is about the user of the ID token."""
    if answer.get("sub") == sign_in.current.claims["sub"]:
        sign_in.userinfo = answer
    else:
        sign_in.userinfo_error = "The answer was about somebody else and was thrown away."


def _refresh_tokens(sign_in: SignIn) -> None:
    """Replace the tokens of a sign-in; the new ID token is verified like the first."""
    old = sign_in.current
    tokens = provider.fetch_access_token(
        grant_type="refresh_token",
        refresh_token=old.tokens["refresh_token"],
        scope=None,  # the same as before
    )
    claims = provider.parse_id_token(tokens, nonce=None, claims_options=_expected_claims())
    if claims and claims["sub"] != old.claims["sub"]:
        raise ProblemError(explain.UNTRUSTED_TOKEN, "The new ID token is about somebody else.")
    # A provider may leave out what has not changed.
    sign_in.replace_tokens({**old.tokens, **tokens}, dict(claims or old.claims))


# --- Signing out ----------------------------------------------------------------------------


@app.post("/logout")
def logout() -> Response:
    """Forget the sign-in here, then let the provider end its session too."""
    sign_in = sign_ins.remove(session.pop("sign_in", ""))
    if sign_in is None:
        return redirect(url_for("home"), HTTPStatus.SEE_OTHER)
    _load_metadata()
    answer: Response = provider.logout_redirect(
        post_logout_redirect_uri=settings.post_logout_redirect_uri,
        id_token_hint=sign_in.current.tokens["id_token"],
    )
    answer.status_code = HTTPStatus.SEE_OTHER
    return answer


def _welcome_back() -> Response:
    """Take the browser back from the provider's sign-out, then show the plain address."""
    try:
        provider.validate_logout_response()
    except OAuthError:
        logger.info("a sign-out came back that was not asked for")
    else:
        flash("You are signed out, here and at the provider.")
    return redirect(url_for("home"), HTTPStatus.SEE_OTHER)


def _current_sign_in() -> SignIn | None:
    """Return who is signed in in this browser."""
    return sign_ins.get(session.get("sign_in", ""))


# --- Every request --------------------------------------------------------------------------


@app.before_request
def refuse_foreign_forms() -> None:
    """Let only this application's own pages press its buttons."""
    own_origin = environment.origin(settings.base_url)
    if request.method == "POST" and request.headers.get("Origin") != own_origin:
        raise ProblemError(explain.FOREIGN_FORM)


@app.after_request
def protect(response: Response) -> Response:
    """Allow the page nothing but its stylesheet; keep it out of caches and frames."""
    issuer_origin = environment.origin(settings.issuer)
    response.headers["Content-Security-Policy"] = "; ".join(
        [
            "default-src 'none'",
            "style-src 'self'",
            "img-src 'self'",
            f"form-action 'self' {issuer_origin}",  # signing out is a form that ends there
            "base-uri 'none'",
            "frame-ancestors 'none'",
        ]
    )
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "same-origin"
    if request.endpoint != "static":
        response.headers["Cache-Control"] = "no-store"
    return response


# --- When something goes wrong --------------------------------------------------------------


@app.errorhandler(ProblemError)
def show_problem(error: ProblemError) -> tuple[str, int]:
    """Show the page a check asked for."""
    return _problem_page(error.problem, error.details)


@app.errorhandler(OAuthError)
def show_provider_error(error: OAuthError) -> tuple[str, int]:
    """Show what the provider refused, in plain words and in its own."""
    provider.framework.clear_state_data(session, request.args.get("state"))
    if error.error == "mismatching_state":
        return _problem_page(explain.SIGN_IN_EXPIRED)
    details = ": ".join(filter(None, [error.error, error.description]))
    return _problem_page(explain.provider_error(error.error), details)


@app.errorhandler(JoseError)
def show_untrusted_token(error: JoseError) -> tuple[str, int]:
    """Say that the ID token failed its checks."""
    return _problem_page(explain.UNTRUSTED_TOKEN, str(error).rstrip(": "))


@app.errorhandler(RequestException)
@app.errorhandler(json.JSONDecodeError)
def show_unreachable(error: Exception) -> tuple[str, int]:
    """Say that the provider is not there, or not ready."""
    logger.warning("the provider could not be reached: %s", error)
    return _problem_page(explain.PROVIDER_UNREACHABLE, f"Provider: {settings.issuer}")


@app.errorhandler(HTTPException)
def show_http_error(error: HTTPException) -> tuple[str, int]:
    """Show our own page for an unknown address, a wrong method or a failure."""
    known = {problem.status: problem for problem in (explain.NOT_FOUND, explain.METHOD_NOT_ALLOWED)}
    return _problem_page(known.get(error.code or 0, explain.BROKEN))


def _problem_page(problem: Problem, details: str = "") -> tuple[str, int]:
    page = render_template("problem.html", problem=problem, details=explain.shorten(details))
    return page, problem.status
