"""The machine of one channel: a person who holds it takes steps, and so does the user."""

import secrets
import time
from datetime import timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

import httpx
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from identity.factors.models import Authenticator, BackupCode, Passkey
from identity.sessions import services as sessions
from identity.sessions.models import Session
from identity.users.identifiers import Kind
from identity.users.models import User
from interaction.experience import services as experiences
from interaction.journeys.second_factor import reauthentication
from interaction.social.models import SocialIdentity
from tests.support import account, codes, factors, social
from tests.support.cast import PASSWORD, Browser, query_of
from tests.support.factors import App
from tests.support.forms import forms
from tests.support.in_process import InProcessWorld
from tests.support.mailboxes import Mailboxes
from tests.support.openid import OpenIDProvider

THEIRS: Final = "a th1ef's own password"
CONFIRM: Final = "/api/my-account/confirm"
FACTORS: Final = "/api/my-account/mfa-verifications"
SETTINGS: Final = "/api/my-account/mfa-settings"
CODES: Final = {Kind.EMAIL: "EmailVerificationCode", Kind.PHONE: "PhoneVerificationCode"}
TWO: Final = "urn:service:acr:2fa"
READS: Final = {"mailbox": {Kind.EMAIL}, "phone": {Kind.PHONE}, "provider": {Kind.EMAIL}}
KINDS: Final = st.sampled_from([Kind.EMAIL, Kind.PHONE])
SOME: Final = st.integers(0, 3)


class Here(NamedTuple):
    """A tenant with second factors and a provider of sign-ins, and what was sent."""

    world: InProcessWorld
    provider: OpenIDProvider
    mail: Mailboxes


def has_app(machine: "OneChannel") -> bool:
    return machine.app is not None


