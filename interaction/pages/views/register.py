"""Making an account of one's own."""

from dataclasses import replace
from typing import Final
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from identity.core.errors import ServiceError
from identity.http.error_page import Link, error_page
from identity.http.responses import redirect
from identity.sessions import cookies
from identity.users import identifiers
from identity.users.hashing_views import hashes_password
from identity.users.identifiers import Kind
from interaction.experience import policy
from interaction.experience.models import SignInExperience
from interaction.journeys import codes
from interaction.journeys import register as registering
from interaction.journeys.pending import Pending
from interaction.pages import context, refusals, words
from interaction.pages.forms import RegisterForm
from interaction.pages.views import code_step, shared, sign_in
from interaction.pages.views.code_step import CodeStep, Entered
from interaction.verification import services as verification
from interaction.verification.models import Purpose, VerificationCode

_WITHOUT: Final = "without"
_AUTOCOMPLETE: Final = {Kind.USERNAME: "username", Kind.EMAIL: "email", Kind.PHONE: "tel"}


@hashes_password(field="password")
@shared.step
def register(request: HttpRequest, pending: Pending | None) -> HttpResponse:
    """Prove each address to which a code can be sent, one at a time; then ask for the rest.

    Where the tenant does not insist on a proof, a person may go on without an address.
    """
    shown = context.shown_on(request)
    kinds = [Kind(kind) for kind in shown.sign_up["identifiers"]]
    if not kinds:
        return _not_offered(request, pending)
    without = _left_out(request, shown, kinds)
    proofs = verification.find_proofs(purpose=Purpose.REGISTER, browser=cookies.get_browser(request))
    proofs = {kind: proof for kind, proof in proofs.items() if kind in kinds}
    unproven = [kind for kind in kinds if kind is not Kind.USERNAME and kind not in {*proofs, *without}]
    reachable = codes.offered(shown)[Purpose.REGISTER] if unproven else []
    for kind in unproven:
        if shown.sign_up["verify"] or kind in reachable:
            step = _proving(kind, pending, without, is_reachable=kind in reachable)
            can_go_on = kind in _optional(shown, kinds, without)
            url = _address(pending, [*without, kind]) if can_go_on else ""
            return code_step.walk(request, pending, replace(step, without_url=url))
    return _details(request, pending, shown, proofs, without)


def _left_out(request: HttpRequest, shown: SignInExperience, kinds: list[Kind]) -> list[Kind]:
    """Return the addresses that the person goes on without, as far as that is allowed."""
    without: list[Kind] = []
    for kind in kinds:
        if kind in request.GET.getlist(_WITHOUT) and kind in _optional(shown, kinds, without):
            without.append(kind)
    return without


def _optional(shown: SignInExperience, kinds: list[Kind], without: list[Kind]) -> list[Kind]:
    """Return the addresses that can be left out: one identifier stays."""
    left = [kind for kind in kinds if kind not in without]
    is_free = not shown.sign_up["verify"] and len(left) > 1
    return [kind for kind in left if kind is not Kind.USERNAME] if is_free else []


def _address(pending: Pending | None, without: list[Kind]) -> str:
    address = shared.address("pages:register", pending)
    query = urlencode([(_WITHOUT, kind.value) for kind in without])
    return f"{address}{'&' if '?' in address else '?'}{query}" if query else address


def _proving(kind: Kind, pending: Pending | None, without: list[Kind], *, is_reachable: bool) -> CodeStep:
    def entered(entered: Entered) -> HttpResponse:
        code_step.prove(Purpose.REGISTER, entered)
        return redirect(_address(pending, without))

    return CodeStep(
        purpose=Purpose.REGISTER,
        kinds=[kind] if is_reachable else [],
        page="pages:register",
        url=_address(pending, without),
        back_url=shared.address("pages:sign-in", pending),
        entered=entered,
    )


def _details(
    request: HttpRequest,
    pending: Pending | None,
    shown: SignInExperience,
    proofs: dict[Kind, VerificationCode],
    without: list[Kind],
) -> HttpResponse:
    kinds = [Kind(kind) for kind in shown.sign_up["identifiers"]]
    asked = [kind for kind in kinds if kind not in {*proofs, *without}]
    password: bool = shown.sign_up["password"]
    if request.method != "POST":
        form = RegisterForm(initial=_hinted(pending), kinds=asked, password=password)
        return _page(request, pending, shown, proofs, without, form)
    form = RegisterForm(request.POST, kinds=asked, password=password)
    if not form.is_valid():
        return _page(request, pending, shown, proofs, without, form, status=400)
    given = dict.fromkeys((*Kind, "password"), "") | form.cleaned_data
    given |= {kind: proof.address for kind, proof in proofs.items()}
    try:
        signed_in = registering.sign_up(
            **{str(name): value for name, value in given.items()},
            captcha_token=shared.captcha_token(request),
            browser=cookies.get_browser(request),
            without=frozenset(without),
            pending=pending,
            current=cookies.current_session(request),
        )
    except ServiceError as error:
        shared.tell(form, error)
        return shared.refused(
            _page(request, pending, shown, proofs, without, form, status=error.status), error
        )
    return sign_in.enter(request, signed_in)


def _hinted(pending: Pending | None) -> dict[str, str]:
    """Return what the application believes the person is called here, as the field that it would go into."""
    hint = pending.asked.login_hint[:254].strip() if pending else ""
    return {identifiers.kind_of(hint): hint} if hint else {}


def _page(  # noqa: PLR0913, PLR0917 - the parts of a page
    request: HttpRequest,
    pending: Pending | None,
    shown: SignInExperience,
    proofs: dict[Kind, VerificationCode],
    without: list[Kind],
    form: RegisterForm,
    *,
    status: int = 200,
) -> HttpResponse:
    return shared.page(
        request,
        "register",
        pending,
        status,
        form=form,
        asked=[
            {
                "field": form[kind],
                "label": words.label([kind]),
                "autocomplete": _AUTOCOMPLETE[kind],
                "type": {Kind.EMAIL: "email", Kind.PHONE: "tel"}.get(kind, "text"),
            }
            for kind in Kind
            if kind in form.fields
        ],
        proven=[{"label": words.label([kind]), "address": proof.address} for kind, proof in proofs.items()],
        rules=refusals.rules(policy.rules(shown.password_policy)),
        meter=policy.has_meter(shown.password_policy),
        action=_address(None, without),
        sign_in_url=shared.address("pages:sign-in", pending),
        asks_captcha=True,
    )


def _not_offered(request: HttpRequest, pending: Pending | None) -> HttpResponse:
    return error_page(
        request,
        404,
        title=_("New accounts are not offered here"),
        message=_("Accounts are made by the people who run this service."),
        next_step=_("Ask them for one, or sign in if you have one."),
        link=Link(shared.address("pages:sign-in", pending), _("Sign in")),
    )
