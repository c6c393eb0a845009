"""No token of a third-party application carries what its user did not see and accept.

A state machine lets two applications ask for anything, for a user whose roles come and go. Names of scopes
collide on purpose: every API and every organization has a ``read``. What the machine remembers is only what
stood on the pages that the user accepted, so it knows nothing of how consents are kept.
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from identity.organizations.models import (
    MemberRole,
    Membership,
    Organization,
    OrganizationPermission,
    OrganizationRole,
    OrganizationRolePermission,
    OrganizationRoleScope,
)
from identity.resources.models import Resource, Scope
from identity.roles.models import Role, RoleScope, UserRole
from oidc.provider import target
from oidc.provider.errors import InvalidRequest
from oidc.provider.scopes import IDENTITY_SCOPES
from tests.support.cast import RelyingParty, query_of
from tests.support.forms import form
from tests.support.in_process import InProcessWorld
from tests.support.properties import assert_finds_a_bug, run_machine
from tests.support.third_parties import claims_of

NAMES = ["read", "write", "email"]
IDENTITY = ["openid", "openid offline_access", "openid email offline_access"]
APIS = ["https://calendar.example", "https://payroll.example"]
CLUBS = ["Chess Club", "Hospital"]


@dataclass(frozen=True)
class Asked:
    """What an application asks for."""

    identity: str
    names: list[str]
    api: str | None
    club: str | None

    @property
    def scope(self) -> str:
        return " ".join([self.identity, *self.names])


applications = st.integers(0, 1)
apis = st.sampled_from([None, *APIS])
clubs = st.sampled_from([None, *CLUBS])
names = st.lists(st.sampled_from(NAMES), max_size=2, unique=True)
anything = st.builds(Asked, st.sampled_from(IDENTITY), names, apis, clubs)


@dataclass
class Accepted:
    """What stood on the pages that the user accepted for one application, by where it counts."""

    identity: set[str] = field(default_factory=set)
    apis: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    organizations: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    # The scopes of an API in an organization
    pairs: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))


@dataclass
class Held:
    """What one application has in its hands."""

    codes: list[str] = field(default_factory=list)
    refresh_tokens: list[str] = field(default_factory=list)
    access_tokens: list[str] = field(default_factory=list)
    accepted: Accepted = field(default_factory=Accepted)


class Consents(RuleBasedStateMachine):
    """One user, two third-party applications, two APIs and two organizations whose scopes share names."""

    def __init__(self, world: InProcessWorld) -> None:
        super().__init__()
        self.world = world

    @initialize()
    def begin(self) -> None:
        self.user = self.world.user()
        self.browser = self.world.browser()
        assert self.browser.sign_in(self.user).status_code == 200
        self.clients = [self.world.application(is_third_party=True) for _ in range(2)]
        self.held = [Held(), Held()]
        with self.world.active():
            self._build()

    def _build(self) -> None:
        self.roles: dict[tuple[str, str], Role] = {}
        self.club_roles: dict[tuple[str | None, str], OrganizationRole] = {}
        self.clubs: dict[str, Organization] = {}
        permissions = {name: OrganizationPermission.objects.get_or_create(name=name)[0] for name in NAMES}
        for indicator in APIS:
            api, _ = Resource.objects.get_or_create(indicator=indicator, defaults={"name": indicator})
            for name in NAMES:
                scope, _ = Scope.objects.get_or_create(resource=api, name=name)
                role, _ = Role.objects.get_or_create(name=f"{indicator} {name}", type=Role.Type.USER)
                RoleScope.objects.get_or_create(role=role, scope=scope)
                self.roles[indicator, name] = role
                held, _ = OrganizationRole.objects.get_or_create(name=f"{indicator} {name}")
                OrganizationRoleScope.objects.get_or_create(role=held, scope=scope)
                self.club_roles[indicator, name] = held
        for name in NAMES:
            held, _ = OrganizationRole.objects.get_or_create(name=name)
            OrganizationRolePermission.objects.get_or_create(role=held, permission=permissions[name])
            self.club_roles[None, name] = held
        for club in CLUBS:
            organization = Organization.objects.create(name=club)
            Membership.objects.create(organization=organization, user=self.user, is_admin=club == "Hospital")
            self.clubs[club] = organization

    # What an administrator does

    @rule(api=st.sampled_from(APIS), name=st.sampled_from(NAMES))
    def give_or_take_a_role(self, api: str, name: str) -> None:
        with self.world.active():
            link, is_new = UserRole.objects.get_or_create(user=self.user, role=self.roles[api, name])
            if not is_new:
                link.delete()

    @rule(club=st.sampled_from(CLUBS), api=apis, name=st.sampled_from(NAMES))
    def give_or_take_a_role_in_an_organization(self, club: str, api: str | None, name: str) -> None:
        with self.world.active():
            membership = Membership.objects.get(organization=self.clubs[club], user=self.user)
            role = self.club_roles[api, name]
            link, is_new = MemberRole.objects.get_or_create(membership=membership, role=role)
            if not is_new:
                link.delete()

    # What an application does

    @rule(which=applications, asked=anything, gets_roles=st.booleans())
    def ask_and_accept(self, which: int, asked: Asked, *, gets_roles: bool) -> None:
        """The user accepts what the page shows, while an administrator may give more roles."""
        client, held = self.clients[which], self.held[which]
        answer = self.browser.authorize(client, **self._sent(asked))
        if "/consent?" in answer.headers["Location"]:
            page = self.browser.get(answer.headers["Location"])
            self._note(held.accepted, page.text, asked)
            if gets_roles:
                self._give_all_roles(asked)
            pressed = form(page).submit(self.browser, choice="allow")
            answer = self.browser.get(pressed.headers["Location"])
        held.codes.append(query_of(answer.headers["Location"])["code"])

    @rule(which=applications, asked=anything)
    def ask_silently(self, which: int, asked: Asked) -> None:
        answer = self.browser.authorize(self.clients[which], prompt="none", **self._sent(asked))
        said = query_of(answer.headers["Location"])
        if "code" in said:
            self.held[which].codes.append(said["code"])

    @rule(which=applications, asked=anything)
    def redeem(self, which: int, asked: Asked) -> None:
        held = self.held[which]
        if held.codes:
            code = held.codes.pop()
            self._receive(which, self.clients[which].redeem(code, **self._target(asked)))

    @rule(which=applications, back=st.integers(0, 2), asked=anything)
    def refresh(self, which: int, back: int, asked: Asked) -> None:
        tokens = self.held[which].refresh_tokens
        if tokens:
            token = tokens[-1 - back % len(tokens)]
            self._receive(which, self.clients[which].refresh(token, **self._sent(asked)))

    @rule(which=applications, api=st.sampled_from(APIS), seen_with=clubs, club=st.sampled_from(CLUBS))
    def accept_apart_and_use_together(self, which: int, api: str, seen_with: str | None, club: str) -> None:
        """One page shows the API, alone or in an organization, and another one shows an organization."""
        identity = "openid offline_access"
        self.ask_and_accept(which, Asked(identity, [], api, seen_with), gets_roles=True)
        self.ask_and_accept(which, Asked(identity, [], None, club), gets_roles=False)
        self.redeem(which, Asked(identity, [], None, None))
        self.refresh(which, 0, Asked(identity, [], api, club))

    # What the user revokes

    @rule(which=applications)
    def disconnect(self, which: int) -> None:
        self._send(revoke=str(self.clients[which].application.pk))
        self.held[which].accepted = Accepted()

    @rule(which=applications, place=st.integers(0, 3))
    def take_back_one_target(self, which: int, place: int) -> None:
        client, accepted = self.clients[which], self.held[which].accepted
        page = self.browser.get("/account/applications").text
        targets = re.findall(rf'name="target" value="({client.application.pk} [^"]+)"', page)
        if not targets:
            return
        before = self._listed(client)
        self._send(target=targets[place % len(targets)])
        [gone] = before - self._listed(client)
        accepted.apis.pop(gone, None)
        accepted.organizations.pop(gone, None)
        for pair in [pair for pair in accepted.pairs if gone in pair]:
            del accepted.pairs[pair]

    # What must be true

    @invariant()
    def what_was_taken_back_is_gone(self) -> None:
        for client, held in zip(getattr(self, "clients", []), getattr(self, "held", []), strict=True):
            if held.access_tokens and not held.accepted.identity:
                assert client.userinfo(held.access_tokens[-1]).status_code == 401

    def _receive(self, which: int, answer: Any) -> None:
        held = self.held[which]
        if answer.status_code != 200:
            assert answer.status_code == 400
            assert answer.json()["error"] in {"invalid_grant", "invalid_request"}
            return
        tokens = answer.json()
        held.access_tokens.append(tokens["access_token"])
        if "refresh_token" in tokens:
            held.refresh_tokens.append(tokens["refresh_token"])
        self._check(held.accepted, claims_of(tokens["access_token"]))

    def _check(self, accepted: Accepted, claims: dict[str, Any]) -> None:
        words = set(claims["scope"].split())
        extra = words.difference(IDENTITY_SCOPES)
        assert words.intersection(IDENTITY_SCOPES) <= accepted.identity, "an identity scope nobody accepted"
        names = {str(row.pk): name for name, row in self.clubs.items()}
        club = names.get(str(claims.get("organization_id")))
        audiences = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
        api = next((one for one in audiences if one in APIS), None)
        assert ("organization_id" in claims) is (club is not None)
        assert club is None or club in accepted.organizations, "an organization nobody accepted"
        if api is not None and club is not None:
            assert (api, club) in accepted.pairs, "an API in an organization that nobody accepted there"
            assert extra <= accepted.pairs[api, club], "a scope of an API nobody accepted there"
        if api is not None:
            assert api in accepted.apis, "an audience nobody accepted"
            assert extra <= accepted.apis[api], "a scope of an API nobody accepted"
        elif club is not None:
            assert extra <= accepted.organizations[club], "a permission nobody accepted"
        else:
            assert not extra

    def _note(self, accepted: Accepted, page: str, asked: Asked) -> None:
        """Remember what stands on a page; each API and organization has a part of its own there."""
        identity = set(asked.scope.split()).intersection(IDENTITY_SCOPES)
        if "email" in identity:
            first = page.split('<section class="scopes"')[1]
            assert "email address" in first.lower(), "the page does not show the email"
        accepted.identity |= identity
        for name in filter(None, (asked.api, asked.club)):
            part = self._find_part(page, name)
            shown = {word for word in NAMES if f"<span>{word}</span>" in part}
            (accepted.apis if name == asked.api else accepted.organizations)[name] |= shown
        if asked.api and asked.club:
            _, _, after = self._find_part(page, asked.club).partition(f">{asked.api}<")
            if after:
                listed = after.partition("</ul>")[0]
                words = {word for word in NAMES if f"<bdi>{word}</bdi>" in listed}
                accepted.pairs[asked.api, asked.club] |= words

    def _find_part(self, page: str, name: str) -> str:
        """The part of a page that is about an API or an organization."""
        parts = page.split('<section class="scopes"')[2:]
        [part] = [part for part in parts if f">{name}<" in part.split("</h2>")[0]]
        return part

    def _listed(self, client: RelyingParty) -> set[str]:
        """The APIs and organizations that the account page lists for an application."""
        page = self.browser.get("/account/applications").text
        parts = [part for part in page.split('class="connection"') if str(client.application.pk) in part]
        return {name for name in [*APIS, *CLUBS] for part in parts if f">{name}<" in part}

    def _send(self, **typed: str) -> None:
        """Press a button of the account page, if it is there."""
        page = self.browser.get("/account/applications")
        if all(f'value="{value}"' in page.text for value in typed.values()):
            found = form(page)
            found.action = "/account/applications"
            assert found.submit(self.browser, **typed).status_code == 303

    def _give_all_roles(self, asked: Asked) -> None:
        with self.world.active():
            for name in NAMES:
                if asked.api is not None:
                    UserRole.objects.get_or_create(user=self.user, role=self.roles[asked.api, name])
                if asked.club is not None:
                    club = self.clubs[asked.club]
                    membership = Membership.objects.get(organization=club, user=self.user)
                    role = self.club_roles[asked.api, name]
                    MemberRole.objects.get_or_create(membership=membership, role=role)

    def _target(self, asked: Asked) -> dict[str, str]:
        found = {
            "resource": asked.api,
            "organization_id": asked.club and str(self.clubs[asked.club].pk),
        }
        return {name: value for name, value in found.items() if value}

    def _sent(self, asked: Asked) -> dict[str, str]:
        return {"scope": asked.scope} | self._target(asked)


def test_decision_N2_no_token_carries_what_its_user_did_not_see_and_accept(here):
    run_machine(lambda: Consents(here), examples=3, steps=20)


def test_the_machine_finds_AV03_when_consents_have_no_target(here, monkeypatch):
    def any_target(consented: Any, api: Any, membership: Any) -> frozenset[str]:
        targets = [*consented.resources.values(), *consented.organizations.values()]
        return frozenset(name for target in targets for name in target.scopes)

    monkeypatch.setattr(target, "_get_consented_scopes", any_target)
    monkeypatch.setattr(target, "_get_consent_id", lambda consented, _: consented and consented.id)

    assert_finds_a_bug(lambda: Consents(here), examples=20, steps=30)


def test_the_machine_finds_AV31_when_an_api_counts_in_every_organization(here, monkeypatch):
    def at_the_api(consented: Any, api: Any, membership: Any) -> frozenset[str]:
        at_api = consented.resources.get(api.pk) if api else None
        in_organization = consented.organizations.get(membership.organization_id) if membership else None
        if (api and at_api is None) or (membership and in_organization is None):
            raise InvalidRequest("not agreed")
        granted = at_api or in_organization
        return granted.scopes if granted else frozenset()

    monkeypatch.setattr(target, "_get_consented_scopes", at_the_api)

    assert_finds_a_bug(lambda: Consents(here), examples=20, steps=30)
