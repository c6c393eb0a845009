"""Memberships of organizations against a model: who is in, who administers, and what a token then says."""

from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from identity.core import assignments
from identity.organizations import services as organizations
from tests.support import codes, management
from tests.support.in_process import InProcessWorld, new_client
from tests.support.management import Caller, result_of
from tests.support.properties import run_machine

PERMISSIONS = ["doc:read", "doc:edit"]
people = st.integers(0, 2)


class InProcessCaller(Caller):
    """A caller of the management API in the test's own process."""

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.token}"}
        with new_client() as client:
            return client.request(method, f"{self.world.address}/api/v1{path}", headers=headers, **options)


@dataclass
class Member:
    is_admin: bool = False
    roles: set[int] = field(default_factory=set)


class Memberships(RuleBasedStateMachine):
    """Two organizations, three people, two roles; an administrator and a third party's application."""

    def __init__(self, world: InProcessWorld) -> None:
        super().__init__()
        self.world = world

    @initialize()
    def begin(self) -> None:
        codes.let_time_pass(self.world)  # joining is limited by the hour
        self.admin = InProcessCaller(self.world, management.superuser(self.world).token)
        self.phones = [codes.new_phone() for _ in range(3)]
        self.users = [self.world.user(phone=phone) for phone in self.phones]
        self.roles = [self.new_role(name) for name in PERMISSIONS]
        self.members: list[dict[int, Member] | None] = [{}, {}]
        self.paths: list[str] = []
        self.machines: list[InProcessCaller] = []
        for name in "AB":
            made = self.admin.created("/organizations", name=name)["id"]
            self.paths.append(f"/organizations/{made}")
            machine = management.member_manager(self.world, made)
            self.machines.append(InProcessCaller(self.world, machine.token))
        self.client = self.world.application()
        self.family = self.client.tokens_for(self.users[0], self.world.browser())["refresh_token"]

    def new_role(self, permission: str) -> str:
        rows = result_of(self.admin.get("/organization-permissions", page_size=100))["data"]
        found = [row["id"] for row in rows if row["name"] == permission]
        held = found[0] if found else self.admin.created("/organization-permissions", name=permission)["id"]
        role = str(self.admin.created("/organization-roles", name=f"{permission} {codes.new_email()}")["id"])
        result_of(self.admin.put(f"/organization-roles/{role}/scopes", scope_ids=[held]))
        return role

    @rule(where=st.integers(0, 1), who=st.sets(people, min_size=1))
    def add(self, where: int, who: set[int]) -> None:
        ids = [str(self.users[one].pk) for one in sorted(who)]
        answer = self.admin.post(f"{self.paths[where]}/users", user_ids=ids)
        members = self.members[where]
        if members is None:
            assert answer.status_code == 404
        elif who & members.keys():
            assert answer.status_code == 400, "all or nobody"
        else:
            assert answer.status_code == 200
            members.update({one: Member() for one in who})

    @rule(where=st.integers(0, 1), who=people)
    def join_by_phone(self, where: int, who: int) -> None:
        answer = self.machine(where, "POST", "", json={"phone": self.phones[who], "name": "Changed"})
        members = self.members[where]
        if members is None:
            assert answer.status_code in {401, 403, 404}
            return
        assert answer.status_code == 200, answer.text
        assert answer.json()["result"]["id"] == str(self.users[who].pk)
        members.setdefault(who, Member())

    @rule(where=st.integers(0, 1), who=people, by_machine=st.booleans())
    def remove(self, where: int, who: int, by_machine: bool) -> None:
        members = self.members[where]
        member = members.get(who) if members is not None else None
        if by_machine:
            answer = self.machine(where, "DELETE", f"/{self.users[who].pk}")
        else:
            answer = self.admin.delete(f"{self.paths[where]}/users/{self.users[who].pk}")
        if members is None or member is None:
            assert answer.status_code in {401, 403, 404}
        elif by_machine and member.is_admin:
            assert (answer.status_code, answer.json()["code"]) == (403, 41305)
        else:
            assert answer.status_code == 200, answer.text
            del members[who]

    @rule(where=st.integers(0, 1), who=people, is_admin=st.booleans())
    def appoint(self, where: int, who: int, is_admin: bool) -> None:
        path = f"{self.paths[where]}/users/{self.users[who].pk}"
        answer = self.admin.patch(path, is_admin=is_admin)
        if member := self.member(where, who):
            assert answer.json()["result"]["is_admin"] is is_admin
            member.is_admin = is_admin
        else:
            assert answer.status_code == 404

    @rule(where=st.integers(0, 1))
    def try_to_remove_every_administrator(self, where: int) -> None:
        members = self.members[where] or {}
        for who in [who for who, member in members.items() if member.is_admin]:
            answer = self.machine(where, "DELETE", f"/{self.users[who].pk}")
            assert (answer.status_code, answer.json()["code"]) == (403, 41305)

    @rule(where=st.integers(0, 1), who=people, roles=st.sets(st.integers(0, 1)), by_machine=st.booleans())
    def assign(self, where: int, who: int, roles: set[int], by_machine: bool) -> None:
        ids = [self.roles[role] for role in sorted(roles)]
        user = self.users[who].pk
        if by_machine:
            answer = self.machine(where, "PUT", f"/{user}/roles", json={"role_ids": ids})
        else:
            answer = self.admin.put(f"{self.paths[where]}/users/{user}/roles", organization_role_ids=ids)
        if member := self.member(where, who):
            assert answer.status_code == 200, answer.text
            member.roles = set(roles)
        else:
            assert answer.status_code in {401, 403, 404}

    @precondition(lambda self: self.members[1] is not None and len(self.members[1]) > 1)
    @rule()
    def delete_the_second_organization(self) -> None:
        result_of(self.admin.delete(self.paths[1]))
        self.members[1] = None

    @rule(where=st.integers(0, 1))
    def take_a_token(self, where: int) -> None:
        organization = self.paths[where].rpartition("/")[2]
        answer = self.client.refresh(self.family, organization_id=organization)
        member = self.member(where, 0)
        if member is None:
            assert answer.status_code == 400, "an organization that one is not in is as good as none"
            return
        self.family = answer.json()["refresh_token"]
        held = set(answer.json()["scope"].split()) & set(PERMISSIONS)
        assert held == {PERMISSIONS[role] for role in member.roles}

    @invariant()
    def lists_and_totals_agree(self) -> None:
        for path, members in zip(self.paths, self.members, strict=True):
            answer = self.admin.get(f"{path}/users", page_size=100)
            if members is None:
                assert answer.status_code == 404
                continue
            page = result_of(answer)
            shown = {row["id"]: row["is_admin"] for row in page["data"]}
            assert shown == {str(self.users[who].pk): member.is_admin for who, member in members.items()}
            assert page["total"] == len(members)
            assert result_of(self.admin.get(path))["member_count"] == len(members)

    def member(self, where: int, who: int) -> Member | None:
        members = self.members[where]
        return None if members is None else members.get(who)

    def machine(self, where: int, method: str, below: str, **options: Any) -> httpx.Response:
        return self.machines[where].request(method, f"/m2m{self.paths[where]}/members{below}", **options)


