"""Who owns an account, tried in any order: an owner, an attacker, an organization and an administrator.

The requests run through the whole stack in this process: thousands of them would take hours over a
network. What needs a provider (a link) and callers who are no browsers (the organization and the
administrator) call the services that their endpoints call. ``GATEHOUSE_PROPERTY_SECONDS=1800`` tries it
for half an hour.
"""

import secrets
from typing import Any, Final
from uuid import UUID

import pytest
from django.db.models import F
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from identity.core.errors import Invalid
from identity.limits.models import Counter
from identity.organizations import enrolment
from identity.organizations.models import Organization
from identity.sessions import services as sessions
from identity.sessions.models import Session
from identity.users import ownership, passwords
from identity.users import services as users
from identity.users.identifiers import Kind
from identity.users.models import User
from interaction.connectors.models import Connector
from interaction.connectors.providers.base import Profile
from interaction.social import services as identities
from interaction.social.models import SocialIdentity
from interaction.verification import outgoing
from oidc.grants.models import AuthorizationCode, Consent, RefreshFamily
from tests.support import codes
from tests.support.cast import Browser, RelyingParty, query_of
from tests.support.forms import form
from tests.support.in_process import InProcessWorld
from tests.support.mailboxes import Mailboxes
from tests.support.properties import run_machine

OWNERS: Final = "Owner5password"
ATTACKERS: Final = "Attack3rpass!"
MINE: Final = st.sampled_from([Kind.EMAIL, Kind.PHONE])
SOME: Final = st.integers(0, 3)


