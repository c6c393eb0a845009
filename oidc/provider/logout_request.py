"""The logout request of OpenID Connect RP-Initiated Logout 1.0, and its checks."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import urlencode

from database import ids
from identity.sessions import services as sessions
from identity.sessions.models import Session
from oidc.applications import redirect_uris
from oidc.applications.models import Application
from oidc.provider import id_token_hint
from oidc.provider.errors import Unanswerable, UnknownRedirectUri
from oidc.provider.id_token_hint import Hint
from oidc.provider.parameters import Parameters

PARAMETERS: Final = (
    "id_token_hint",
    "logout_hint",
    "client_id",
    "post_logout_redirect_uri",
    "state",
    "ui_locales",
)


@dataclass(frozen=True, slots=True)
class LogoutRequest:
    """A logout request that has passed the checks."""

    parameters: Parameters
    hint: Hint | None
    application: Application | None

    @property
    def post_logout_redirect_uri(self) -> str:
        """Where the browser goes after the sign-out, or an empty string."""
        return self.parameters["post_logout_redirect_uri"]

    @property
    def form_targets(self) -> tuple[str, ...]:
        """The redirect URIs besides https to which the page's form may redirect (CSP ``form-action``)."""
        sent = self.post_logout_redirect_uri
        return redirect_uris.form_targets(sent) if sent else ()

    @property
    def redirect_url(self) -> str:
        """The ``post_logout_redirect_uri`` with the ``state``, or an empty string without one."""
        sent = self.post_logout_redirect_uri
        if not sent or "state" not in self.parameters.values:
            return sent
        separator = "&" if "?" in sent else "?"
        return f"{sent}{separator}{urlencode({'state': self.parameters['state']})}"

    def is_hint_for(self, session: Session) -> bool:
        """Return whether the hint names this session and its user."""
        if self.hint is None:
            return False
        return (self.hint.subject, self.hint.session_id) == (str(session.user_id), str(session.pk))

    def is_silent(self, session: Session) -> bool:
        """Return whether the session ends without a confirmation.

        A third party must not end the session that all applications share with a single request.
        """
        application = self.application
        return self.is_hint_for(session) and application is not None and not application.is_third_party

    def may_redirect_after(self, session: Session) -> bool:
        """Return whether a matching hint or a ``client_id`` names the client to which a redirect may lead."""
        return self.is_hint_for(session) or bool(self.parameters["client_id"])


def validate(parameters: Parameters) -> LogoutRequest:
    """Return a valid logout request.

    Raises:
        Unanswerable: the hint is forged or of another client, or the redirect URI is not registered.
        UnknownRedirectUri: the redirect URI is not registered for the application that the request names.

    """
    hint = _read_hint(parameters["id_token_hint"])
    client_id = parameters["client_id"]
    if hint is not None and client_id not in {"", hint.client_id}:
        # RP-Initiated Logout section 2: the OP MUST verify that both name the same client.
        raise Unanswerable("The id_token_hint was issued to another client than the client_id.")
    request = LogoutRequest(parameters, hint, _find_application(client_id, hint))
    if request.post_logout_redirect_uri and not _is_redirect_uri_allowed(request):
        raise _build_refusal(request)
    return request


def end_session_of_hint(request: LogoutRequest) -> None:
    """End the session that the hint names, for a request that comes without a session, from a server.

    A hint whose session has ended changes nothing. Neither does the hint of a third party, whose user must be
    asked: it is not told whether the session is live.

    Raises:
        Unanswerable: the application of the hint was deleted, or the user signed in again after the hint was
            issued. Nothing ends.

    """
    hint = request.hint
    if hint is None:
        return
    if hint.application is None:
        raise Unanswerable("The application of the id_token_hint was deleted.")
    if hint.application.is_third_party:
        return
    session_id, user_id = ids.parse(hint.session_id), ids.parse(hint.subject)
    if session_id is None or user_id is None:
        return
    if sessions.end_for_logout(
        session_id,
        user_id=user_id,
        # The second of the sign-in counts as a whole, because ``iat`` has no fraction.
        signed_in_before=datetime.fromtimestamp(hint.issued_at, tz=UTC) + timedelta(seconds=1),
        application_id=hint.application.pk,
    ):
        return
    if Session.objects.live().filter(pk=session_id, user_id=user_id).exists():
        raise Unanswerable("The id_token_hint was issued before the user signed in again.")


def _read_hint(token: str) -> Hint | None:
    try:
        return id_token_hint.read(token) if token else None
    except id_token_hint.Forged:
        raise Unanswerable("The id_token_hint is not an ID token of this provider.") from None


def _find_application(client_id: str, hint: Hint | None) -> Application | None:
    if client_id:
        return Application.objects.filter(client_id=client_id).first()
    return hint.application if hint else None


def _is_redirect_uri_allowed(request: LogoutRequest) -> bool:
    if request.application is not None:
        return _is_registered(request.post_logout_redirect_uri, request.application)
    names_client = bool(request.parameters["client_id"] or request.hint)
    return not names_client and _is_registered_by_any(request.post_logout_redirect_uri)


def _build_refusal(request: LogoutRequest) -> Unanswerable:
    application = request.application
    if application is None:
        return Unanswerable("The post_logout_redirect_uri is not registered.")
    return UnknownRedirectUri(
        parameter="post_logout_redirect_uri",
        sent=request.post_logout_redirect_uri,
        registered=application.post_logout_redirect_uris,
        application_id=str(application.pk),
    )


def _is_registered(redirect_uri: str, application: Application) -> bool:
    """Return whether a URI is registered or, if none is, has the origin of one of the ``redirect_uris``."""
    if application.post_logout_redirect_uris:
        return redirect_uri in application.post_logout_redirect_uris
    # The state, which is appended at the end, would become part of a fragment.
    origin = None if "#" in redirect_uri else redirect_uris.get_origin(redirect_uri)
    return origin is not None and origin in {redirect_uris.get_origin(u) for u in application.redirect_uris}


def _is_registered_by_any(redirect_uri: str) -> bool:
    """Return whether any application has registered this redirect URI, for requests that name no client."""
    origin = redirect_uris.get_origin(redirect_uri)
    applications = Application.objects.with_origin(origin) if origin else ()
    return any(redirect_uri in application.post_logout_redirect_uris for application in applications)