class OneChannel(RuleBasedStateMachine):
    """The user has an email, a phone and an account elsewhere, and later an authenticator."""

    def __init__(self, here: Here) -> None:
        super().__init__()
        self.world, self.provider, self.mail = here
        self.client = self.world.application()

    @initialize(
        holds=st.sampled_from(sorted(READS)),
        has_password=st.booleans(),
        is_linked=st.booleans(),
        trusts_provider=st.booleans(),
        resets_freely=st.booleans(),
    )
    def begin(
        self,
        holds: str = "mailbox",
        has_password: bool = True,
        is_linked: bool = True,
        trusts_provider: bool = False,
        resets_freely: bool = False,
    ) -> None:
        self.holds, self.resets_freely = holds, resets_freely
        self.has_password, self.knows_password = has_password, False
        self.app: App | None = None
        self.left_open: tuple[UUID, str] | None = None
        self.browsers: list[Browser] = []
        with self.world.active():
            mfa = {"social": "skip" if trusts_provider else "ask"}
            experiences.change(
                {"mfa": mfa, "forgot_password_requires_factor": not resets_freely}, is_proven=True
            )
        self.addresses = {Kind.EMAIL: codes.new_email(), Kind.PHONE: codes.new_phone()}
        self.subject = secrets.token_hex(8)
        self.user = self.world.user(
            email=self.addresses[Kind.EMAIL],
            email_verified=True,
            phone=self.addresses[Kind.PHONE],
            phone_verified=True,
        )
        if is_linked:
            self.come_from_provider(self.world.browser())
        if not has_password:
            account.change(self.world, self.user, password="")
        self.end_sessions()

    # ── Sign-ins with the channel ─────────────────────────────────────────────────────

    @rule(which=SOME, kind=KINDS)
    def sign_in_by_code(self, which: int, kind: Kind) -> None:
        self.enter(self.browser(which), kind, "sign_in")

    @precondition(lambda self: self.holds != "phone")
    @rule(which=SOME, names_email=st.booleans())
    def sign_in_at_the_provider(self, which: int, names_email: bool) -> None:
        self.come_from_provider(self.browser(which), names_email=names_email)

    @rule(which=SOME, kind=KINDS)
    def reset_the_password(self, which: int, kind: Kind) -> None:
        browser = self.browser(which)
        if self.enter(browser, kind, "forgot_password"):
            sent = {"identifier": self.addresses[kind], "new_password": THEIRS}
            self.knows_password |= browser.post(codes.RESET, json=sent).status_code == 200

    @precondition(lambda self: self.knows_password)
    @rule(which=SOME)
    def sign_in_with_the_new_password(self, which: int) -> None:
        self.forget_limits()
        self.browser(which).sign_in(self.user, password=THEIRS)

    @precondition(lambda self: has_app(self) or not self.has_password)
    @rule(which=SOME)
    def set_a_password(self, which: int) -> None:
        browser = self.browser(which)
        answer = self.post_page(browser, "/account/password", password=THEIRS, new_password=THEIRS)
        if answer is not None and answer.status_code == 303 and not has_app(self):
            self.knows_password |= bool(account.stored(self.world, self.user).password)

    # ── What confirms ─────────────────────────────────────────────────────────────────

    @rule(which=SOME, kind=KINDS)
    def finish_with_a_code(self, which: int, kind: Kind) -> None:
        """Prove the second factor of a sign-in that waits."""
        self.prove(self.browser(which), kind, factors.VERIFY)

    @rule(which=SOME, kind=KINDS)
    def confirm_with_a_code(self, which: int, kind: Kind) -> None:
        """Prove the second factor again in a session."""
        self.prove(self.browser(which), kind, CONFIRM)

    @rule(which=SOME, kind=KINDS)
    def reach_two_factors_for_an_application(self, which: int, kind: Kind) -> None:
        browser = self.browser(which)
        place = browser.authorize(self.client, acr_values=TWO).headers["Location"]
        if interaction := query_of(place).get("interaction"):
            self.prove(browser, kind, factors.VERIFY, interaction=interaction)

    @precondition(has_app)
    @rule(which=SOME, is_early=st.booleans())
    def finish_by_setting_up_an_authenticator(self, which: int, is_early: bool) -> None:
        browser = self.browser(which)
        offered = browser.post(factors.SET_UP, json={})
        if offered.status_code == 200:
            offer = offered.json()["result"]
            sent = {"enrolment": offer["enrolment"], "code": App(offer["secret"]).code()}
            if is_early:
                browser.post(factors.SET_UP_VERIFY, json=sent)
            browser.post(FACTORS, json=sent | {"type": "Totp", "name": "theirs"})

    # ── Changes ───────────────────────────────────────────────────────────────────────

    @precondition(has_app)
    @rule(which=SOME)
    def make_backup_codes(self, which: int) -> None:
        browser = self.browser(which)
        browser.post(factors.SET_UP_CODES, json={})
        browser.post(FACTORS, json={"type": "BackupCode"})

    @precondition(has_app)
    @rule(which=SOME, kind=KINDS)
    def change_an_address(self, which: int, kind: Kind) -> None:
        browser = self.browser(which)
        own = codes.new_email() if kind is Kind.EMAIL else codes.new_phone()
        self.forget_limits()
        self.post_page(browser, f"/account/{kind}", identifier=own, password=THEIRS)
        if code := self.mail.newest(own):
            self.post_page(browser, f"/account/{kind}/code", code=code)

    @precondition(has_app)
    @rule(which=SOME)
    def change_the_username(self, which: int) -> None:
        name = f"thief-{secrets.token_hex(4)}"
        self.post_page(self.browser(which), "/account/username", username=name, password=THEIRS)

    @precondition(has_app)
    @rule(which=SOME)
    def switch_two_step_sign_in_off(self, which: int) -> None:
        browser = self.browser(which)
        browser.http.request("PATCH", f"{self.world.address}{SETTINGS}", json={"two_step": False})

    @precondition(has_app)
    @rule(which=SOME)
    def delete_the_account(self, which: int) -> None:
        typed = {"typed": self.user.username, "password": THEIRS}
        self.post_page(self.browser(which), "/account/delete", **typed)

    @precondition(has_app)
    @rule(which=SOME)
    def link_an_account(self, which: int) -> None:
        browser = self.browser(which)
        answer = self.post_page(browser, "/account/linked", link="oidc")
        if answer is not None and answer.headers.get("Location", "").startswith(self.provider.issuer):
            address = social.note_redirect_uri(answer.headers["Location"])
            social.back(browser, self.provider.approve(address, sub=secrets.token_hex(8)))

    @precondition(has_app)
    @rule(which=SOME)
    def unlink_the_account(self, which: int) -> None:
        with self.world.active():
            linked = SocialIdentity.objects.filter(user=self.user).first()
        if linked is not None:
            self.post_page(self.browser(which), "/account/linked", unlink=str(linked.pk))

    # ── The user ──────────────────────────────────────────────────────────────────────

    @precondition(lambda self: self.app is None)
    @rule(two_step=st.booleans())
    def the_user_sets_up_an_authenticator(self, two_step: bool) -> None:
        """The first factor signs out other browsers (M44). Sign-ins that wait stay."""
        self.app = factors.enrol(self.world, self.user, two_step=two_step)
        self.end_sessions()
        self.note_state()

    @precondition(lambda self: has_app(self) and self.left_open is None)
    @rule(with_password=st.booleans())
    def the_user_leaves_a_session_open(self, with_password: bool) -> None:
        """A session of two factors, of which the first was the password, or the channel that is held."""
        browser = self.world.browser()
        if with_password and self.has_password and not self.knows_password:
            first = "password"
            browser.sign_in(self.user, password=PASSWORD)
        elif self.holds == "provider":
            first = "provider"
            self.come_from_provider(browser)
        else:
            first = "code"
            self.enter(browser, next(iter(READS[self.holds])), "sign_in")
        assert self.app is not None
        proof = {"code": self.app.code()}
        if self.session(browser) is None:
            browser.post(factors.TOTP, json=proof)
        else:
            browser.post(CONFIRM, json=proof | {"type": "Totp"})
        session = self.session(browser)
        if session is None:
            return  # an account elsewhere that was not linked before the authenticator
        if first == "provider":
            self.note_state()  # the user has linked it with both factors
        earlier = timezone.now() - timedelta(hours=1)
        with self.world.active():
            times = dict.fromkeys(("auth_time", "created_at", "updated_at", "second_factor_at"), earlier)
            Session.objects.filter(pk=session.pk).update(**times, password_confirmed_at=None)
        self.left_open = session.pk, first
        self.browsers.append(browser)

    # ── What must hold ────────────────────────────────────────────────────────────────

    @invariant()
    def nothing_has_changed(self) -> None:
        if has_app(self):
            assert self.state() == self.before
            assert self.linked() <= self.linked_before, "an account is linked"

    @invariant()
    def no_session_has_two_factors(self) -> None:
        if not has_app(self):
            return
        for session in filter(None, map(self.session, self.browsers)):
            pk, first = self.left_open or (None, "")
            if session.pk != pk:
                assert session.level == 1, "the channel counts twice"
            elif first != "password":
                assert not reauthentication.has_recent_factor(session), "the first channel confirms"

    def note_state(self) -> None:
        self.before, self.linked_before = self.state(), self.linked()

    def state(self) -> dict[str, Any]:
        """What a takeover would change."""
        names = ["username", "email", "phone", "factors", "two_step"]
        if not self.resets_freely:
            names.append("password")
        with self.world.active():
            user = User.objects.filter(pk=self.user.pk).first()
            assert user is not None, "the account is gone"
            owned = {
                model.__name__: set(model.objects.filter(user=user).values_list("pk", flat=True))
                for model in (Authenticator, BackupCode, Passkey)
            }
        return {name: getattr(user, name) for name in names} | owned

    def linked(self) -> set[UUID]:
        with self.world.active():
            return set(SocialIdentity.objects.filter(user=self.user).values_list("pk", flat=True))

    # ── How it is done ────────────────────────────────────────────────────────────────

    def browser(self, which: int) -> Browser:
        """One of the browsers, or a new one."""
        if which >= len(self.browsers):
            self.browsers.append(self.world.browser())
        return self.browsers[min(which, len(self.browsers) - 1)]

    def session(self, browser: Browser) -> Session | None:
        """The user's session in a browser; None if it is of an account that the provider began."""
        token = next((one.value for one in browser.http.cookies.jar if "session" in one.name), None)
        with self.world.active():
            found = sessions.find(token) if token else None
        return found if found and found.user_id == self.user.pk else None

    def read(self, kind: Kind) -> str:
        """The code that has just come, if its channel is held."""
        return self.mail.newest(self.addresses[kind]) if kind in READS[self.holds] else ""

    def enter(self, browser: Browser, kind: Kind, purpose: str) -> bool:
        """Ask for a code, and enter it if it can be read."""
        self.forget_limits()
        codes.send(browser, self.addresses[kind], purpose)
        code = self.read(kind)
        return bool(code) and codes.enter(browser, self.addresses[kind], code, purpose).status_code == 200

    def prove(self, browser: Browser, kind: Kind, path: str, **fields: str) -> None:
        self.forget_limits()
        asked = {"type": CODES[kind]} | fields
        sent = browser.post(factors.SEND, json=asked)
        if sent.status_code == 200 and (code := self.read(kind)):
            browser.post(path, json=asked | {"code": code})

    def come_from_provider(self, browser: Browser, *, names_email: bool = True) -> None:
        self.forget_limits()
        mail = self.addresses[Kind.EMAIL] if names_email else codes.new_email()
        person = {"sub": self.subject, "email": mail, "email_verified": True, "auth_time": int(time.time())}
        social.came(browser, self.provider, **person)

    def post_page(self, browser: Browser, path: str, **typed: str) -> httpx.Response | None:
        """Send the form of a page of the account without opening it; None for a browser without a session."""
        page = browser.get("/account")
        if page.status_code != 200:
            return None
        return browser.post(path, data=forms(page)[0].fields | typed)

    def end_sessions(self) -> None:
        with self.world.active():
            Session.objects.filter(user=self.user).delete()

    def forget_limits(self) -> None:
        self.mail.sent.clear()
        codes.let_time_pass(self.world)