class Ownership(RuleBasedStateMachine):
    """The owner has an email and a phone, the attacker a phone. Each can prove their own."""

    def __init__(self, world: InProcessWorld, mail: Mailboxes) -> None:
        super().__init__()
        self.world = world
        self.mail = mail

    @initialize()
    def begin(self) -> None:
        self.mail.sent.clear()
        self.mine = {Kind.EMAIL: codes.new_email(), Kind.PHONE: codes.new_phone()}
        self.theirs = codes.new_phone()
        self.elsewhere = Profile(provider="https://elsewhere.example", subject=secrets.token_hex(8))
        self.evil: RelyingParty = self.world.application(is_third_party=True)
        with self.world.active():
            self.organization = Organization.objects.create(name="HR")
        # What the attacker has, and what the owner has since the owner's proof.
        self.attackers: list[Browser] = []
        self.names: list[str] = []
        self.owned: dict[Kind, UUID] = {}
        self.has_password: set[UUID] = set()
        self.owners: dict[UUID, Browser] = {}
        self.checked: set[str] = set()
        self.unproven: Browser | None = None

    # ── The attacker ──────────────────────────────────────────────────────────────────

    @rule(with_email=st.booleans(), phone=st.sampled_from(["", "mine", "theirs"]))
    def attacker_registers(self, with_email: bool, phone: str) -> None:
        fields = {"phone": {"": "", "mine": self.mine[Kind.PHONE], "theirs": self.theirs}[phone]}
        if with_email:
            fields["email"] = self.mine[Kind.EMAIL]
        self.register(self.attacker(), ATTACKERS, **fields)

    @rule()
    def attacker_registers_the_owner_s_email_with_a_phone_of_their_own(self) -> None:
        # AV01 begins like this. Among all registrations it would be drawn too rarely.
        self.register(self.attacker(), ATTACKERS, email=self.mine[Kind.EMAIL], phone=self.theirs)

    @rule()
    def attacker_signs_in_by_code(self) -> None:
        self.enter(self.attacker(), self.theirs, "sign_in")

    @rule()
    def attacker_recovers(self) -> None:
        browser = self.attacker()
        if self.enter(browser, self.theirs, "forgot_password"):
            browser.post(codes.RESET, json={"identifier": self.theirs, "new_password": ATTACKERS})

    @rule()
    def attacker_registers_with_a_proof(self) -> None:
        browser = self.attacker()
        if self.enter(browser, self.theirs, "register"):
            self.register(browser, ATTACKERS, phone=self.theirs)

    @rule(which=SOME)
    def attacker_uses_a_password(self, which: int) -> None:
        known = [*self.names, *self.mine.values(), self.theirs]
        asked = {"identifier": known[-1 - which % len(known)], "password": ATTACKERS}
        self.attacker().post("/api/interaction/sign-in", json=asked)

    @rule(which=SOME)
    def attacker_links_an_account(self, which: int) -> None:
        session = self.session(self.some_attacker(which))
        if session is not None:
            with self.world.active():
                try:
                    connector = Connector(connector_id="oidc")
                    identities.link_from(session, self.elsewhere, connector, "Elsewhere")
                except identities.LinkedElsewhere:
                    pass

    @rule(which=SOME)
    def attacker_agrees_to_an_application(self, which: int) -> None:
        browser = self.some_attacker(which)
        if browser is None or self.session(browser) is None:
            return
        answer = browser.authorize(self.evil)
        if "/consent" in answer.headers["Location"]:
            agreed = form(browser.get(answer.headers["Location"])).submit(browser, choice="allow")
            answer = browser.get(agreed.headers["Location"])
        code = query_of(answer.headers["Location"]).get("code")
        if code and which % 2:
            self.evil.redeem(code)

    @rule(which=SOME)
    def attacker_confirms_a_phone(self, which: int) -> None:
        browser = self.some_attacker(which)
        if browser is not None and self.session(browser) is not None:
            self.confirm(browser, Kind.PHONE, self.theirs, ATTACKERS)

    # ── The owner ─────────────────────────────────────────────────────────────────────

    @rule(kinds=st.sets(MINE, min_size=1))
    def owner_registers(self, kinds: set[Kind]) -> None:
        browser = self.world.browser()
        if self.register(browser, OWNERS, **{kind.value: self.mine[kind] for kind in kinds}):
            self.unproven = browser

    @rule(kind=MINE)
    def owner_signs_in_by_code(self, kind: Kind) -> None:
        browser = self.world.browser()
        if self.enter(browser, self.mine[kind], "sign_in"):
            self.came(browser, kind)

    @rule(kind=MINE)
    def owner_recovers(self, kind: Kind) -> None:
        browser, address = self.world.browser(), self.mine[kind]
        if not self.enter(browser, address, "forgot_password"):
            return
        answer = browser.post(codes.RESET, json={"identifier": address, "new_password": OWNERS})
        if answer.status_code == 200:
            signed_in = browser.post(
                "/api/interaction/sign-in", json={"identifier": address, "password": OWNERS}
            )
            assert signed_in.status_code == 200, signed_in.text
            self.has_password.add(self.came(browser, kind))

    @rule(kind=MINE)
    def owner_registers_with_a_proof(self, kind: Kind) -> None:
        browser = self.world.browser()
        is_proven = self.enter(browser, self.mine[kind], "register")
        assert is_proven, "a code to register is sent to every address"
        done = self.register(browser, OWNERS, **{kind.value: self.mine[kind]})
        assert done is (kind not in self.owned), "only a proven address refuses the proof"
        if done:
            self.has_password.add(self.came(browser, kind))

    @rule(kind=MINE)
    def owner_confirms_what_was_registered(self, kind: Kind) -> None:
        if self.unproven is None or self.session(self.unproven) is None:
            return
        if self.confirm(self.unproven, kind, self.mine[kind], OWNERS):
            self.has_password.add(self.came(self.unproven, kind))

    @precondition(lambda self: self.owners)
    @rule(kind=MINE)
    def owner_confirms(self, kind: Kind) -> None:
        pk, browser = next(iter(self.owners.items()))
        other = Kind.PHONE if kind is Kind.EMAIL else Kind.EMAIL
        if pk in self.has_password and kind not in self.owned and self.owned.get(other) == pk:
            assert self.confirm(browser, kind, self.mine[kind], OWNERS)
            self.owned[kind] = pk

    # ── Others ────────────────────────────────────────────────────────────────────────

    @rule(is_mine=st.booleans(), with_email=st.booleans())
    def an_organization_enrolls(self, is_mine: bool, with_email: bool) -> None:
        phone = self.mine[Kind.PHONE] if is_mine else self.theirs
        with self.world.active():
            try:
                enrolment.enroll(
                    self.organization, phone=phone, email=self.mine[Kind.EMAIL] if with_email else ""
                )
            except Invalid:
                assert with_email

    @rule(kind=MINE)
    def an_administrator_creates_the_owner_s_account(self, kind: Kind) -> None:
        with self.world.active():
            try:
                given: dict[str, Any] = {kind.value: self.mine[kind]}
                user = users.create(
                    username=f"n-{secrets.token_hex(6)}", password="only the administrator's", **given
                )
            except Invalid:
                assert kind in self.owned
            else:
                assert kind not in self.owned
                self.owned[kind] = user.pk

    @precondition(lambda self: self.names)
    @rule(kind=MINE, which=SOME)
    def an_administrator_gives_an_unowned_account_to_the_owner(self, kind: Kind, which: int) -> None:
        with self.world.active():
            name = self.names[-1 - which % len(self.names)]
            user = User.objects.filter(username=name).first()
            if kind in self.owned or user is None or not ownership.is_unowned(user):
                return
            if getattr(user, kind) == self.mine[kind]:
                return  # what is sent back unchanged proves nothing
            users.change(user, {kind.value: self.mine[kind]}, is_proven=True)
            self.owned[kind] = user.pk

    # ── What must hold ────────────────────────────────────────────────────────────────

    @invariant()
    def nobody_else_gets_in(self) -> None:
        with self.world.active():
            accounts = set(self.owned.values())
            inside = [session.user_id for one in self.attackers if (session := self.session(one))]
            assert accounts.isdisjoint(inside), "the attacker is signed in"
            assert not SocialIdentity.objects.filter(user__in=accounts).exists(), "a linked account is left"
            assert not Consent.objects.filter(user__in=accounts).exists(), "a consent is left"
            assert not RefreshFamily.objects.live().filter(user__in=accounts).exists()
            codes_left = AuthorizationCode.objects.filter(
                user__in=accounts, consumed_at=None, session__epoch=F("user__epoch")
            )
            assert not codes_left.exists(), "a code is left"
            for user in User.objects.filter(pk__in=accounts):
                assert user.phone != self.theirs, "the attacker's phone is left"
                self.refuses(user, ATTACKERS)

    @invariant()
    def the_owner_keeps_what_was_proven(self) -> None:
        with self.world.active():
            for kind, pk in self.owned.items():
                user = User.objects.get(pk=pk)
                assert getattr(user, kind) == self.mine[kind], "the address is gone"
                assert user.has_proven(kind)
            for pk in self.has_password:
                assert passwords.verify(OWNERS, User.objects.get(pk=pk).password)[0], "the password is gone"
            for pk, browser in self.owners.items():
                session = self.session(browser)
                assert session is not None, "the owner is signed out"
                assert session.user_id == pk

    # ── How it is done ────────────────────────────────────────────────────────────────

    def attacker(self) -> Browser:
        self.attackers.append(self.world.browser())
        return self.attackers[-1]

    def some_attacker(self, which: int) -> Browser | None:
        return self.attackers[-1 - which % len(self.attackers)] if self.attackers else None

    def came(self, browser: Browser, kind: Kind) -> UUID:
        """Note in which account the owner is since the proof, and that it is the owner's now."""
        session = self.session(browser)
        assert session is not None
        self.owned[kind] = session.user_id
        self.owners[session.user_id] = browser
        return session.user_id

    def session(self, browser: Browser | None) -> Session | None:
        """Return the session of a browser's cookie, as every request finds it."""
        if browser is None:
            return None
        token = next((one.value for one in browser.http.cookies.jar if "session" in one.name), None)
        with self.world.active():
            return sessions.find(token) if token else None

    def register(self, browser: Browser, password: str, **fields: str) -> bool:
        self.forget_limits()
        name = f"n-{secrets.token_hex(6)}"
        answer = browser.post(codes.REGISTER, json={"username": name, "password": password} | fields)
        assert answer.status_code in {200, 400}, answer.text
        if answer.status_code == 200:
            self.names.append(name)
        return answer.status_code == 200

    def enter(self, browser: Browser, identifier: str, purpose: str) -> bool:
        """Ask for a code and enter what arrives; without any, a guess."""
        self.forget_limits()
        self.mail.sent.clear()
        answer = codes.send(browser, identifier, purpose)
        assert answer.status_code == 200, answer.text
        code = self.mail.newest(identifier)
        entered = codes.enter(browser, identifier, code or "000000", purpose)
        assert entered.status_code == (200 if code else 400), entered.text
        return bool(code)

    def confirm(self, browser: Browser, kind: Kind, address: str, password: str) -> bool:
        """Prove an address on the account page; without a password the fresh sign-in is enough."""
        self.forget_limits()
        self.mail.sent.clear()
        page = form(browser.get(f"/account/{kind}"))
        typed: dict[str, Any] = {"password": password} if "password" in page.fields else {}
        asked = browser.post(f"/account/{kind}", data=page.fields | typed | {"identifier": address})
        code = self.mail.newest(address)
        if asked.status_code != 303 or not code:
            return False
        entry = form(browser.get(f"/account/{kind}/code"))
        done = browser.post(f"/account/{kind}/code", data=entry.fields | {"code": code})
        return done.status_code == 303

    def refuses(self, user: User, password: str) -> None:
        """Check a stored hash once: it takes its time."""
        if user.password and user.password not in self.checked:
            assert not passwords.verify(password, user.password)[0], "the attacker's password is left"
            self.checked.add(user.password)

    def forget_limits(self) -> None:
        with self.world.active():
            Counter.objects.all().delete()


