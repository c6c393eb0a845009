"""The page on which a new user from another provider agrees to the tenant's terms."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from identity.core.errors import ServiceError
from identity.http.responses import handles_deletion
from identity.sessions import cookies
from interaction.journeys import pending as pending_requests
from interaction.journeys.pending import Pending, page_url
from interaction.journeys.second_factor import visits
from interaction.journeys.social import sign_in as signing_in
from interaction.pages.expired import expired_sign_in
from interaction.pages.forms import AgreementForm
from interaction.pages.views import shared, social_errors
from interaction.social import agreements
from interaction.social.models import SocialAttempt


def get_url(attempt_id: UUID, pending: Pending | None) -> str:
    """Return the URL of the page for a pending request."""
    return page_url("pages:register-terms", pending, attempt_id)


@shared.step
@handles_deletion
def agree(request: HttpRequest, pending: Pending | None, pk: UUID) -> HttpResponse:
    """Ask the new user to agree, then create the user and sign them in."""
    attempt = agreements.find(pk, cookies.get_browser(request), cookies.get_proofs(request))
    pending = pending if attempt and attempt.interaction else None
    if attempt is None or attempt.interaction != (str(pending.row.pk) if pending else ""):
        return expired_sign_in(request)
    if request.method != "POST":
        return _page(request, pending, attempt, AgreementForm())
    form = AgreementForm(request.POST)
    if not form.is_valid():
        return _page(request, pending, attempt, form, 400)
    try:
        result = signing_in.sign_up(attempt, visit=visits.of(request, pending))
    except pending_requests.Expired:
        return expired_sign_in(request)
    except ServiceError as error:
        return social_errors.refuse(request, error, page_url("pages:sign-in", pending))
    return shared.redirect_signed_in(request, result)


def _page(
    request: HttpRequest,
    pending: Pending | None,
    attempt: SocialAttempt,
    form: AgreementForm,
    status: int = 200,
) -> HttpResponse:
    profile, _ = agreements.read(attempt) or (None, None)
    return shared.render_page(
        request,
        "register_terms",
        pending,
        status,
        form=form,
        profile=profile,
        action=reverse("pages:register-terms", args=[attempt.pk]),
        sign_in_url=page_url("pages:sign-in", pending),
    )
