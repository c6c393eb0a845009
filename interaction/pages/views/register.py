"""The registration pages."""

from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from identity.core.errors import ServiceError
from identity.http.error_page import Link, error_page
from identity.http.responses import add_headers, redirect
from identity.sessions import cookies
from identity.users import identifiers
from identity.users.hashing_views import hashes_password
from identity.users.identifiers import Kind
from interaction.experience import policy
from interaction.experience.models import SignInExperience
from interaction.journeys import codes
from interaction.journeys import register as registering
from interaction.journeys.pending import Pending, page_url
from interaction.journeys.second_factor import visits
from interaction.pages import context, labels, password_rules
from interaction.pages.forms import RegisterForm
from interaction.pages.views import code_step, shared
from interaction.pages.views.code_step import CodeStep
from interaction.pages.views.entered_code import EnteredCode
from interaction.verification import proofs as code_proofs
from interaction.verification.models import Purpose, VerificationCode

_WITHOUT: Final = "without"
_AUTOCOMPLETE: Final = {Kind.USERNAME: "username", Kind.EMAIL: "email", Kind.PHONE: "tel"}


@hashes_password(field="password")
@shared.step
def register(request: HttpRequest, pending: Pending | None) -> HttpResponse:
    """Verify the addresses to which codes can be sent, one at a time, then ask for the other fields.

    If the tenant does not require verification, the user can skip an address.
    """
    experience = context.get_experience(request)
    kinds = [Kind(kind) for kind in experience.sign_up["identifiers"]]
    if not kinds:
        return _not_offered(request, pending)
    without = _get_skipped(request, experience, kinds)
    proofs = code_proofs.find_all(
        purpose=Purpose.REGISTER,
        browser=cookies.get_browser(request),
        proofs=cookies.get_proofs(request),
    )
    proofs = {kind: proof for kind, proof in proofs.items() if kind in kinds}
    unproven = [kind for kind in kinds if kind is not Kind.USERNAME and kind not in {*proofs, *without}]
    reachable = codes.get_offered_kinds(experience)[Purpose.REGISTER] if unproven else []
    for kind in unproven:
        if experience.sign_up["verify"] or kind in reachable:
            step = _code_step(kind, pending, without, is_reachable=kind in reachable)
            can_skip = kind in _get_optional(experience, kinds, without)
            url = _url(pending, [*without, kind]) if can_skip else ""
            return code_step.handle(request, pending, replace(step, without_url=url))
    return _details(request, pending, experience, proofs, without)


def _get_skipped(request: HttpRequest, experience: SignInExperience, kinds: list[Kind]) -> list[Kind]:
    """Return the kinds of address that the user chose to skip and that can be skipped."""
    without: list[Kind] = []
    for kind in kinds:
        if kind in request.GET.getlist(_WITHOUT) and kind in _get_optional(experience, kinds, without):
            without.append(kind)
    return without


def _get_optional(experience: SignInExperience, kinds: list[Kind], without: list[Kind]) -> list[Kind]:
    """Return the kinds of address that can be skipped, so that at least one identifier remains."""
    remaining = [kind for kind in kinds if kind not in without]
    is_optional = not experience.sign_up["verify"] and len(remaining) > 1
    return [kind for kind in remaining if kind is not Kind.USERNAME] if is_optional else []


def _url(pending: Pending | None, without: list[Kind]) -> str:
    url = page_url("pages:register", pending)
    query = urlencode([(_WITHOUT, kind.value) for kind in without])
    return f"{url}{'&' if '?' in url else '?'}{query}" if query else url


def _code_step(kind: Kind, pending: Pending | None, without: list[Kind], *, is_reachable: bool) -> CodeStep:
    def redeem(entered: EnteredCode) -> HttpResponse:
        entered.verify(Purpose.REGISTER)
        return redirect(_url(pending, without))

    return CodeStep(
        purpose=Purpose.REGISTER,
        kinds=[kind] if is_reachable else [],
        page="pages:register",
        url=_url(pending, without),
        back_url=page_url("pages:sign-in", pending),
        redeem=redeem,
    )


def _details(
    request: HttpRequest,
    pending: Pending | None,
    experience: SignInExperience,
    proofs: dict[Kind, VerificationCode],
    without: list[Kind],
) -> HttpResponse:
    kinds = [Kind(kind) for kind in experience.sign_up["identifiers"]]
    fields = [kind for kind in kinds if kind not in {*proofs, *without}]
    asked = {
        "kinds": fields,
        "password": experience.sign_up["password"],
        "profile_fields": experience.profile_fields,
        "agreement": bool(experience.documents_to_agree_to),
    }
    if request.method != "POST":
        form = RegisterForm(initial=_initial(pending), **asked)
        return _page(request, pending, experience, proofs, without, form)
    form = RegisterForm(request.POST, **asked)
    if not form.is_valid():
        return _page(request, pending, experience, proofs, without, form, status=400)
    values: dict[str, Any] = dict.fromkeys((*Kind, "password"), "") | form.cleaned_data
    values["profile"] = {name: values.pop(name) for name in form.profile_fields}
    values |= {kind: proof.address for kind, proof in proofs.items()}
    try:
        result = registering.sign_up(
            **{str(name): value for name, value in values.items()},
            captcha_token=shared.captcha_token(request),
            visit=visits.of(request, pending),
            skipped=frozenset(without),
        )
    except ServiceError as error:
        shared.add_error(form, error)
        page = _page(request, pending, experience, proofs, without, form, status=error.status)
        return add_headers(page, error.headers)
    return shared.redirect_signed_in(request, result)


def _initial(pending: Pending | None) -> dict[str, str]:
    """Return the initial values of the form: the application's ``login_hint``."""
    hint = pending.authorization.login_hint[:254].strip() if pending else ""
    return {identifiers.detect_kind(hint): hint} if hint else {}


def _page(  # noqa: PLR0913, PLR0917 - the parts of a page
    request: HttpRequest,
    pending: Pending | None,
    experience: SignInExperience,
    proofs: dict[Kind, VerificationCode],
    without: list[Kind],
    form: RegisterForm,
    *,
    status: int = 200,
) -> HttpResponse:
    return shared.render_page(
        request,
        "register",
        pending,
        status,
        form=form,
        asked=[
            {
                "field": form[kind],
                "label": labels.identifier_label([kind]),
                "autocomplete": _AUTOCOMPLETE[kind],
                "type": {Kind.EMAIL: "email", Kind.PHONE: "tel"}.get(kind, "text"),
            }
            for kind in Kind
            if kind in form.fields
        ],
        proven=[
            {"label": labels.identifier_label([kind]), "address": proof.address}
            for kind, proof in proofs.items()
        ],
        profile_fields=[
            {"field": form[name], **labels.describe_profile_field(name)} for name in form.profile_fields
        ],
        rules=password_rules.describe_all(policy.rules(experience.password_policy)),
        meter=policy.has_meter(experience.password_policy),
        action=_url(None, without),
        sign_in_url=page_url("pages:sign-in", pending),
        asks_captcha=True,
    )


def _not_offered(request: HttpRequest, pending: Pending | None) -> HttpResponse:
    return error_page(
        request,
        404,
        title=_("You can't create an account here"),
        message=_("Accounts are created by the people who run this service."),
        next_step=_("Ask them for an account, or sign in if you have one."),
        link=Link(page_url("pages:sign-in", pending), _("Sign in")),
    )
