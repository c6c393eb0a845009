"""The pages to replace a forgotten password."""

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from identity.core.errors import Invalid, ServiceError
from identity.http.error_page import Link, error_page
from identity.http.responses import add_headers, redirect
from identity.users.hashing_views import hashes_password
from interaction.experience import policy
from interaction.journeys import codes, reset_password
from interaction.journeys.pending import Pending, page_url
from interaction.journeys.second_factor import visits
from interaction.journeys.second_factor.resetting import SecondFactorMissing
from interaction.journeys.second_factor.sign_ins import Visit
from interaction.pages import context, password_rules
from interaction.pages.forms import NewPasswordForm
from interaction.pages.views import code_step, shared
from interaction.pages.views.code_step import CodeStep
from interaction.pages.views.entered_code import EnteredCode
from interaction.verification import proofs as code_proofs
from interaction.verification.models import Purpose, VerificationCode

_FACTOR_PAGE: Final = "pages:second-factor"


@hashes_password(field="new_password")
@shared.step
def forgot_password(request: HttpRequest, pending: Pending | None) -> HttpResponse:
    """Verify an address, then ask for a new password."""
    visit = visits.without_session(request, pending)
    proofs = code_proofs.find_all(purpose=Purpose.FORGOT_PASSWORD, browser=visit.browser, proofs=visit.proofs)
    if proofs and "other" not in request.GET and "identifier" not in request.POST:
        newest = max(proofs.values(), key=lambda proof: (proof.used_at, proof.pk))
        return _set_password(request, visit, newest)
    kinds = codes.get_offered_kinds(context.get_experience(request))[Purpose.FORGOT_PASSWORD]
    if not kinds:
        return _not_offered(request, pending)
    return code_step.handle(
        request,
        pending,
        CodeStep(
            purpose=Purpose.FORGOT_PASSWORD,
            kinds=kinds,
            page="pages:forgot-password",
            back_url=page_url("pages:sign-in", pending),
            redeem=lambda entered: _verify(entered, visit),
        ),
    )


def _verify(entered: EnteredCode, visit: Visit) -> HttpResponse:
    """Ask for the second factor first, so that nobody types a new password twice."""
    proof = entered.verify(Purpose.FORGOT_PASSWORD)
    is_missing = reset_password.ask_for_missing_factor(proof, visit)
    return redirect(page_url(_FACTOR_PAGE if is_missing else "pages:forgot-password", visit.pending))


def _set_password(request: HttpRequest, visit: Visit, proof: VerificationCode) -> HttpResponse:
    pending = visit.pending
    if request.method != "POST":
        return _page(request, pending, proof, NewPasswordForm())
    form = NewPasswordForm(request.POST)
    if not form.is_valid():
        return _page(request, pending, proof, form, 400)
    try:
        reset_password.set_new_password(
            identifier=proof.address,
            new_password=form.cleaned_data["new_password"],
            visit=visit,
        )
    except SecondFactorMissing:
        return redirect(page_url(_FACTOR_PAGE, pending))
    except ServiceError as error:
        shared.add_error(form, error, "new_password" if isinstance(error, Invalid) else None)
        return add_headers(_page(request, pending, proof, form, error.status), error.headers)
    return shared.render_page(
        request, "password_changed", pending, sign_in_url=page_url("pages:sign-in", pending)
    )


def _page(
    request: HttpRequest,
    pending: Pending | None,
    proof: VerificationCode,
    form: NewPasswordForm,
    status: int = 200,
) -> HttpResponse:
    password_policy = context.get_experience(request).password_policy
    return shared.render_page(
        request,
        "new_password",
        pending,
        status,
        form=form,
        address=proof.address,
        rules=password_rules.describe_all(policy.rules(password_policy)),
        meter=policy.has_meter(password_policy),
        other_url=page_url("pages:forgot-password", pending, other="1"),
    )


def _not_offered(request: HttpRequest, pending: Pending | None) -> HttpResponse:
    return error_page(
        request,
        404,
        title=_("You can't reset your password here"),
        message=_("We can't send you a code."),
        next_step=_("Contact the people who run this service."),
        link=Link(page_url("pages:sign-in", pending), _("Sign in")),
    )
