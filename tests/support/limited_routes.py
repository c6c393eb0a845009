"""How each route with a limit is requested until the limit refuses."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import httpx
from django.conf import settings
from django.utils import timezone

from config.route_limits.kinds import Rule
from config.route_limits.routes import ROUTES
from identity.limits import rules
from identity.limits.models import Counter
from identity.sessions.models import Session
from tests.support import codes, management, passkeys
from tests.support.cast import PASSWORD, Browser, RelyingParty, World
from tests.support.codes import new_email, new_phone
from tests.support.forms import forms

FIXED: Final = "192.0.2.1"


@dataclass
class Visit:
    """A client that makes requests to one route until one rule refuses."""

    world: World
    rule: Rule
    route: str
    browser: Browser = field(init=False)
    party: RelyingParty | None = None
    number: int = 0
    person: str = field(default_factory=new_email)
    identifier: str = ""
    organization: str = ""
    application: Any = None
    phone: str = field(default_factory=new_phone)

    def __post_init__(self) -> None:
        self.browser = self.world.browser()

    @property
    def limited(self) -> Any:
        return ROUTES[self.route]

    @property
    def is_by_address(self) -> bool:
        at_an_address = {
            rules.PAIR,
            rules.CODE_PAUSE,
            rules.CODES,
            rules.CLIENT_FAILURES,
            rules.ADMINISTRATOR,
            rules.RECOVERIES,
        }
        return self.rule in self.limited.address or self.rule in at_an_address

    @property
    def is_of_text_messages(self) -> bool:
        return self.rule in {rules.TEXT_MESSAGES, rules.TENANT_TEXT_CODES}

    @property
    def headers(self) -> dict[str, str]:
        return {"X-Forwarded-For": FIXED if self.is_by_address else f"203.0.113.{self.number}"}

    @property
    def to(self) -> str:
        """Who it is about: the same person for a limit of persons, another one otherwise."""
        by_phone = self.is_of_text_messages or "/phone" in self.route
        if self.rule in self.limited.subject:
            return self.phone if by_phone else self.person
        return new_phone() if by_phone else new_email()

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.browser.get(path, headers=self.headers, **options)

    def post(self, path: str, body: dict[str, Any]) -> httpx.Response:
        return self.browser.post(path, json=body, headers=self.headers)

    def submit(self, path: str, **typed: str) -> httpx.Response:
        """Fill in the first form of a page that has these fields, or send them as they are."""
        shown = forms(self.get(path))
        fields = next((one.fields for one in shown if set(one.fields) & set(typed)), shown[-1].fields)
        return self.browser.post(path, data=fields | typed, headers=self.headers)

    def sign_in(self) -> None:
        """Sign the person in, from another address than the rest."""
        known = self.browser.post(
            "/api/interaction/sign-in",
            json={"identifier": self.person, "password": PASSWORD},
            headers={"X-Forwarded-For": "198.51.100.1"},
        )
        assert known.status_code == 200, known.text


def sign_in_api(visit: Visit) -> httpx.Response:
    return visit.post("/api/interaction/sign-in", {"identifier": visit.to, "password": "wrong"})


def sign_in_page(visit: Visit) -> httpx.Response:
    return visit.submit("/sign-in", identifier=visit.to, password="wrong")


def register_api(visit: Visit) -> httpx.Response:
    name = f"u-{secrets.token_hex(4)}"
    return visit.post(codes.REGISTER, {"username": name, "password": "a good password 1"})


def send_api(visit: Visit) -> httpx.Response:
    return visit.post(codes.SEND, codes.about(visit.to))


def enter_api(visit: Visit) -> httpx.Response:
    return visit.post(codes.VERIFY, codes.about(visit.to, code="000000"))


def reset_api(visit: Visit) -> httpx.Response:
    return visit.post(codes.RESET, {"identifier": visit.to, "new_password": "a good password 1"})


def code_page(visit: Visit) -> httpx.Response:
    wrong = {"code": "000000"} if visit.rule in {rules.SIGN_INS, rules.WRONG_CODES} else {}
    return visit.submit(visit.route.partition(" ")[2], identifier=visit.to, **wrong)


def register_page(visit: Visit) -> httpx.Response:
    if visit.rule is rules.REGISTRATIONS:
        visit.browser = visit.world.browser()  # the one before is signed in
        return visit.submit("/register", username=f"u-{secrets.token_hex(4)}", password="a good password 1")
    kind = "phone" if visit.is_of_text_messages else "email"
    codes.experience(visit.world, sign_up={"identifiers": [kind], "password": True, "verify": True})
    return code_page(visit)


def token(visit: Visit) -> httpx.Response:
    client_id = "0" * 24 if visit.rule is rules.CLIENT_FAILURES else secrets.token_hex(12)
    form = {"grant_type": "client_credentials", "token": "x", "client_id": client_id, "client_secret": "x"}
    path = visit.route.partition(" ")[2]
    return visit.world.post(path, data=form, headers=visit.headers)


def authorize(visit: Visit) -> httpx.Response:
    visit.party = visit.party or visit.world.application()
    cookie = {}
    if visit.rule is rules.PARKED:
        cookie = {"Cookie": f"gatehouse-browser.{visit.world.tenant.slug}={secrets.token_urlsafe(32)}"}
    headers = visit.headers | cookie
    if visit.route.startswith("GET"):
        return visit.world.get("/oidc/authorize", params=visit.party.request(), headers=headers)
    return visit.world.post("/oidc/authorize", data=visit.party.request(), headers=headers)


def social(visit: Visit) -> httpx.Response:
    return visit.get("/social/github")


def social_form(visit: Visit) -> httpx.Response:
    fields = forms(visit.get("/sign-in"))[-1].fields
    return visit.browser.post("/social/github", data=fields, headers=visit.headers)


def linked(visit: Visit) -> httpx.Response:
    return visit.submit("/account/linked", link="github")


def confirm(visit: Visit) -> httpx.Response:
    path = visit.route.partition(" ")[2]
    typed = {"password": "wrong", "new_password": "a good password 1", "identifier": visit.to}
    return visit.submit(path, **typed, username="another", typed=visit.identifier)


def change_profile(visit: Visit) -> httpx.Response:
    path = visit.route.partition(" ")[2]
    if path == "/account/language":
        return visit.submit(path, language=("de", "fr", "es", "ja")[visit.number])
    return visit.submit(path, name=f"Name {visit.number}")


def change_username(visit: Visit) -> httpx.Response:
    if visit.rule is not rules.PROFILE_CHANGES:
        return confirm(visit)
    return visit.submit("/account/username", username=f"u-{secrets.token_hex(4)}", password=PASSWORD)


def contact(visit: Visit) -> httpx.Response:
    if visit.rule in {rules.PAIR, rules.IDENTIFIER}:
        return confirm(visit)
    return visit.submit(visit.route.partition(" ")[2], identifier=visit.to, password=PASSWORD)


def contact_code(visit: Visit) -> httpx.Response:
    path = visit.route.partition(" ")[2]
    if not visit.number:
        kind = "phone" if "/phone" in path else "email"
        with_code = visit.submit(f"/account/{kind}", identifier=visit.to, password=PASSWORD)
        assert with_code.status_code == 303, with_code.text
        with visit.world.active():  # the password counted for the address, too
            Counter.objects.filter(kind=rules.SIGN_INS.kind).delete()
    return visit.submit(path, code="000000")


def passkey(visit: Visit) -> httpx.Response:
    if not visit.number:
        passkeys.switch_on(visit.world)
    return visit.post(passkeys.VERIFY, {"ceremony": "sign_in", "credential": {}})


def remove_passkey(visit: Visit) -> httpx.Response:
    if not visit.number:
        passkeys.switch_on(visit.world)
        with visit.world.active():
            Session.objects.update(auth_time=timezone.now() - timedelta(hours=1))
    return visit.submit("/account/security/passkeys", password="wrong", remove="x")


def administrator(visit: Visit) -> httpx.Response:
    if visit.rule in {rules.RECOVERIES, rules.RECOVERIES_FROM_ANYWHERE}:
        return visit.submit("/admin/recover/", email=visit.to)
    same = visit.rule in visit.limited.subject
    name = visit.person.partition("@")[0] if same else f"nobody-{secrets.token_hex(4)}"
    body = {"username": name, "password": "wrong"}
    if visit.rule is rules.SECOND_STEP:
        body = {"username": name, "password": PASSWORD, "code": "000000"}
    if visit.route.startswith("POST /api/"):
        return visit.post("/api/admin/sign-in", body)
    answer = visit.submit("/admin/login/", **body)
    if answer.status_code != 303:
        return answer
    where = answer.headers["Location"]
    return visit.submit(where, code="000000")


def join(visit: Visit) -> httpx.Response:
    """An application adds somebody who exists to an organization, by phone."""
    if visit.application is None:
        home = World(visit.world.tenant, f"{settings.BASE_URL}/t/{visit.world.tenant.slug}")
        organization = management.superuser(home).created("/organizations", name="Acme")["id"]
        robot = management.member_manager(home, organization)
        token = management.application_token(
            visit.world, robot.client_id, robot.secret, organization_id=organization
        )
        visit.organization, visit.application = organization, management.Caller(visit.world, token)
    phone = new_phone()
    visit.world.user(phone=phone)
    path = f"/m2m/organizations/{visit.organization}/members"
    answer: httpx.Response = visit.application.post(path, phone=phone)
    return answer


def half(visit: Visit) -> None:
    """Prove the first factor once, from another address than the rest."""
    if visit.number == 0:
        visit.sign_in()


def factor_api(visit: Visit) -> httpx.Response:
    half(visit)
    kind = "PhoneVerificationCode" if visit.is_of_text_messages else "EmailVerificationCode"
    return visit.post(visit.route.partition(" ")[2], {"code": "000000", "type": kind})


def forget_users(browser: Browser) -> None:
    """Let a browser no longer be one in which the user signed in before."""
    browser.http.cookies.delete(f"gatehouse-known.{browser.world.tenant.slug}")


def recovery_api(visit: Visit) -> httpx.Response:
    if visit.rule is rules.WRONG_CODES:
        return visit.post("/api/interaction/mfa/recovery-code", {"identifier": visit.to, "code": "x"})
    return factor_api(visit)


def recovery_page(visit: Visit) -> httpx.Response:
    return visit.submit("/sign-in/recovery", identifier=visit.to, code="x")


def factor_page(visit: Visit) -> httpx.Response:
    if "/sign-in" in visit.route:
        half(visit)
    if visit.rule is rules.CODES_SECOND_STEP:
        forget_users(visit.browser)
    kind = "PhoneVerificationCode" if visit.is_of_text_messages else "EmailVerificationCode"
    is_wrong_code = visit.rule in {rules.SIGN_INS, rules.SECOND_FACTOR}
    typed = {"with": "Totp", "code": "000000"} if is_wrong_code else {"with": kind, "send": ""}
    return visit.submit(visit.route.partition(" ")[2], **typed)


def set_up_api(visit: Visit) -> httpx.Response:
    half(visit)
    offer = visit.post("/api/interaction/mfa/set-up/totp", {}).json()["result"]
    body = {"enrolment": offer["enrolment"], "code": "000000"}
    return visit.post("/api/interaction/mfa/set-up/totp/verify", body)


def set_up_page(visit: Visit) -> httpx.Response:
    half(visit)
    return visit.submit("/sign-in/set-up", code="000000")


def confirm_factors(visit: Visit) -> httpx.Response:
    return visit.submit(visit.route.partition(" ")[2], password="wrong", code="000000", two_step="off")


def confirm_api(visit: Visit) -> httpx.Response:
    is_password = visit.rule in {rules.PAIR, rules.IDENTIFIER}
    body = {"password": "wrong"} if is_password else {"code": "000000", "type": "Totp"}
    return visit.post("/api/my-account/confirm", body)


Driver = Callable[[Visit], httpx.Response]


DRIVERS: Final[dict[str, Driver]] = {
    "POST /admin/*": administrator,
    "POST /api/admin/sign-in": administrator,
    "GET /oidc/authorize": authorize,
    "POST /oidc/authorize": authorize,
    "POST /oidc/token": token,
    "POST /oidc/revoke": token,
    "POST /api/interaction/sign-in": sign_in_api,
    "POST /api/interaction/register": register_api,
    "POST /api/interaction/verification-code": send_api,
    "POST /api/interaction/verify-code": enter_api,
    "POST /api/interaction/forgot-password": reset_api,
    "POST /api/interaction/mfa/totp": factor_api,
    "POST /api/interaction/mfa/backup-code": factor_api,
    "POST /api/interaction/mfa/recovery-code": recovery_api,
    "POST /api/interaction/mfa/code": factor_api,
    "POST /api/interaction/mfa/code/verify": factor_api,
    "POST /api/interaction/mfa/set-up/totp/verify": set_up_api,
    "POST /sign-in/second-factor": factor_page,
    "POST /sign-in/recovery": recovery_page,
    "POST /sign-in/set-up": set_up_page,
    "POST /confirm": factor_page,
    "POST /api/my-account/confirm": confirm_api,
    "POST /account/security": confirm_factors,
    "POST /account/security/authenticator": confirm_factors,
    "POST /account/security/codes": confirm_factors,
    "POST /api/interaction/passkey/verify": passkey,
    "POST /account/security/passkeys": remove_passkey,
    "POST /sign-in": sign_in_page,
    "POST /sign-in/code": code_page,
    "POST /register": register_page,
    "POST /forgot-password": code_page,
    "GET /social/:connector_id": social,
    "POST /social/:connector_id": social_form,
    "POST /account/linked": linked,
    "POST /account/profile": change_profile,
    "POST /account/language": change_profile,
    "POST /account/username": change_username,
    "POST /account/password": confirm,
    "POST /account/data": confirm,
    "POST /account/delete": confirm,
    "POST /account/email": contact,
    "POST /account/phone": contact,
    "POST /account/email/code": contact_code,
    "POST /account/phone/code": contact_code,
    "POST /api/v1/m2m/organizations/:organization_pk/members": join,
}
