"""What operators do to accounts, roles and bindings, which the API could do alone before."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from audit.models import Entry
from identity.core import records
from identity.organizations.models import Organization
from identity.roles import users_admin
from identity.roles.models import Role, UserRole
from identity.users.models import User
from interaction.connectors import services as connectors
from interaction.connectors.providers.base import Profile
from interaction.social import services as identities
from oidc.applications.models import OrganizationApplication
from oidc.grants import consents
from oidc.grants.consents import ConsentRequest
from oidc.grants.models import Consent
from tests.support import management, operators
from tests.support.account import entries, is_signed_in
from tests.support.admin_pages import operate
from tests.support.cast import World
from tests.support.management import result_of
from tests.support.operators import administrator, text_of

USERS, ROLES = "users/user", "roles/role"
APPLICATIONS, ORGANIZATIONS = "applications/application", "organizations/organization"
BINDINGS = "applications/organizationapplication"


def is_refused(answer: Any) -> bool:
    return bool(answer.status_code == 400 and answer.json()["error"] == "invalid_grant")


def test_a_message_has_the_name_as_it_was_typed(operator):
    made = operate(operator, ROLES, None, "create", name="admin", type="User")

    assert "<span>admin (User) is created.</span>" in operator.get(made.headers["Location"]).text


class TestAccounts:
    def test_a_username_is_changed_and_the_user_signs_in_with_it(self, acme, operator):
        user = acme.user("old-name", email="ada@acme.example")

        done = operate(operator, USERS, user, "username", username="new-name")
        user.username = "new-name"

        assert done.status_code == 303
        assert acme.browser().sign_in(user).status_code == 200
        assert entries(acme, "User.Update")[-1].payload["fields"] == ["username"]
        found = operator.get("/admin/users/user/", params={"q": "new-name"}).text
        assert "ada@acme.example" in found

    @pytest.mark.parametrize(
        "name", ["taken", "TAKEN", "with space", "an@address", "+4930123456", "x" * 129, ""]
    )
    def test_a_username_that_is_taken_or_no_username_is_refused_at_its_field(self, acme, operator, name):
        acme.user("taken")
        user = acme.user("ada")

        answer = operate(operator, USERS, user, "username", username=name)

        assert answer.status_code == 400
        assert 'class="errorlist"' in answer.text
        with acme.active():
            assert User.objects.get(pk=user.pk).username == "ada"

    def test_the_picture_and_custom_data_are_changed(self, acme, operator, admin):
        user = acme.user()
        data = {"gender": "female", "teams": ["ä", 1]}

        operate(
            operator, USERS, user, "data", avatar="https://cdn.example/a.png", custom_data=json.dumps(data)
        )
        shown = text_of(operator.get(f"/admin/users/user/{user.pk}/do/data/"))
        first = result_of(admin.get(f"/users/{user.pk}"))
        operate(operator, USERS, user, "data", avatar="", custom_data="")
        second = result_of(admin.get(f"/users/{user.pk}"))

        assert (first["avatar"], first["custom_data"]) == ("https://cdn.example/a.png", data)
        assert "https://cdn.example/a.png" in shown
        assert "ä" in shown
        assert (second["avatar"], second["custom_data"]) == (None, {})

    @pytest.mark.parametrize(
        "typed",
        [
            {"custom_data": "[1]"},
            {"custom_data": "{"},
            {"custom_data": '{"a": NaN}'},
            {"custom_data": '{"a": "\\u0000"}'},
            {"avatar": "javascript:alert(1)"},
            {"avatar": "no address"},
        ],
    )
    def test_data_that_the_api_refuses_is_refused(self, acme, operator, typed):
        user = acme.user(custom_data={"kept": True})

        answer = operate(operator, USERS, user, "data", **typed)

        assert answer.status_code == 400
        with acme.active():
            assert User.objects.get(pk=user.pk).custom_data == {"kept": True}

    def test_an_account_at_another_provider_is_unlinked(self, acme, operator):
        user, other = acme.user(email="ada@acme.example"), acme.user()
        mine, theirs = (self.link(acme, owner, subject) for owner, subject in ((user, "s-1"), (other, "s-2")))

        shown = text_of(operator.get(f"/admin/users/user/{user.pk}/change/"))
        refused = [
            operate(operator, USERS, user, "unlink", **typed)
            for typed in ({}, {"identity_id": str(theirs.pk)}, {"identity_id": "x"})
        ]
        done = operate(operator, USERS, user, "unlink", identity_id=str(mine.pk))

        assert "s-1" in shown
        assert "s-2" not in shown
        assert [answer.status_code for answer in refused] == [400] * 3
        assert done.status_code == 303
        with acme.active():
            assert identities.find_by_user(user) == []
            assert len(identities.find_by_user(other)) == 1
        assert entries(acme, "SocialIdentity.Delete")[0].payload["subject"] == "s-1"

    def test_the_last_way_to_sign_in_is_not_unlinked(self, acme, operator):
        user = acme.user()
        identity = self.link(acme, user, "s-1")
        with acme.active():
            User.objects.filter(pk=user.pk).update(password="")

        answer = operate(operator, USERS, user, "unlink", identity_id=str(identity.pk))

        assert answer.status_code == 400
        assert "set a password first" in answer.text

    def link(self, world: World, user: User, subject: str) -> Any:
        profile = Profile(
            provider="https://github.com", subject=subject, email="", email_verified=False, name=""
        )
        with world.active():
            config = {"client_id": "x", "client_secret": "x"}
            connector = connectors.create(
                connector_id="github", type="Social", config=config, enabled=True, is_proven=True
            )
            return identities.link(user, profile, connector, "Example")


class TestTokens:
    def test_a_user_is_signed_out_everywhere(self, acme, operator):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        tokens = client.tokens_for(user, browser)

        operate(operator, USERS, user, "sign-out")

        assert not is_signed_in(browser)
        assert is_refused(client.refresh(tokens["refresh_token"]))
        assert entries(acme, "User.SignOut")[0].payload["administrator_id"] == operator.who.pk

    def test_refresh_tokens_of_one_application_or_of_all_end(self, acme, operator):
        user, browser = acme.user(), acme.browser()
        first, second, third = (acme.application(name=f"Shop {number}") for number in range(3))
        tokens = [client.tokens_for(user, browser)["refresh_token"] for client in (first, second, third)]
        shown = text_of(operator.get(f"/admin/users/user/{user.pk}/do/end-tokens/"))

        operate(operator, USERS, user, "end-tokens", application_id=str(second.application.pk))
        after_one = [first.refresh(tokens[0]), second.refresh(tokens[1])]
        undecided = operate(operator, USERS, user, "end-tokens")
        operate(operator, USERS, user, "end-tokens", application_id="all")

        assert all(f"Shop {number}" in shown for number in range(3))
        assert undecided.status_code == 400
        assert [answer.status_code for answer in after_one] == [200, 400]
        assert is_refused(first.refresh(after_one[0].json()["refresh_token"]))
        assert is_refused(third.refresh(tokens[2]))
        assert is_signed_in(browser)
        one, rest = entries(acme, "Token.Revoke")[-2:]
        assert {one.payload["families"], rest.payload["families"]} == {1, 2}

    def test_an_application_that_the_user_never_used_is_no_choice(self, acme, rival, operator):
        user = acme.user()
        acme.application().tokens_for(user)
        theirs = rival.application().application

        answer = operate(operator, USERS, user, "end-tokens", application_id=str(theirs.pk))

        assert answer.status_code == 400

    def test_an_application_is_disconnected_with_the_consent(self, acme, operator):
        client, user = acme.application(is_third_party=True, name="Partner"), acme.user()
        with acme.active():
            consents.grant(user, client.application, ConsentRequest(identity=("openid", "offline_access")))
        panel = text_of(operator.get(f"/admin/users/user/{user.pk}/change/"))

        nothing = operate(operator, USERS, user, "disconnect")
        done = operate(operator, USERS, user, "disconnect", application_id=str(client.application.pk))

        assert "Applications with access" in panel
        assert "Partner" in panel
        assert (nothing.status_code, done.status_code) == (400, 303)
        with acme.active():
            assert not Consent.objects.filter(user=user).exists()
        [entry] = entries(acme, "Consent.Revoke")
        assert (entry.user_id, entry.application_id) == (str(user.pk), str(client.application.pk))

    def test_all_refresh_tokens_of_an_application_end(self, acme, operator):
        client = acme.application()
        tokens = [client.tokens_for(acme.user())["refresh_token"] for _ in range(2)]

        answer = operate(operator, APPLICATIONS, client.application, "end-tokens")

        assert "Refresh tokens that have ended: 2." in text_of(operator.get(answer.headers["Location"]))
        assert all(is_refused(client.refresh(token)) for token in tokens)

    def test_support_ends_tokens_of_a_user_and_disconnects_nothing(self, acme):
        support = operators.at(acme, administrator(role="support", tenants=[acme.tenant.slug]))
        client, user = acme.application(), acme.user()
        client.tokens_for(user)
        page = text_of(support.get(f"/admin/users/user/{user.pk}/change/"))

        done = [
            operate(support, USERS, user, name, **typed).status_code
            for name, typed in (("end-tokens", {"application_id": "all"}), ("sign-out", {}))
        ]
        barred = [
            support.get(f"/admin/{path}/").status_code
            for path in (
                *(f"{USERS}/{user.pk}/do/{name}" for name in ("disconnect", "unlink", "username", "delete")),
                f"{APPLICATIONS}/{client.application.pk}/do/end-tokens",
            )
        ]

        assert done == [303, 303]
        assert barred == [403] * 5
        assert "do/end-tokens/" in page
        assert "do/disconnect/" not in page


class TestRoles:
    def test_users_are_added_and_removed_by_any_identifier(self, acme, operator):
        ada, bob, eve = (acme.user(name, email=f"{name}@acme.example") for name in ("ada", "bob", "eve"))
        role = self.role(acme)

        typed = f"ada\n\nbob@acme.example\r\n {eve.pk} \nada"
        operate(operator, ROLES, role, "add-users", user_ids=typed)
        given = self.holders(acme, role)
        operate(operator, ROLES, role, "remove-users", user_ids="EVE\nbob")

        assert given == {ada.pk, bob.pk, eve.pk}
        assert self.holders(acme, role) == {ada.pk}
        entry = entries(acme, "Role.Update")[-1]
        assert entry.payload["id"] == str(role.pk)

    @pytest.mark.parametrize("typed", ["", "nobody", "ada\nnobody", "theirs", "\n".join(["ada"] * 201)])
    def test_nobody_gets_it_if_one_line_is_no_user_here(self, acme, rival, operator, typed):
        acme.user("ada")
        rival.user("theirs")
        role = self.role(acme)

        answer = operate(operator, ROLES, role, "add-users", user_ids=typed)

        assert answer.status_code == 400
        assert 'class="errorlist"' in answer.text
        assert self.holders(acme, role) == set()

    def test_what_somebody_changed_meanwhile_is_not_removed(self, acme, operator):
        ada = acme.user("ada")
        role = self.role(acme)
        operate(operator, ROLES, role, "add-users", user_ids="ada")

        answer = operate(operator, ROLES, role, "remove-users", user_ids="ada", version="1")

        assert answer.status_code == 412
        assert self.holders(acme, role) == {ada.pk}

    def test_who_gets_the_role_meanwhile_keeps_it(self, acme, monkeypatch):
        ada, bob = acme.user("ada"), acme.user("bob")
        role, lock = self.role(acme), records.increment_version

        def give(*args: Any, **options: Any) -> bool:
            UserRole.objects.create(role=role, user=bob)
            return lock(*args, **options)

        with acme.active():
            UserRole.objects.create(role=role, user=ada)
            monkeypatch.setattr(records, "increment_version", give)
            submission: Any = SimpleNamespace(row=role, fields={"user_ids": "ada"}, expected=None)
            answer = users_admin._remove(submission)

        assert answer == "Users with the role now: 1."
        assert self.holders(acme, role) == {bob.pk}

    def test_a_role_of_machines_has_no_users(self, acme, operator):
        with acme.active():
            role = Role.objects.create(name="robots", type=Role.Type.MACHINE)

        assert "do/add-users/" not in text_of(operator.get(f"/admin/roles/role/{role.pk}/change/"))
        assert operator.get(f"/admin/roles/role/{role.pk}/do/add-users/").status_code == 302

    def role(self, world: World) -> Role:
        with world.active():
            return Role.objects.create(name="editor", type=Role.Type.USER)

    def holders(self, world: World, role: Role) -> set[Any]:
        with world.active():
            return set(UserRole.objects.filter(role=role).values_list("user_id", flat=True))


class TestApplications:
    def test_grant_types_are_chosen(self, acme, operator):
        client = acme.application()
        tokens = client.tokens_for(acme.user())
        path = f"/admin/{APPLICATIONS}/{client.application.pk}/do/grant-types/"

        refused = operate(
            operator, APPLICATIONS, client.application, "grant-types", grant_types="refresh_token"
        )
        operate(operator, APPLICATIONS, client.application, "grant-types", grant_types="authorization_code")

        assert refused.status_code == 400
        assert "authorization_code included" in refused.text
        assert client.refresh(tokens["refresh_token"]).status_code == 400
        shown = text_of(operator.get(path))
        assert shown.count(" checked") == 1
        assert "client_credentials" not in shown

    def test_are_bound_to_an_organization_with_roles_there_and_removed(self, acme, operator):
        robot, second = (acme.application("MachineToMachine", name=name) for name in ("Robot", "Second"))
        with acme.active():
            organization = Organization.objects.create(name="Chapter")
        admin = management.superuser(acme)
        role = admin.created("/organization-roles", name="robots", type="MachineToMachine")["id"]

        typed = f"{robot.client_id}\n{second.application.pk}"
        operate(operator, ORGANIZATIONS, organization, "bind-applications", application_ids=typed)
        with acme.active():
            binding = OrganizationApplication.objects.get(application=robot.application)
        operate(operator, BINDINGS, binding, "roles", organization_role_ids=role)
        path = f"/organizations/{organization.pk}/applications"
        bound = {row["name"] for row in result_of(admin.get(path))["data"]}
        roles = result_of(admin.get(f"{path}/{robot.application.pk}/roles"))
        shown = text_of(operator.get(f"/admin/organizations/organization/{organization.pk}/change/"))
        removed = operate(operator, BINDINGS, binding, "remove")

        assert bound == {"Robot", "Second"}
        assert [row["id"] for row in roles] == [role]
        assert f"/admin/{BINDINGS}/{binding.pk}/change/" in shown
        assert removed.headers["Location"].endswith(f"/{organization.pk}/change/")
        assert [row["name"] for row in result_of(admin.get(path))["data"]] == ["Second"]
        assert [len(entries(acme, f"OrganizationApplication.{verb}")) for verb in ("Create", "Update")] == [
            1,
            1,
        ]

    @pytest.mark.parametrize("what", ["shop", "theirs", "nothing", ""])
    def test_that_cannot_be_bound_are_refused_by_name(self, acme, rival, operator, what):
        named = {
            "shop": acme.application().client_id,
            "theirs": str(rival.application("MachineToMachine").application.pk),
            "nothing": "no-such-client",
            "": "",
        }[what]
        robot = acme.application("MachineToMachine")
        with acme.active():
            organization = Organization.objects.create(name="Chapter")

        typed = f"{robot.client_id}\n{named}" if what else ""
        answer = operate(operator, ORGANIZATIONS, organization, "bind-applications", application_ids=typed)

        assert answer.status_code == 400
        with acme.active():
            assert not OrganizationApplication.objects.exists()

    def test_a_binding_that_somebody_changed_meanwhile_is_not_removed(self, acme, operator):
        robot = acme.application("MachineToMachine").application
        with acme.active():
            organization = Organization.objects.create(name="Chapter")
            binding = OrganizationApplication.objects.create(organization=organization, application=robot)
        operate(operator, BINDINGS, binding, "roles")

        answer = operate(operator, BINDINGS, binding, "remove", version="1")

        assert answer.status_code == 412
        assert not Entry.objects.filter(key="OrganizationApplication.Delete", tenant_id=acme.tenant.pk)


def test_a_form_of_one_tenant_does_nothing_in_another(acme, rival, operator):
    user = rival.user()
    path = f"/admin/users/user/{user.pk}/do/sign-out/"

    assert operator.get(path).status_code == 404
    assert operator.submit(path, page="/admin/users/user/do/create/").status_code == 404
    assert Entry.objects.filter(key="User.SignOut", tenant_id=rival.tenant.pk).count() == 0