def test_property_memberships_behave_as_their_model(here):
    run_machine(lambda: Memberships(here), examples=4, steps=20)


class TestTheMachine:
    """It notices what is broken on purpose: the shortest way there, step by step."""

    def test_notices_that_a_third_party_removes_an_administrator(self, here, monkeypatch):
        real = organizations.remove_member
        monkeypatch.setattr(
            organizations,
            "remove_member",
            lambda member, **how: real(member, **how | {"refuse_admins": False}),
        )
        machine = begun(here)
        machine.add(where=0, who={1})
        machine.appoint(where=0, who=1, is_admin=True)

        with pytest.raises(AssertionError):
            machine.try_to_remove_every_administrator(where=0)

    def test_notices_that_an_empty_set_of_roles_replaces_nothing(self, here, monkeypatch):
        real = assignments.replace

        def add(assignment: Any, owner: Any, given: list[str], **how: Any) -> Any:
            return real(assignment, owner, given, **how) if given else 1

        machine = begun(here)
        machine.add(where=0, who={0})
        machine.assign(where=0, who=0, roles={1}, by_machine=False)
        machine.take_a_token(where=0)
        monkeypatch.setattr(assignments, "replace", add)
        machine.assign(where=0, who=0, roles=set(), by_machine=True)

        with pytest.raises(AssertionError):
            machine.take_a_token(where=0)


def begun(here: InProcessWorld) -> Memberships:
    machine = Memberships(here)
    machine.begin()
    return machine