@pytest.fixture
def here(acme: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[InProcessWorld, Mailboxes]:
    mail = Mailboxes()
    monkeypatch.setattr(outgoing, "enqueue", mail.post)
    codes.experience(codes.reachable(acme), sign_up={"identifiers": ["username", "email", "phone"]})
    # Each person of the machine gives what they like.
    monkeypatch.setattr("interaction.journeys.register._check_complete", lambda *_: None)
    return InProcessWorld.of(acme), mail


def test_property_whoever_proves_an_identifier_owns_the_account(here):
    run_machine(lambda: Ownership(*here), examples=5, steps=15)


class TestTheMachine:
    """It notices what is broken on purpose. The steps are scripted: at random it takes longer."""

    def test_notices_AV01_a_first_proof_that_ends_nothing_but_password_and_sessions(self, here, monkeypatch):
        def take_over(user: User, proven: list[Kind], *, stores_proof: bool = False) -> None:
            changed: dict[str, Any] = {f"{kind}_verified": True for kind in proven if stores_proof}
            User.objects.filter(pk=user.pk).update(password="", epoch=F("epoch") + 1, **changed)

        monkeypatch.setattr(ownership, "take_over", take_over)
        machine = begun(here)

        machine.attacker_registers(with_email=True, phone="theirs")
        machine.owner_signs_in_by_code(Kind.EMAIL)

        with pytest.raises(AssertionError, match="the attacker's phone is left"):
            machine.nobody_else_gets_in()

    def test_notices_AV19_an_unproven_address_that_does_not_yield(self, here, monkeypatch):
        monkeypatch.setattr(ownership, "release", lambda *_, **__: None)
        machine = begun(here)

        machine.attacker_registers(with_email=True, phone="theirs")

        with pytest.raises(AssertionError, match="only a proven address refuses the proof"):
            machine.owner_registers_with_a_proof(Kind.EMAIL)


def begun(here: tuple[InProcessWorld, Mailboxes]) -> Ownership:
    machine = Ownership(*here)
    machine.begin()
    return machine
